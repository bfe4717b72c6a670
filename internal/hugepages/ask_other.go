//go:build !linux || !(amd64 || arm64)

package hugepages

// Ask does nothing: there is nobody to ask.
func Ask() {}
