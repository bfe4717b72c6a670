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
	commandtest.Examples(t, func() *cli.App { return newApp(strings.NewReader(""), io.Discard, io.Discard) })
}
