//go:build amd64 || arm64

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
	if err != nil || !given(setting) || !allowed(2*reserve) {
		return
	}
	debug.FreeOSMemory() // or pages that were in use are cleared with all that follow
	askFor(reserve)
	debug.FreeOSMemory() // finds it unused; the same addresses are given to what is allocated next
}

// allowed reports whether the process may have so many more bytes: limits of it and of the system may say no,
// and then the runtime would end it.
func allowed(bytes int) bool {
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		err = unix.Munmap(memory)
	}
	return err == nil
}

// askFor asks for huge pages for so many bytes of the heap, which are not touched. Not inlined: nothing refers
// to them afterwards.
//
//go:noinline
func askFor(bytes int) {
	_ = unix.Madvise(make([]byte, bytes), unix.MADV_HUGEPAGE) // without them all is the same, but slower
}
