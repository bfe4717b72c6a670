package measure

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// allowedCores returns the cores that this process may use.
func allowedCores() ([]int, error) {
	// Affinity is of the calling thread, which has that of the process unless somebody has changed it.
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("cores of this process: %w", err)
	}
	var list []int
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			list = append(list, c)
		}
	}
	return list, nil
}

// startOn starts a command that runs on these cores only, with all its threads: a process
// inherits the cores of the thread that starts it. That thread is used for nothing else, and ends.
func startOn(cmd *exec.Cmd, cores []int) error {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	// The process is started from a thread with the affinity that it shall have.
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			done <- fmt.Errorf("binding to cores %v: %w", cores, err)
			return
		}
		done <- cmd.Start()
	}()
	return <-done
}
