package slurm_test

import (
	"context"
	"errors"
	"testing"

	"reprise/study/slurm"
)

// TestNoSlurm: where Slurm is not installed, the error says so.
func TestNoSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var missing *slurm.NoCommandError
	if _, err := slurm.Submit(context.Background(), array(t, 2, "true")); !errors.As(err, &missing) || missing.Name != "squeue" {
		t.Errorf("without Slurm: %v", err)
	}
}
