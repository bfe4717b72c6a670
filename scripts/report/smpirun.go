package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// sideBySide has scripts/bench compare replay with smpirun -replay.
func sideBySide(l *lab) (string, error) {
	if _, err := exec.LookPath("smpirun"); err != nil {
		return "", fmt.Errorf("%w (scripts/install-simgrid.sh)", err)
	}
	args := []string{"run", "./scripts/bench", "-smpirun", "-runs", fmt.Sprint(l.runs), "-replay", filepath.Join(l.bin, "replay")}
	fmt.Fprintln(l.log, "$ go", strings.Join(args, " "))
	out, _, err := measure(exec.Command("go", args...))
	return string(out) + commands(fmt.Sprintf("go run ./scripts/bench -smpirun -runs %d", l.runs)), err
}
