//go:build !linux

package measure

import (
	"errors"
	"os/exec"
	"runtime"
)

// allowedCores returns the numbers of all cores.
func allowedCores() ([]int, error) {
	list := make([]int, runtime.NumCPU())
	for i := range list {
		list[i] = i
	}
	return list, nil
}

// startOn refuses: only Linux binds processes to cores.
func startOn(*exec.Cmd, []int) error {
	return errors.New("binding to cores needs Linux: measure without (--no-pin)")
}
