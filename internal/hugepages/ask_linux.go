//go:build (amd64 || arm64) && !race

package hugepages

import (
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Ask has what the process allocates from now on lie in huge pages, as far as it is within the reserve. It
// does nothing where the system does not give any, or not that much memory. To be called when a process begins.
func Ask() {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !given(setting) {
		return
	}
	// Limits of the process and of the system may allow no more memory, and then the runtime would end the process.
	memory, err := unix.Mmap(-1, 0, 2*reserve, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil || unix.Munmap(memory) != nil {
		return
	}
	debug.FreeOSMemory() // or pages that were in use are cleared with all that follow
	askFor(reserve)
	debug.FreeOSMemory() // finds it unused; the same addresses are given to what is allocated next
}

// askFor asks for huge pages for so many bytes of the heap, which are not touched. Not inlined: nothing refers
// to them afterwards.
//
//go:noinline
func askFor(bytes int) {
	_ = unix.Madvise(make([]byte, bytes), unix.MADV_HUGEPAGE) // without them all is the same, but slower
}
