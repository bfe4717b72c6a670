// Package workqueue shares work between processes, on one host or many, by files alone: no lock,
// no database, NFS allowed.
//
// A worker joins a directory and takes leases of items, which no other worker can take as long as it lives.
//
//	w, err := workqueue.Join(dir, 30*time.Second)
//	defer w.Leave()
//	l, err := w.Take("item") // nil if a living worker has it
//	...
//	err = l.Done()           // or l.GiveBack()
//
// The directory holds
//
//	workers/NAME      who a worker is; written to again as long as it lives
//	leases/ITEM.K     the K-th lease of an item, created exclusively
//
// Both kinds of files are two lines: held or free, and the worker as JSON ([Owner]). The lease of an item that counts
// is the one of the largest K. Where its worker is dead, or has given it back, the next one is K+1, which only one
// worker can create. Done removes all leases of an item. A worker that takes a lease after that must find out by other
// means, before it begins, that the item is done: package study looks into journals, package estimates for a file.
//
// A worker is dead if it ran on this machine, since the same boot, and its process is gone, which is known at once; on
// other machines, if its file was not written to for its period. That is measured by the times that the file server
// gives to files, since clocks of hosts may differ. A lease that is torn, or that no worker can have written, is held
// for the period of the worker that looks at it.
//
// # Units
//
// Periods are in seconds in files.
//
// # Errors
//
// Errors are those of the file system. A worker that cannot write to its file for longer than its
// period may lose its leases; Take and Held report that.
//
// # Source
//
// The method is that of lock files with exclusive creation, as in open(2), with a number that
// grows instead of a file that is removed, so that no two workers can remove each other's.
package workqueue

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"reprise/internal/textutil"
)

// Names of the directories of workers and of leases, in the directory that they share.
const (
	WorkersDir = "workers"
	LeasesDir  = "leases"
)

// Bounds of periods: times of files are coarse on some file systems, and a death has to be noticed some day.
const (
	MinPeriod = time.Second
	MaxPeriod = 24 * time.Hour
)

const (
	// beats is how often a worker writes to its file in the period after which it is dead.
	beats = 4

	// maxSkew is by how much clocks may differ. Leases do not depend on it, but people who compare
	// times of files with those of schedulers do.
	maxSkew = time.Minute
)

// Owner says who a worker is.
type Owner struct {
	Name    string  `json:"worker"` // the name of its file, as well
	Host    string  `json:"host"`
	Boot    string  `json:"boot,omitempty"`      // ID of the machine since it was switched on, and of its PID namespace
	PID     int     `json:"pid"`                 // of the process
	Started string  `json:"started,omitempty"`   // clock ticks since the boot: numbers of processes come again
	Period  float64 `json:"lease_s"`             // after which it is dead if its file is not written to
	Job     string  `json:"slurm_job,omitempty"` // of the scheduler, for people
}

// self returns who this process is, under a new name.
func self(period float64) (Owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return Owner{}, err
	}
	var unique [4]byte
	if _, err := rand.Read(unique[:]); err != nil {
		return Owner{}, err
	}
	o := Owner{Host: host, Boot: bootID(), PID: os.Getpid(), Period: period, Job: os.Getenv("SLURM_JOB_ID")}
	o.Started, _ = startOf(o.PID)
	o.Name = fmt.Sprintf("%s-%d-%s", fileName(host), o.PID, hex.EncodeToString(unique[:]))
	return o, nil
}

// Worker is this process among those that share a directory. Its methods may be called from several goroutines.
type Worker struct {
	Owner
	dir  string
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	server time.Time // the file server's time at the last beat
	at     time.Time // when that was by this host's clock, of which only differences count
	failed error     // why the last beat could not be written
}

// Join makes this process a worker of a directory, under a new name: it is alive until it leaves,
// or has not been seen for a period.
func Join(dir string, period time.Duration) (_ *Worker, err error) {
	defer textutil.Stopped(&err)
	if err := CheckPeriod(period); err != nil {
		return nil, fmt.Errorf("a lease of %w", err)
	}
	for _, sub := range []string{WorkersDir, LeasesDir} {
		textutil.Check(os.MkdirAll(filepath.Join(dir, sub), 0o777))
	}
	o := textutil.Must(self(period.Seconds()))
	w := &Worker{Owner: o, dir: dir, stop: make(chan struct{})}
	textutil.Check(create(w.file(o.Name), &o))
	if err = w.beat(); err == nil {
		if err = clocks(w.server, w.at); err != nil {
			err = fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(w.file(o.Name)))
	}
	w.done.Go(func() {
		t := time.NewTicker(period / beats)
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
	})
	return w, nil
}

