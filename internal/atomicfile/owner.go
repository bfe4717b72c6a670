package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// dress gives f the permissions of what it replaces, and its group and owner where
// this process may. Where it may not, the group that f has gets no more than others had.
func dress(f *os.File, old fs.FileInfo) error {
	mode := old.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky)
	if !old.IsDir() {
		mode = mode.Perm()
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok1 := old.Sys().(*syscall.Stat_t)
	is, ok2 := info.Sys().(*syscall.Stat_t)
	if ok1 && ok2 {
		if was.Gid != is.Gid && f.Chown(-1, int(was.Gid)) != nil {
			mode = mode&^0o070 | mode&0o007<<3
		}
		if was.Uid != is.Uid {
			_ = f.Chown(int(was.Uid), -1) // the administrator may
		}
	}
	return f.Chmod(mode)
}
