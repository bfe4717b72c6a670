package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync"
)

// journalsDir is where the journals are: one a worker, which alone appends to it, a line a run.
const (
	journalsDir   = "journals"
	journalSuffix = ".jsonl"
)

// Entry is a line of a journal: what became of a run.
type Entry struct {
	Run     string   `json:"run"`
	Outcome *Outcome `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`
	Wall    float64  `json:"wall_s"` // what it took
	Worker  string   `json:"worker"`
}

// journal is that of this worker.
type journal struct {
	mu   sync.Mutex
	path string
	size int64
}

// tells reports whether an entry says how its run has ended: in a time, or why not.
func (e *Entry) tells() bool {
	if e.Outcome == nil {
		return e.Error != ""
	}
	return e.Error == "" && e.Outcome.Makespan > 0 && !math.IsInf(e.Outcome.Makespan, 1)
}

// newJournal begins a journal under the name of a worker.
func newJournal(dir, worker string) (*journal, error) {
	if err := os.MkdirAll(filepath.Join(dir, journalsDir), 0o777); err != nil {
		return nil, err
	}
	return &journal{path: filepath.Join(dir, journalsDir, worker+journalSuffix)}, nil
}

// add appends an entry. The file is closed after each: a server of files has it then, and
// other hosts see it. What could not be written whole is taken back.
func (j *journal) add(e *Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	n, err := f.Write(append(text, '\n'))
	if err != nil {
		return errors.Join(err, f.Truncate(j.size), f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	j.size += int64(n)
	return nil
}

// Results are the journals of a study, as far as they have been read.
type Results struct {
	dir     string
	read    map[string]int64 // bytes of each journal
	entries map[string]*Entry
	failed  map[string]int // how often runs have failed
	torn    []string       // lines that are none, or contradict others
}

// NewResults returns the results of a study's directory; Update reads them.
func NewResults(dir string) *Results {
	return &Results{dir: dir, read: map[string]int64{}, entries: map[string]*Entry{}, failed: map[string]int{}}
}

// Update reads what journals have more than before. The last line of one may be torn or still
// be written: it does not count.
func (r *Results) Update() error {
	list, err := os.ReadDir(filepath.Join(r.dir, journalsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range list {
		if !r.isJournal(file.Name()) {
			continue
		}
		if err := r.readOn(file.Name()); err != nil {
			return err
		}
	}
	return nil
}

// isJournal reports whether something among the journals is one. What is none is not opened: a pipe
// may wait for ever.
func (r *Results) isJournal(name string) bool {
	info, err := os.Stat(filepath.Join(r.dir, journalsDir, name))
	return err == nil && info.Mode().IsRegular() && filepath.Ext(name) == journalSuffix
}

// readOn reads what is new in a journal.
func (r *Results) readOn(name string) error {
	path := filepath.Join(r.dir, journalsDir, name)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= r.read[name] {
		return err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, r.read[name], info.Size()-r.read[name]))
	if err != nil {
		return err
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			return nil
		}
		r.add(path, line)
		r.read[name] += int64(len(line)) + 1
		text = rest
	}
}

// add takes an entry. A run that has failed may have succeeded another time; of two results that
// differ the first counts.
func (r *Results) add(path string, line []byte) {
	e := &Entry{}
	if err := json.Unmarshal(line, e); err != nil || e.Run == "" || !e.tells() {
		r.torn = append(r.torn, fmt.Sprintf("%s: a line of %d bytes is no result, and does not count", path, len(line)))
		return
	}
	if e.Error != "" {
		r.failed[e.Run]++
	}
	switch old := r.entries[e.Run]; {
	case old == nil || old.Outcome == nil:
		r.entries[e.Run] = e
	case e.Outcome != nil && !reflect.DeepEqual(e.Outcome, old.Outcome):
		r.torn = append(r.torn, fmt.Sprintf("%s: run %s has another result than by %s, and does not count: a journal was changed, or a host computes otherwise", path, e.Run, old.Worker))
	}
}

// Of returns the entry of a run, nil if there is none.
func (r *Results) Of(run string) *Entry { return r.entries[run] }

// ended returns how many runs have ended, well or not.
func (r *Results) ended() int { return len(r.entries) }

// Torn tells of lines in journals that are no results, or other ones than lines before them.
func (r *Results) Torn() []string { return r.torn }
