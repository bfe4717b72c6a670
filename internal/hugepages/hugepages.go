// Package hugepages has the heap of a process lie in huge pages, where the system gives them to those who
// ask: Linux, by /sys/kernel/mm/transparent_hugepage/enabled. What a replay knows of thousands of ranks is
// read in an order that no processor foresees, so that looking up where pages are takes time: in pages of
// 2 MB instead of 4 kB there is less of that.
package hugepages

import "bytes"

// reserve is how much of the heap lies in huge pages, in bytes: what most replays take, and more than the
// small ones. What is not used is no memory of the system's.
const reserve = 256 << 20

// given reports whether a setting of the system gives huge pages to those who ask, and to nobody else.
func given(setting []byte) bool { return bytes.Contains(setting, []byte("[madvise]")) }
