package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
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

// firstCollection is the heap in bytes at which garbage is collected for the first time.
// A replay allocates while it begins, and next to nothing after that, so that most are
// over or at their full size before; the runtime would begin with 4 MB.
const firstCollection = 16 << 20

// collectLate puts the first collection off, unless GOGC says when to collect. Then the
// runtime's own rule holds, by which garbage is at most as much as what is in use.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const usual, smallest = 100, 4 << 20
	debug.SetGCPercent(usual * firstCollection / smallest)
	type garbage struct{ _ *byte }
	runtime.AddCleanup(new(garbage), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
