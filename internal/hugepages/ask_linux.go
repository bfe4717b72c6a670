//go:build amd64 || arm64

package hugepages

import (
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Ask has what the process allocates from now on lie in huge pages, as far as it is within the reserve. It
// does nothing where the system does not give any. To be called when a process begins.
func Ask() {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !given(setting) {
		return
	}
	percent := debug.SetGCPercent(-1) // or the reserve counts as what is in use
	askFor(reserve)
	runtime.GC() // which finds it unused, and gives the same addresses to what is allocated next
	debug.SetGCPercent(percent)
}

// askFor asks for huge pages for so many bytes of the heap, which are not touched. Not inlined: nothing refers
// to them afterwards.
//
//go:noinline
func askFor(bytes int) {
	_ = unix.Madvise(make([]byte, bytes), unix.MADV_HUGEPAGE) // without them all is the same, but slower
}
