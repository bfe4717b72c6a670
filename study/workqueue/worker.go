package workqueue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"reprise/internal/regular"
)

// Names of the directories of workers and of leases, in the directory that they share.
const (
	WorkersDir = "workers"
	LeasesDir  = "leases"
)

// beats is how often a worker writes to its file in the period after which it is dead.
const beats = 4

// Bounds of periods: times of files have grains on some file systems, and who has died is to be missed
// some day.
const (
	MinPeriod = time.Second
	MaxPeriod = 24 * time.Hour
)

// Worker is this process among those that share a directory. Its methods may be called from
// several goroutines.
type Worker struct {
	Owner
	dir  string
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	server time.Time // the file server's time
	at     time.Time // when that was, by this host's clock, of which only differences count
	failed error     // why the last beat could not be written
}

// Join makes this process a worker of a directory, under a new name: it is alive until it leaves,
// or has not been seen for a period.
func Join(dir string, period time.Duration) (*Worker, error) {
	if err := CheckPeriod(period); err != nil {
		return nil, fmt.Errorf("a lease of %w", err)
	}
	for _, sub := range []string{WorkersDir, LeasesDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return nil, err
		}
	}
	o, err := self(period.Seconds())
	if err != nil {
		return nil, err
	}
	w := &Worker{Owner: o, dir: dir, stop: make(chan struct{})}
	if err := create(w.file(o.Name), &o); err != nil {
		return nil, err
	}
	if err := w.beat(); err != nil {
		return nil, errors.Join(err, os.Remove(w.file(o.Name)))
	}
	if err := clocks(w.server, w.at); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), os.Remove(w.file(o.Name)))
	}
	w.done.Add(1)
	go w.live(period / beats)
	return w, nil
}

// CheckPeriod returns an error that begins with a period if that is out of bounds.
func CheckPeriod(period time.Duration) error {
	if period < MinPeriod || period > MaxPeriod {
		return fmt.Errorf("%v, want %v to %v", period, MinPeriod, MaxPeriod)
	}
	return nil
}

// Leave ends the worker. Leases that it holds are free.
func (w *Worker) Leave() error {
	close(w.stop)
	w.done.Wait()
	return os.Remove(w.file(w.Name))
}

func (w *Worker) file(name string) string { return filepath.Join(w.dir, WorkersDir, name) }

// live shows now and then that the worker is alive.
func (w *Worker) live(every time.Duration) {
	defer w.done.Done()
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-t.C:
			err := w.beat()
			w.mu.Lock()
			w.failed = err
			w.mu.Unlock()
		}
	}
}

// beat writes to the worker's file and learns the file server's time from it.
func (w *Worker) beat() error {
	at := time.Now()
	if err := mark(w.file(w.Name), held); err != nil {
		return err
	}
	info, err := os.Stat(w.file(w.Name))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server, w.at = info.ModTime(), at
	return nil
}

// maxSkew is by how much clocks may differ. Leases do not depend on it, but people who compare
// times of files with those of schedulers do.
const maxSkew = time.Minute

// clocks returns an error if this host's clock is far from that of the file server.
func clocks(server, host time.Time) error {
	d := host.Sub(server)
	if d.Abs() < maxSkew {
		return nil
	}
	side := "ahead of"
	if d < 0 {
		side = "behind"
	}
	return fmt.Errorf("the clock of this host is %v %s that of the file server, want less than %v: set it right, or use another host", d.Abs().Round(time.Second), side, maxSkew)
}

// now returns the file server's time.
func (w *Worker) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.server.Add(time.Since(w.at))
}

// seen returns an error if the others may take this worker for dead.
func (w *Worker) seen() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil && time.Since(w.at).Seconds() > w.Period {
		return fmt.Errorf("this worker may have lost its leases: its file could not be written to for %.0f s: %w",
			time.Since(w.at).Seconds(), w.failed)
	}
	return nil
}

// Alive reports whether a worker lives.
func (w *Worker) Alive(o *Owner) bool {
	return alive(w.dir, o, &w.Owner, func(info fs.FileInfo) bool { return recent(info, w.now(), o.Period) })
}

// alive reports whether a worker of a directory lives, as far as me can see: of another host by when
// its file was written to.
func alive(dir string, o, me *Owner, lately func(fs.FileInfo) bool) bool {
	if gone, known := o.gone(me); known {
		return !gone
	}
	info, err := fresh(filepath.Join(dir, WorkersDir, o.Name))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return lately(info)
}

// recent reports whether a file was written to within a period of a time of the file server. One whose
// time is yet to come by more than that has it from somebody else, and would be recent for ever.
func recent(info fs.FileInfo, now time.Time, period float64) bool {
	return now.Sub(info.ModTime()).Abs().Seconds() <= period
}

// fresh returns what the file server knows of a file: over NFS, what is asked for by name may be
// some seconds old, which a lease of a few seconds does not bear; an open file's is not. A pipe,
// which would wait for somebody to open its other end, is not opened.
func fresh(path string) (fs.FileInfo, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return info, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// States of a file's first line, of the same length, so that one can be written over the other.
const (
	held = "held\n"
	free = "free\n"
)

// create creates a file of a worker, which must not be there.
func create(path string, o *Owner) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	text, err := json.Marshal(o)
	if err == nil {
		_, err = f.WriteString(held + string(text) + "\n")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// mark writes the first line of a file that is there.
func mark(path, state string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // a pipe in its place is an error, and not waited for
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(state), 0)
	return errors.Join(err, f.Close())
}

// maxFile is more than a file of a worker has, in bytes.
const maxFile = 64 << 10

// read reads a file of a worker; ok is false if it is not whole, as one that is just being
// written, or none that a worker writes. What is no file is not opened: a pipe may wait for ever.
func read(path string) (o Owner, state string, ok bool, err error) {
	info, err := os.Lstat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		return o, "", false, nil
	}
	text, err := regular.Read(path, maxFile)
	if err != nil {
		return o, "", false, err
	}
	state, rest, _ := strings.Cut(string(text), "\n")
	line, _, whole := strings.Cut(rest, "\n")
	if !whole || json.Unmarshal([]byte(line), &o) != nil || o.Period < MinPeriod.Seconds() ||
		o.Period > MaxPeriod.Seconds() ||
		o.Name == "" || o.Name != fileName(o.Name) { // it becomes that of a file
		return o, "", false, nil
	}
	return o, state + "\n", true, nil
}
