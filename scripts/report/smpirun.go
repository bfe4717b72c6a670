package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// sideBySide returns the part that has scripts/bench compare replay with smpirun
// -replay and the network solver that optim names.
func sideBySide(optim string) func(*runner) (string, error) {
	return func(l *runner) (string, error) {
		if _, err := exec.LookPath("smpirun"); err != nil {
			return "", fmt.Errorf("%w (scripts/install-simgrid.sh)", err)
		}
		args := []string{"run", "./scripts/bench", "-smpirun", "-optim", optim, "-runs", fmt.Sprint(l.runs)}
		command := "go " + strings.Join(args, " ")
		args = append(args, "-replay", filepath.Join(l.bin, "replay"))
		fmt.Fprintln(l.log, "$ go", strings.Join(args, " "))
		out, _, err := measure(exec.Command("go", args...))
		return string(out) + commands(command), err
	}
}
