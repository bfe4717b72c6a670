//go:build !linux

package slurm_test

import "syscall"

// elsewhere is of Linux alone.
func elsewhere() *syscall.SysProcAttr { return nil }
