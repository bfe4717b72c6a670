package slurm_test

import "syscall"

// elsewhere gives a process numbers of processes of its own, as on another host.
func elsewhere() *syscall.SysProcAttr { return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID} }