// CheckPeriod returns an error that begins with a period if that is out of bounds.
func CheckPeriod(period time.Duration) error {
	if period < MinPeriod || period > MaxPeriod {
		return fmt.Errorf("%v, want %v to %v", period, MinPeriod, MaxPeriod)
	}
	return nil
}

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
	return fmt.Errorf("the clock of this host is %v %s that of the file server, want less than %v: set it right,"+
		" or use another host", d.Abs().Round(time.Second), side, maxSkew)
}

// Leave ends the worker. Leases that it holds are free.
func (w *Worker) Leave() error {
	close(w.stop)
	w.done.Wait()
	return os.Remove(w.file(w.Name))
}

func (w *Worker) file(name string) string { return filepath.Join(w.dir, WorkersDir, name) }

// beat writes to the worker's file and learns the file server's time from it.
func (w *Worker) beat() (err error) {
	defer textutil.Stopped(&err)
	at := time.Now()
	textutil.Check(mark(w.file(w.Name), held))
	info := textutil.Must(os.Stat(w.file(w.Name)))
	w.mu.Lock()
	defer w.mu.Unlock()
	// The file server's time of now is then this time plus what has passed by the monotonic clock of this host.
	w.server, w.at = info.ModTime(), at
	return nil
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
	if since := time.Since(w.at).Seconds(); w.failed != nil && since > w.Period {
		return fmt.Errorf("this worker may have lost its leases: its file could not be written to for %.0f s: %w", since,
			w.failed)
	}
	return nil
}

// Alive reports whether a worker lives.
func (w *Worker) Alive(o *Owner) bool {
	return alive(w.dir, o, &w.Owner, func(info fs.FileInfo) bool { return recent(info, w.now(), o.Period) })
}

// Lease is the right to work on an item.
type Lease struct {
	w    *Worker
	item string
	k    int // its number
}

// Take returns a lease of an item, whose name can be that of a file, or nil if a living worker
// has one, or has just done the item.
func (w *Worker) Take(item string) (*Lease, error) {
	if err := w.seen(); err != nil {
		return nil, err
	}
	for k := 1; ; k++ {
		// Exclusive creation is atomic on local file systems and on NFS since version 3: one worker of many gets it.
		l := &Lease{w, item, k}
		err := create(l.file(k), &w.Owner)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}

		// The K-th lease is there: go on to the next one only if it has ended.
		o, state, whole, err := read(l.file(k))
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just been removed, so the item is done
			return nil, nil
		case err != nil:
			return nil, err
		case whole:
			if state == held && w.Alive(&o) {
				return nil, nil
			}
		default: // its worker may have died while it wrote it
			if info, err := os.Lstat(l.file(k)); err != nil || recent(info, w.now(), w.Period) {
				return nil, nil
			}
		}
	}
}

func (l *Lease) file(k int) string {
	return filepath.Join(l.w.dir, LeasesDir, l.item+"."+strconv.Itoa(k))
}

// Held returns an error if the lease was lost: the worker was taken for dead.
func (l *Lease) Held() error {
	if err := l.w.seen(); err != nil {
		return err
	}
	// The next number exists only if another worker has found this lease free or its worker dead.
	if _, err := os.Stat(l.file(l.k + 1)); err == nil {
		return errors.New("another worker has taken this one for dead, and its lease")
	}
	return nil
}

// GiveBack ends the lease of an item that is not done.
func (l *Lease) GiveBack() error { return mark(l.file(l.k), free) }

// Done ends the lease of an item that is done, and removes all leases of it. The last one goes
// first: an earlier one would seem to be the one that counts.
func (l *Lease) Done() error {
	for k := l.k; k > 0; k-- {
		if err := removed(l.file(k)); err != nil {
			return err
		}
	}
	return nil
}
