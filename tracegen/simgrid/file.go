package simgrid

import (
	"fmt"
	"syscall"

	"reprise/internal/textutil"
)

// readAt opens a file and reads what is at offset into buf: less than its length only
// at the end of the file. A trace is as many files as ranks, most of them small, so it
// makes no call but those it needs; an os.File takes twice as many, because it tries
// to have files polled. Its errors quote the path, which an index may have made up; a
// pipe in the place of a file is one of them, and not waited for.
func readAt(path string, buf []byte, offset int64) (int, error) {
	fd, err := retry(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return 0, textutil.Brief(fmt.Errorf("open %q: %w", path, err))
	}
	defer syscall.Close(fd)
	total := 0
	for total < len(buf) {
		n, err := retry(func() (int, error) { return syscall.Pread(fd, buf[total:], offset+int64(total)) })
		if err != nil {
			return total, textutil.Brief(fmt.Errorf("read %q: %w", path, err))
		}
		if n == 0 {
			break
		}
		total += n
	}
	return total, nil
}

// retry makes a system call until no signal interrupts it.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR {
			return n, err
		}
	}
}
