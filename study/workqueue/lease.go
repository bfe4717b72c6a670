package workqueue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Lease is the right to work on an item.
type Lease struct {
	w    *Worker
	item string
	k    int // its number
}

// Take returns a lease of an item, whose name can be that of a file, or nil if somebody alive has
// one, or has just done it.
func (w *Worker) Take(item string) (*Lease, error) {
	if err := w.seen(); err != nil {
		return nil, err
	}
	for k := 1; ; k++ {
		l := &Lease{w, item, k}
		err := create(l.file(k), &w.Owner)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
		ended, err := w.ended(l.file(k))
		if err != nil || !ended {
			return nil, err
		}
	}
}

// ended reports whether a lease is one of a dead worker, or was given back. One that has
// just been removed is not: its item is done.
func (w *Worker) ended(path string) (bool, error) {
	o, state, whole, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case whole:
		return state == free || !w.Alive(&o), nil
	}
	info, err := os.Lstat(path) // its worker may have died while it wrote it
	if err != nil {
		return false, nil
	}
	return !recent(info, w.now(), w.Period), nil
}

func (l *Lease) file(k int) string {
	return filepath.Join(l.w.dir, LeasesDir, l.item+"."+strconv.Itoa(k))
}

// Held returns an error if the lease was lost: the worker was taken for dead.
func (l *Lease) Held() error {
	if err := l.w.seen(); err != nil {
		return err
	}
	if _, err := os.Stat(l.file(l.k + 1)); err == nil {
		return errors.New("another worker has taken this one for dead, and its lease")
	}
	return nil
}

// GiveBack ends the lease of an item that is not done.
func (l *Lease) GiveBack() error { return mark(l.file(l.k), free) }

// Done ends the lease of an item that is done, and removes all that there were.
func (l *Lease) Done() error {
	for k := l.k; k > 0; k-- {
		if err := removed(l.file(k)); err != nil {
			return err
		}
	}
	return nil
}
