//go:build !linux

package studytest_test

import "syscall"

// elsewhere is of Linux alone.
func elsewhere() *syscall.SysProcAttr { return nil }
