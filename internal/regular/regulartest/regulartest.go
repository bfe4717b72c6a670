// Package regulartest puts things where programs expect regular files, for their tests.
package regulartest

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// Special runs a test with each kind of special file: put puts one at a path, where nothing is, and
// what is how errors call it. A test that takes ten seconds waits for something, and fails.
func Special(t *testing.T, test func(t *testing.T, what string, put func(path string))) {
	// Links to devices and sockets of this process need no privileges.
	kinds := []struct {
		what string
		put  func(path string) error
	}{
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o666) }},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o777) }},
		{"a device", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"a socket", func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}},
	}
	for _, kind := range kinds {
		t.Run(kind.what, func(t *testing.T) {
			late := time.AfterFunc(10*time.Second, func() { panic(t.Name() + " waits") })
			defer late.Stop()
			test(t, kind.what, func(path string) {
				t.Helper()
				if err := kind.put(path); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Sparse makes a file of so many bytes, all of them zero, that takes no room.
func Sparse(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = f.Truncate(size)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
