// Package estimates shares an estimate (replay.Sample) between processes, on one host or many, which see a directory.
//
//	dir := estimates.New("shared", 30*time.Second)
//	defer dir.Leave()
//	e, err := replay.Sample(ctx, open, machine, options, replay.SampleOptions{
//		Tolerance: 0.002, Workers: runtime.GOMAXPROCS(0), Share: dir})
//
// An estimate replays windows, stretches of steps. Each process makes the same estimate, and
// wants the same windows. The process that creates the lease of a window first plays it (package
// workqueue); the others read its result. So all of them end with the same bits. A process may
// come or go at any time; the windows of a dead one are played by the others.
//
// # Directory
//
//	estimate.json           what the run depends on: trace, machine, options, version
//	windows/FROM-TO.json    the result of the steps [FROM, TO): a replay.WindowTimes
//	workers, leases         of package workqueue
//
// Results stay there: the same estimate, or one to within another tolerance, starts from them.
//
// # Units
//
// Times are in seconds.
//
// # Errors
//
// A directory of another run is refused with the differences; so is a study's directory. Other
// errors are those of the file system, and name the file.
//
// # Source
//
// Leases: package workqueue. Windows: docs/sampling.md.
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
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/study/workqueue"
)

const (
	// estimateFile is the name of the file of an estimate.
	estimateFile = "estimate.json"
	// planFile is that of a study, whose directory is not taken.
	planFile = "plan.json"
	// maxFile bounds the size of a file that is read, in bytes.
	maxFile = 64 << 20
)

// Dir is a directory whose processes share an estimate. It is a replay.Sharer.
type Dir struct {
	path   string
	period time.Duration
	worker *workqueue.Worker // nil until the estimate begins
	close  sync.Once
}

// New returns a directory, which need not exist yet. A process of another host that was not seen
// for a period counts as dead.
func New(path string, period time.Duration) *Dir { return &Dir{path: path, period: period} }

// estimate is the content of estimateFile: everything that the results of windows depend on.
type estimate struct {
	Format int               `json:"format"`
	Run    []replay.Property `json:"run"`
}

// Begin makes the directory that of a run, unless it is that of another one.
func (d *Dir) Begin(run []replay.Property) (err error) {
	defer textutil.Stopped(&err)
	if _, err := os.Stat(filepath.Join(d.path, planFile)); err == nil {
		return fmt.Errorf("%s is the directory of a study: take another one", d.path)
	}
	textutil.Check(atomicfile.MakeDir(filepath.Join(d.path, "windows")))
	// The first process to come writes the file, the others compare theirs with it.
	mine := &estimate{1, run}
	text := textutil.Must(json.MarshalIndent(mine, "", "\t"))
	path := filepath.Join(d.path, estimateFile)
	if err = atomicfile.Create(path, append(text, '\n')); errors.Is(err, fs.ErrExist) {
		var theirs estimate
		textutil.Check(read(path, &theirs))
		err = d.same(&theirs, mine)
	}
	textutil.Check(err)
	d.worker = textutil.Must(workqueue.Join(d.path, d.period))
	return d.worker.Sweep(func(item string) bool { // leases of windows that are done
		_, err := os.Stat(d.file(item))
		return err == nil
	})
}

// same returns an error that lists the differences of two runs, nil if there are none.
func (d *Dir) same(theirs, mine *estimate) error {
	if theirs.Format != mine.Format {
		return fmt.Errorf("%s is of another version of Reprise: take another directory", d.path)
	}
	values := func(e *estimate) map[string]string {
		m := map[string]string{}
		for _, p := range e.Run {
			m[p.Name] = p.Value
		}
		return m
	}
	brief := func(value string) string { // a value such as a hash is cut
		switch {
		case value == "":
			return "not set"
		case len(value) > 40:
			return value[:12] + "..."
		}
		return value
	}
	there, here := values(theirs), values(mine)
	var list []string
	for _, p := range append(mine.Run, theirs.Run...) {
		if there[p.Name] != here[p.Name] {
			list = append(list, fmt.Sprintf("%s is %s there and %s here", p.Name, brief(there[p.Name]), brief(here[p.Name])))
			there[p.Name] = here[p.Name] // each property once
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%s has windows of another run (%s): take another directory", d.path, strings.Join(list, "; "))
}

// Leave ends the sharing: windows that this process was playing are free for others.
func (d *Dir) Leave() (err error) {
	if d.worker != nil {
		d.close.Do(func() { err = d.worker.Leave() })
	}
	return err
}

// Window returns the result of a window, which this process plays if no other one does; nil if
// another one is playing it.
func (d *Dir) Window(from, to int, play func() (*replay.WindowTimes, error)) (*replay.WindowTimes, error) {
	item := fmt.Sprintf("%d-%d", from, to)
	if w, err := d.known(item, from, to); w != nil || err != nil {
		return w, err
	}
	// Without a lease the caller plays another window meanwhile, and asks again later.
	l, err := d.worker.Take(item)
	if l == nil || err != nil {
		return nil, err
	}
	w, err := d.known(item, from, to) // its lease may have ended, as it was done, before Take
	if w == nil && err == nil {
		if w, err = play(); err == nil {
			var text []byte
			if text, err = json.Marshal(w); err == nil { // numbers in JSON have all their digits
				err = atomicfile.Replace(d.file(item), atomicfile.Bytes(append(text, '\n')))
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, l.GiveBack())
	}
	return w, l.Done()
}

func (d *Dir) file(item string) string { return filepath.Join(d.path, "windows", item+".json") }

// known returns the result of the steps [from, to), nil if there is none yet.
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

// read reads a file that holds one value of JSON, without unknown fields.
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
