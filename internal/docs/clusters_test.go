package docs

import (
	"strings"
	"testing"

	"reprise/internal/slurmtest"
)

// isSubmit reports that the command submits jobs to a scheduler.
func (c command) isSubmit() bool {
	return strings.HasPrefix(c.text, "study submit ") && !c.isSynopsis()
}

// TestClusters runs the commands of docs/clusters.md where there is a Slurm.
func TestClusters(t *testing.T) {
	slurmtest.Start(t)
	s := newShell(t, build(t))
	for _, c := range commands(readPages(t, "docs/clusters.md")[0]) {
		if c.isSubmit() {
			s.mustRun(t, c.text, 0)
		} else {
			s.check(t, c, c.text)
		}
	}
}
