package atomicfile

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"reprise/internal/textutil"
)

// A hidden file or directory stands beside the output that it becomes. It is called
//
//	.OUTPUT.MACHINE-N.part
//
// where N is the first number that is free, and MACHINE six digits of a hash. Its writer holds a lock on it (flock),
// which ends with the process. So the next process that writes the same output on the same machine finds the hidden
// files of dead processes, and removes them. The name has the machine, because locks on a network file system may hold
// on one machine only. Without locks nothing is removed.
type hidden struct {
	name string
	file *os.File // open, and locked
	dir  bool
}

const (
	mostKept = 100 // bytes of the output's name in the hidden one: file systems bound names, some by 143
	mostLeft = 16  // numbers among which leftovers are looked for
)

// unfinished are the hidden files of this process, for Abandon.
var unfinished = struct {
	sync.Mutex
	set map[*hidden]bool
}{set: map[*hidden]bool{}}

// Abandon removes the hidden files of a process that a signal ends. A call that writes one never
// returns after that: the process ends.
func Abandon() {
	unfinished.Lock() // for ever: no hidden file is created or renamed any more
	for h := range unfinished.set {
		if h.dir { // another name, under which nobody creates files any more
			if gone := h.name + "-"; os.Rename(h.name, gone) == nil {
				h.name = gone
			}
		}
		_ = os.RemoveAll(h.name) // nobody is left to read an error
	}
}

// beside creates a hidden file or directory beside path.
func beside(path string, create func(name string) (*os.File, error)) (*hidden, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	dir, base := filepath.Split(path)
	if len(base) > mostKept {
		base = strings.ToValidUTF8(base[:mostKept], "")
	}
	host, _ := os.Hostname() // either of the two is enough to tell this machine from others
	id, _ := os.ReadFile("/etc/machine-id")
	machine := sha256.Sum256(append(id, host...))
	name := func(n int) string { return fmt.Sprintf("%s.%s.%x-%d.part", dir, base, machine[:3], n) }
	// Under the lock, since another goroutine of this process may be about to lock the file that it has just created.
	for n := range mostLeft {
		removeDead(name(n))
	}
	for n := 0; ; n++ {
		f, err := create(name(n))
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, naming(path, name(n), err)
		}
		// Another process may have taken it for one of a dead process before it was locked.
		if !errors.Is(lock(f), syscall.EWOULDBLOCK) && named(f, name(n)) { // with another error there are no locks here
			h := &hidden{name: name(n), file: f}
			unfinished.set[h] = true
			return h, nil
		}
		f.Close()
	}
}

func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// named reports whether a name is that of f.
func named(f *os.File, name string) bool {
	there, err := os.Lstat(name)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, there)
}

// removeDead removes the hidden file of a dead process. Only the holder of the lock removes or
// renames a file, so the name is still that of the file that was locked.
func removeDead(name string) {
	info, err := os.Lstat(name)
	if err != nil {
		return
	}
	flags := syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	switch {
	case info.IsDir():
		flags |= os.O_RDONLY
	case info.Mode().IsRegular():
		flags |= os.O_WRONLY // network file systems want that for a lock
	default:
		return
	}
	f, err := os.OpenFile(name, flags, 0)
	if err != nil {
		return // not ours to remove
	}
	defer f.Close()
	if lock(f) == nil && named(f, name) {
		_ = os.RemoveAll(name) // or the next number is taken
	}
}

// become has a hidden file take the place of old, nil if there is nothing yet, at target, the end of the links at path.
// Its content was written with err: after an error it is removed instead. The content is safe on the disk before the
// name is, so that a crash of the machine leaves the old file or the whole new one.
func (h *hidden) become(path, target string, old fs.FileInfo, err error) error {
	if err == nil && old != nil {
		err = keepOwner(h.file, old)
	}
	switch {
	case err != nil:
	case h.dir:
		err = syncTree(h.file)
	default:
		err = h.file.Sync()
	}
	if err == nil {
		unfinished.Lock()
		if rerr := syscall.Rename(h.name, target); rerr != nil { // os.Rename refuses to replace an empty directory
			err = &os.PathError{Op: "rename", Path: h.name, Err: rerr}
		} else {
			delete(unfinished.set, h)
		}
		unfinished.Unlock()
	}
	if err == nil {
		dir, _ := filepath.Split(target)
		err = syncDir(dir)
	}
	return naming(path, h.name, h.end(err))
}

// end removes the hidden file unless it was renamed, and gives up its lock. It returns err, or its own error.
func (h *hidden) end(err error) error {
	unfinished.Lock()
	if unfinished.set[h] {
		delete(unfinished.set, h)
		err = errors.Join(err, os.RemoveAll(h.name))
	}
	unfinished.Unlock()
	return cmp.Or(err, h.file.Close())
}

// naming replaces the name of a hidden file in an error by that of the output at path.
func naming(path, hidden string, err error) error {
	if of, ok := errors.AsType[*os.PathError](err); ok {
		if rest, ok := strings.CutPrefix(of.Path, hidden); ok {
			of.Path = path + rest
		}
	}
	if err == nil || !strings.Contains(err.Error(), hidden) {
		return err
	}
	return textutil.Reworded(err, strings.ReplaceAll(err.Error(), hidden, path))
}

// keepOwner gives f the permissions of old, which it replaces, and its group and owner where this
// process may set them. Otherwise the group of f gets only the rights that others had.
func keepOwner(f *os.File, old fs.FileInfo) error {
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
			_ = f.Chown(int(was.Uid), -1) // root may
		}
	}
	return f.Chmod(mode)
}

// syncDir waits until the disk knows the names in a directory: otherwise a crash of the machine may undo a rename. File
// systems that cannot do that, and directories that may not be read, are no error.
func syncDir(dir string) error {
	if dir == "" {
		dir = "."
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err = f.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
