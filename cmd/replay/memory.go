package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// peakRSS returns the largest resident set of this process in bytes, 0 if it is not
// known. Linux states it by process; getrusage, the answer elsewhere, may count the
// one that started this one.
func peakRSS() int64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if peak, ok := highWaterMark(status); ok {
			return peak
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss // bytes there
	}
	return u.Maxrss << 10
}

// highWaterMark finds "VmHWM: N kB" among the lines of a process's status, in bytes.
func highWaterMark(status []byte) (int64, bool) {
	_, rest, found := bytes.Cut(status, []byte("\nVmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte(" kB"))
	kilobytes, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 53)
	return kilobytes << 10, found && err == nil
}
