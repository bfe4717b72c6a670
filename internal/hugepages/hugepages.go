// Package hugepages puts the heap of a process in huge pages ([Ask]), if the system gives them to processes that ask:
// Linux, by /sys/kernel/mm/transparent_hugepage/enabled. A replay reads the data of thousands of ranks in an order that
// no processor foresees, so that looking up the addresses of pages takes time; with pages of 2 MB instead of 4 kB it
// takes less.
package hugepages

import "bytes"

// reserve is how much of the heap lies in huge pages, in bytes: that of 65,536 ranks. A part that is not used takes
// no memory of the system.
const reserve = 1 << 30

// given reports whether a setting of the system gives huge pages to those who ask, and to nobody else.
func given(setting []byte) bool { return bytes.Contains(setting, []byte("[madvise]")) }
