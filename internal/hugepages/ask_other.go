//go:build !linux || !(amd64 || arm64) || race

package hugepages

// Ask does nothing: there is nobody to ask, or the race detector would mark all that is reserved.
func Ask() {}
