package workqueue

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/internal/regular"
	"reprise/internal/textutil"
)

// This file reads and writes the files of workers and leases, and finds out which workers live (alive).

// States of a file's first line, of the same length, so that one can be written over the other.
const (
	held = "held\n"
	free = "free\n"
)

// maxFile is more than a file of a worker has, in bytes.
const maxFile = 64 << 10

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

// mark writes the first line of a file that is there. A pipe in its place is an error, and not waited for.
func mark(path, state string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(state), 0)
	return errors.Join(err, f.Close())
}

// read reads a file of a worker. ok is false if the file is torn, as one that is just being written, or if no worker
// writes such a file: a period out of bounds would be held for ever, and the name becomes that of a file. Anything but
// a regular file is not opened, since a pipe may wait for ever.
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
		o.Period > MaxPeriod.Seconds() || o.Name == "" || o.Name != fileName(o.Name) {
		return o, "", false, nil
	}
	return o, state + "\n", true, nil
}

// fileName makes a text one that can stand in a file's name.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// alive reports whether a worker of a directory lives, as far as me can see: on this machine by
// its process, on another one by when its file was written to.
func alive(dir string, o, me *Owner, lately func(fs.FileInfo) bool) bool {
	if o.Boot != "" && o.Boot == me.Boot {
		// The number alone is not enough: the kernel gives it to another process some day.
		started, runs := startOf(o.PID)
		return runs && started == o.Started
	}
	info, err := fresh(filepath.Join(dir, WorkersDir, o.Name))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return lately(info)
}

// recent reports whether a file was written to within a period, in seconds, of a time of the file server. A file whose
// time is further in the future has it from another program, and would be recent for ever.
func recent(info fs.FileInfo, now time.Time, period float64) bool {
	return now.Sub(info.ModTime()).Abs().Seconds() <= period
}

// fresh returns the file server's information on a file. Over NFS, an answer about a name may be
// some seconds old, which is too much for a lease of a few seconds; an open file's is not. A
// pipe, whose opening would wait for a process at the other end, is not opened.
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

// Known is a worker of a directory.
type Known struct {
	Owner
	Alive bool
	Items []string // whose leases it holds, sorted
}

// Workers returns the workers of a directory that have not left, and the items that they hold, by
// name. It writes nothing, so that users without the right to write may call it: whether workers
// of other hosts live is then judged by this host's clock.
func Workers(dir string) (list []Known, err error) {
	defer textutil.Stopped(&err)
	names := textutil.Must(fileNames(filepath.Join(dir, WorkersDir)))
	leases := textutil.Must(fileNames(filepath.Join(dir, LeasesDir)))
	me := textutil.Must(self(0))

	// Of each item the lease of the largest number counts.
	// Leases of smaller numbers stay until the item is done, and say nothing.
	last := map[string]int{}
	var items []string
	for _, name := range leases {
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
	holds := map[string][]string{} // by the worker's name
	for _, item := range items {
		o, state, whole, err := read(filepath.Join(dir, LeasesDir, item+"."+strconv.Itoa(last[item])))
		if err == nil && whole && state == held {
			holds[o.Name] = append(holds[o.Name], item)
		}
	}

	for _, name := range names {
		o, _, whole, err := read(filepath.Join(dir, WorkersDir, name))
		if err != nil || !whole {
			continue // it has just left, or comes
		}
		// A time in the future is recent too: this clock may be slow.
		lately := func(info fs.FileInfo) bool { return time.Since(info.ModTime()).Seconds() <= o.Period }
		list = append(list, Known{o, alive(dir, &o, &me, lately), holds[o.Name]})
	}
	return list, nil
}

// Sweep removes the files of dead workers, and leases of items that are done. Each file is tried; errors are joined.
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
		if err != nil {
			continue
		}
		dead := whole && !w.Alive(&o)
		if !whole {
			// A worker that was killed while it wrote its file: the name says its host and its process.
			rest, here := strings.CutPrefix(name, fileName(w.Host)+"-")
			number, _, _ := strings.Cut(rest, "-")
			if pid, err := strconv.Atoi(number); here && err == nil && w.Boot != "" {
				_, runs := startOf(pid)
				dead = !runs
			}
		}
		if dead {
			more = errors.Join(more, removed(w.file(name)))
		}
	}
	return errors.Join(err, more)
}

// removed removes a file that another worker may have removed. A directory, which no worker has made, stays.
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

// bootID names the machine since it was switched on, and the namespace in which its numbers of processes have a
// meaning; "" if that is not known, as on systems without Linux's /proc: there, files alone tell whether workers live.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// startOf returns when a process was started, in clock ticks since the boot, and whether it runs:
// a process that has ended and was not waited for does not.
func startOf(pid int) (started string, runs bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest) // from the third field of proc(5) on; the second is a name, which may have spaces
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}
