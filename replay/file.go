package replay

import (
	"fmt"

	"reprise/internal/bounds"
	"reprise/trace"
	"reprise/trace/warning"
)

// files counts accesses to files and gives them time. No file system is simulated: an access is a
// pause of its rank, by its bytes, and ranks that access a file together do not wait for each other.
type files struct {
	bandwidth float64 // of each rank, byte/s; 0: accesses take no time

	numBytes, freeBytes int64
}

// checkFileBandwidth checks an option, which may be 0.
func checkFileBandwidth(v float64) error {
	if v == 0 {
		return nil
	}
	return bounds.Bandwidth.Check("bandwidth of files", v)
}

// file plays an access of rank r to a file.
func (e *engine) file(r int32, rk *rank, a *trace.Action) error {
	if a.X[0] < 0 || a.X[0] > maxBytes {
		return fmt.Errorf("%d bytes, want a number in [0,%d]", a.X[0], int64(maxBytes))
	}
	e.files.numBytes += a.X[0]
	if e.files.bandwidth == 0 {
		e.files.freeBytes += a.X[0]
		return nil
	}
	rk.clock += e.costs.sleepTime(float64(a.X[0]) / e.files.bandwidth)
	if rk.clock > maxTime {
		return errTooLate
	}
	e.charge(r, TimeSleep)
	return nil
}

// warn warns of accesses that took no time.
func (f *files) warn(list *warning.List) {
	if f.freeBytes > 0 {
		list.Add(warning.New("%s read from files or written to them take no time: --file-bandwidth RATE says how quick a rank's files are", size(f.freeBytes)))
	}
}
