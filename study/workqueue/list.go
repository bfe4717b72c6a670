package workqueue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Known is a worker of a directory.
type Known struct {
	Owner
	Alive bool
	Items []string // whose leases it holds, sorted
}

// Workers returns the workers of a directory that have not left, and what they hold, by name. It
// may write nothing: whether workers of other hosts live is then seen by this host's clock.
func Workers(dir string) ([]Known, error) {
	names, err := fileNames(filepath.Join(dir, WorkersDir))
	if err != nil {
		return nil, err
	}
	me, err := self(0)
	if err != nil {
		return nil, err
	}
	holds, err := holders(dir)
	if err != nil {
		return nil, err
	}
	var list []Known
	for _, name := range names {
		o, _, whole, err := read(filepath.Join(dir, WorkersDir, name))
		if err != nil || !whole {
			continue // it has just left, or comes
		}
		// or to come, where this clock is slow
		lately := func(info fs.FileInfo) bool { return time.Since(info.ModTime()).Seconds() <= o.Period }
		list = append(list, Known{o, alive(dir, &o, &me, lately), holds[o.Name]})
	}
	return list, nil
}

// holders returns the items that workers hold, by the worker's name.
func holders(dir string) (map[string][]string, error) {
	names, err := fileNames(filepath.Join(dir, LeasesDir))
	if err != nil {
		return nil, err
	}
	last := map[string]int{}
	var items []string
	for _, name := range names {
		item, number, _ := strings.Cut(name, ".")
		k, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		if last[item] == 0 {
			items = append(items, item)
		}
		last[item] = max(last[item], k)
	}
	holds := map[string][]string{}
	for _, item := range items {
		o, state, whole, err := read(filepath.Join(dir, LeasesDir, item+"."+strconv.Itoa(last[item])))
		if err == nil && whole && state == held {
			holds[o.Name] = append(holds[o.Name], item)
		}
	}
	return holds, nil
}

// Sweep removes what the dead have left behind: their files, and leases of items that are done.
func (w *Worker) Sweep(done func(item string) bool) error {
	names, err := fileNames(filepath.Join(w.dir, LeasesDir))
	if err != nil {
		return err
	}
	for _, name := range names {
		if item, _, _ := strings.Cut(name, "."); done(item) {
			err = errors.Join(err, removed(filepath.Join(w.dir, LeasesDir, name)))
		}
	}
	workers, more := fileNames(filepath.Join(w.dir, WorkersDir))
	for _, name := range workers {
		o, _, whole, err := read(w.file(name))
		if err == nil && (whole && !w.Alive(&o) || !whole && w.tornBy(name)) {
			more = errors.Join(more, removed(w.file(name)))
		}
	}
	return errors.Join(err, more)
}

// tornBy reports whether the worker of a name, whose file is not whole, was a process of this host
// that is gone: it was killed while it wrote that.
func (w *Worker) tornBy(name string) bool {
	rest, here := strings.CutPrefix(name, fileName(w.Host)+"-")
	number, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	if !here || err != nil || w.Boot == "" {
		return false
	}
	_, runs := startOf(pid)
	return !runs
}

// removed removes a file that somebody else may have removed. A directory, which no worker has made, stays.
func removed(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// fileNames returns the names of the files of a directory, sorted; none if it is not there.
func fileNames(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}
