package atomicfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// A hidden file or directory stands beside the output that it becomes. It is called
//
//	.OUTPUT.MACHINE-N.part
//
// N being the first number that is free. Who writes it holds a lock on it (flock), which
// ends with its process, however that ends; so the next one that writes the same output on
// the same machine can tell what a dead process has left, and removes it. MACHINE is
// there because on network file systems locks may hold on one machine only. Where there
// are no locks, nothing is removed.
type hidden struct {
	name string
	file *os.File // open, and locked
	dir  bool
}

const (
	mostKept = 100 // bytes of the output's name in the hidden one: file systems bound names, some by 143
	mostLeft = 16  // numbers among which leftovers are looked for
)

// unfinished are the hidden files of this process, for Abandon, which signals call for: a
// process has one set of them, as it has one set of signal handlers.
var unfinished = struct {
	sync.Mutex
	set map[*hidden]bool
}{set: map[*hidden]bool{}}

// Abandon removes what is being written, for a process that ends now. What is written
// after it never ends.
func Abandon() {
	unfinished.Lock() // for ever: nothing begins and nothing becomes an output any more
	for h := range unfinished.set {
		if h.dir { // under another name, where nobody creates files any more
			if gone := h.name + "-"; os.Rename(h.name, gone) == nil {
				h.name = gone
			}
		}
		_ = os.RemoveAll(h.name) // nobody is left to be told
	}
}

// beside creates something under a hidden name beside path.
func beside(path string, create func(name string) (*os.File, error)) (*hidden, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	first := hiddenName(path)
	var made *hidden
	for n := 0; made == nil || n < mostLeft; n++ {
		name := fmt.Sprintf("%s-%d.part", first, n)
		if n < mostLeft {
			removeDead(name)
		}
		if made != nil {
			continue
		}
		f, err := create(name)
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return nil, naming(path, name, err)
		case claim(f, name):
			made = &hidden{name: name, file: f}
		default:
			f.Close()
		}
	}
	unfinished.set[made] = true
	return made, nil
}

// hiddenName returns what the hidden names beside path begin with.
func hiddenName(path string) string {
	dir, base := filepath.Split(path)
	if len(base) > mostKept {
		base = base[:mostKept]
		for !utf8.ValidString(base) && len(base) > mostKept-utf8.UTFMax {
			base = base[:len(base)-1]
		}
	}
	return dir + "." + base + "." + machine()
}

// machine returns six digits that tell this machine from others.
func machine() string {
	name, _ := os.Hostname() // either of the two is enough
	id, _ := os.ReadFile("/etc/machine-id")
	sum := sha256.Sum256(append(id, name...))
	return fmt.Sprintf("%x", sum[:3])
}

// claim locks what was created under a name. It is false if another process has taken it
// for left by a dead one meanwhile.
func claim(f *os.File, name string) bool {
	err := lock(f)
	return !errors.Is(err, syscall.EWOULDBLOCK) && named(f, name) // with any other error there are no locks here
}

func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// named reports whether f is what stands under a name.
func named(f *os.File, name string) bool {
	there, err := os.Lstat(name)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, there)
}

// removeDead removes what a dead process has left under a name. Only who holds the lock
// removes or renames: what is there after that is still what was locked.
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

// become gives what was hidden its own name, and has the disk know it.
func (h *hidden) become(target string) error {
	if err := h.rename(target); err != nil {
		return err
	}
	dir, _ := filepath.Split(target)
	return syncDir(dir)
}

func (h *hidden) rename(target string) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	// Not os.Rename, which refuses to replace an empty directory.
	if err := syscall.Rename(h.name, target); err != nil {
		return &os.PathError{Op: "rename", Path: h.name, Err: err}
	}
	delete(unfinished.set, h)
	return nil
}

// end removes what has not become an output, after err, and gives up its lock.
func (h *hidden) end(err error) error {
	unfinished.Lock()
	left := unfinished.set[h]
	unfinished.Unlock()
	if left {
		err = errors.Join(err, h.remove())
	}
	if cerr := h.file.Close(); err == nil {
		err = cerr
	}
	return err
}

func (h *hidden) remove() error {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.set, h)
	return os.RemoveAll(h.name)
}

// renamed is an error that speaks of the output, not of the hidden name.
type renamed struct {
	error
	hidden, path string
}

func (e *renamed) Error() string { return strings.ReplaceAll(e.error.Error(), e.hidden, e.path) }
func (e *renamed) Unwrap() error { return e.error }

// naming makes an error about a hidden file one about the output at path.
func naming(path, hidden string, err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		if rest, ok := strings.CutPrefix(of.Path, hidden); ok {
			of.Path = path + rest
		}
	}
	if err == nil || !strings.Contains(err.Error(), hidden) {
		return err
	}
	return &renamed{err, hidden, path}
}
