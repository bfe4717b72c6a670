package main

import (
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"reprise/internal/command/commandtest"
)

// TestExamples: the help of each command has examples, which the command takes.
func TestExamples(t *testing.T) {
	t.Parallel()
	commandtest.Examples(t, func() *cli.App { return newApp(nil, strings.NewReader(""), io.Discard, io.Discard) })
}
