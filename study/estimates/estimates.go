package estimates

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/replay"
	"reprise/study/workqueue"
)

const (
	// estimateFile says what windows depend on.
	estimateFile = "estimate.json"
	// planFile is that of a study, whose directory is none for windows.
	planFile = "plan.json"
	// maxFile bounds what is read of a file.
	maxFile = 64 << 20
)

// Dir is a directory whose processes share windows. It is a replay.Sharer.
type Dir struct {
	path   string
	period time.Duration
	worker *workqueue.Worker // nil until the estimate begins
	close  sync.Once
}

// New returns a directory, which need not be there yet. A process of another host that was not seen for
// a period counts as dead.
func New(path string, period time.Duration) *Dir { return &Dir{path: path, period: period} }

// estimate is the content of estimateFile.
type estimate struct {
	Format int               `json:"format"`
	Run    []replay.Property `json:"run"`
}

// Begin makes the directory one of a run, unless it is that of another.
func (d *Dir) Begin(run []replay.Property) error {
	if _, err := os.Stat(filepath.Join(d.path, planFile)); err == nil {
		return fmt.Errorf("%s is the directory of a study: take another one", d.path)
	}
	if err := atomicfile.MakeDir(filepath.Join(d.path, "windows")); err != nil {
		return err
	}
	if err := d.claim(&estimate{1, run}); err != nil {
		return err
	}
	var err error
	if d.worker, err = workqueue.Join(d.path, d.period); err != nil {
		return err
	}
	return d.worker.Sweep(func(item string) bool { // what killed processes have left behind
		_, err := os.Stat(d.file(item))
		return err == nil
	})
}

// claim writes what windows depend on, or says what differs from what is there.
func (d *Dir) claim(mine *estimate) error {
	text, err := json.MarshalIndent(mine, "", "\t")
	if err != nil {
		return err
	}
	path := filepath.Join(d.path, estimateFile)
	own, err := os.CreateTemp(d.path, estimateFile+".*")
	if err != nil {
		return err
	}
	_, err = own.Write(append(text, '\n'))
	if err = errors.Join(err, own.Chmod(0o644), own.Close()); err == nil {
		err = os.Link(own.Name(), path)
	}
	if rerr := os.Remove(own.Name()); err == nil || !errors.Is(err, fs.ErrExist) {
		return errors.Join(err, rerr)
	}
	var theirs estimate
	if err := read(path, &theirs); err != nil {
		return err
	}
	return d.same(&theirs, mine)
}

// same says what differs between two runs.
func (d *Dir) same(theirs, mine *estimate) error {
	if theirs.Format != mine.Format {
		return fmt.Errorf("%s is of another version of Reprise: take another directory", d.path)
	}
	there, here := values(theirs), values(mine)
	var list []string
	for _, p := range append(mine.Run, theirs.Run...) {
		if there[p.Name] != here[p.Name] {
			list = append(list, fmt.Sprintf("%s is %s there and %s here", p.Name, brief(there[p.Name]), brief(here[p.Name])))
			there[p.Name] = here[p.Name]
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%s has windows of another run (%s): take another directory", d.path, strings.Join(list, "; "))
}

func values(e *estimate) map[string]string {
	m := map[string]string{}
	for _, p := range e.Run {
		m[p.Name] = p.Value
	}
	return m
}

// brief shortens a value, such as a hash.
func brief(value string) string {
	const most = 40
	switch {
	case value == "":
		return "not set"
	case len(value) > most:
		return value[:12] + "..."
	}
	return value
}

// Leave ends the sharing: what this process was playing is free for others.
func (d *Dir) Leave() (err error) {
	if d.worker != nil {
		d.close.Do(func() { err = d.worker.Leave() })
	}
	return err
}

// Window returns what came out of a window; nil if another process is playing it.
func (d *Dir) Window(from, to int, play func() (*replay.WindowTimes, error)) (*replay.WindowTimes, error) {
	item := fmt.Sprintf("%d-%d", from, to)
	if w, err := d.known(item, from, to); w != nil || err != nil {
		return w, err
	}
	l, err := d.worker.Take(item)
	if l == nil || err != nil {
		return nil, err
	}
	w, err := d.known(item, from, to) // it may have ended since
	if w == nil && err == nil {
		if w, err = play(); err == nil {
			err = d.keep(item, w)
		}
	}
	if err != nil {
		return nil, errors.Join(err, l.GiveBack())
	}
	return w, l.Done()
}

func (d *Dir) file(item string) string { return filepath.Join(d.path, "windows", item+".json") }

// known returns what came out of the steps [from, to), nil if nothing yet.
func (d *Dir) known(item string, from, to int) (*replay.WindowTimes, error) {
	var w replay.WindowTimes
	switch err := read(d.file(item), &w); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if n, want := len(w.Starts), to-from+1; n != want {
		return nil, fmt.Errorf("%s is damaged (%d times, want %d): remove it", d.file(item), n, want)
	}
	return &w, nil
}

// keep writes what came out of a window. Numbers in JSON have all their digits.
func (d *Dir) keep(item string, w *replay.WindowTimes) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return atomicfile.Replace(d.file(item), func(out io.Writer) error {
		_, err := out.Write(append(text, '\n'))
		return err
	})
}

// read reads a file of JSON.
func read(path string, v any) error {
	text, err := regular.Read(path, maxFile)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s is damaged (%w): remove it", path, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s is damaged (more than one value): remove it", path)
	}
	return nil
}
