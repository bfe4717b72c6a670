package study

import (
	"bufio"
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
	"slices"
	"sync"

	"reprise/internal/regular"
	"reprise/internal/textutil"
)

// This file writes the results of a worker (journal.add) and reads those of all (Results.Update).

const (
	// journalsDir is the directory of the journals: a file a worker, which alone appends to it, a line a run.
	journalsDir   = "journals"
	journalSuffix = ".jsonl"

	// sumKey begins the last field of a line, the checksum of the line without it.
	sumKey = `,"sum":"`

	// Limits of a journal. Files beyond them were not written by a worker, and are not read again.
	maxLine  = 4 << 20 // bytes
	maxWrong = 1000    // lines that are no results
)

// Entry is a line of a journal: the result of a run.
//
// A line of a run that has ended well, with line breaks that it does not have in the file:
//
//	{"run":"0123456789abcdef0123",
//	 "outcome":{"makespan_s":1.5,"interval_s":0,"gflops":20,...,"random":true},
//	 "wall_s":0.2,"worker":"host-17-89abcdef","sum":"fedcba9876543210"}
//
// One of a run that has failed has "error" with its reason in place of "outcome".
type Entry struct {
	Run     string   `json:"run"`
	Outcome *Outcome `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`
	Wall    float64  `json:"wall_s"` // time that the run took
	Worker  string   `json:"worker"`
}

// tells reports whether an entry has either a time or an error.
func (e *Entry) tells() bool {
	if e.Outcome == nil {
		return e.Error != ""
	}
	return e.Error == "" && e.Outcome.Makespan > 0 && !math.IsInf(e.Outcome.Makespan, 1)
}

// journal is that of this worker.
type journal struct {
	mu   sync.Mutex
	path string
	size int64
}

// newJournal begins a journal under the name of a worker.
func newJournal(dir, worker string) (*journal, error) {
	if err := os.MkdirAll(filepath.Join(dir, journalsDir), 0o777); err != nil {
		return nil, err
	}
	return &journal{path: filepath.Join(dir, journalsDir, worker+journalSuffix)}, nil
}

// add appends an entry with its checksum. The file is closed after each entry: then a file server
// has it, and other hosts see it. A line that could not be written whole is truncated.
func (j *journal) add(e *Entry) (err error) {
	defer textutil.Stopped(&err)
	text := textutil.Must(json.Marshal(e))
	j.mu.Lock()
	defer j.mu.Unlock()
	// The file appears with its first entry: a worker without results leaves none.
	f := textutil.Must(os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666))
	// One write for the whole line, so that the end of the process seldom tears it.
	n, err := f.Write(append(withSum(text), '\n'))
	if err != nil {
		// The disk may be full: a torn line in the middle of the journal would make the next line,
		// which is whole, part of one that does not count.
		return errors.Join(err, f.Truncate(j.size), f.Close())
	}
	textutil.Check(f.Close())
	j.size += int64(n)
	return nil
}

// withSum returns an entry's text with its checksum: the first 16 digits of the SHA-256 of the text without it.
func withSum(text []byte) []byte {
	return slices.Concat(text[:len(text)-1], []byte(sumKey+sumOf(text)[:16]+`"}`))
}

// Results are the journals of a study, as far as they have been read.
type Results struct {
	dir      string
	unsummed bool // complete lines without checksum count: the study is of a version that wrote none
	read     map[string]*reading
	entries  map[string]*Entry // by run
	failed   map[string]int    // how often runs have failed
	torn     []string          // lines that are none, or contradict others
}

// reading is how far a journal was read.
type reading struct {
	bytes, lines int64 // whole lines
	size         int64 // of the file when it was last read
	wrong        int   // lines that are no results
	ended        bool  // nothing more of it is read
}

// NewResults returns the results of a directory; Update reads them. For those of a study that was
// planned by a version whose journals have no checksums, see [Plan.NewResults].
func NewResults(dir string) *Results {
	return &Results{dir: dir, read: map[string]*reading{}, entries: map[string]*Entry{}, failed: map[string]int{}}
}

// NewResults returns the results of the plan's directory; Update reads them.
func (p *Plan) NewResults() *Results {
	r := NewResults(p.dir)
	r.unsummed = !p.Checksums
	return r
}

// Of returns the entry of a run, nil if there is none.
func (r *Results) Of(run string) *Entry { return r.entries[run] }

// Torn lists lines in journals that are no results, or other ones than lines before them.
func (r *Results) Torn() []string { return r.torn }

// Update reads the lines of journals that are new. The last line of a journal may be torn or
// still be written: it does not count.
func (r *Results) Update() error {
	list, err := os.ReadDir(filepath.Join(r.dir, journalsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// os.ReadDir sorts the journals by name.
	for _, file := range list {
		name := file.Name()
		if filepath.Ext(name) != journalSuffix {
			continue
		}
		at := r.read[name]
		if at == nil {
			at = &reading{}
			r.read[name] = at
		}
		if at.ended {
			continue
		}
		if err := r.readOn(filepath.Join(r.dir, journalsDir, name), at); err != nil {
			return err
		}
	}
	return nil
}

// readOn reads the new lines of a journal. A special file is reported once.
func (r *Results) readOn(path string, at *reading) error {
	tell := func(format string, args ...any) {
		if len(r.torn) < 4*maxWrong { // more would not be read
			r.torn = append(r.torn, fmt.Sprintf(format, args...))
		}
	}
	f, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, regular.ErrSpecial):
		at.ended = true
		tell("%v", err)
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	// Most journals have not grown since the last look; those cost a call of stat alone.
	if err != nil || info.Size() <= at.size {
		return err
	}
	at.size = info.Size()
	// Reading goes on behind the last whole line, so a study with many workers is read once, not once for
	// each look. What stands behind the last end of a line is no line yet.
	lines := bufio.NewScanner(io.NewSectionReader(f, at.bytes, at.size-at.bytes))
	lines.Buffer(nil, maxLine)
	// bufio.ScanLines would also return the last line without its end.
	lines.Split(func(text []byte, _ bool) (int, []byte, error) {
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			return end + 1, text[:end], nil
		}
		return 0, nil, nil
	})
	for !at.ended && lines.Scan() {
		at.bytes += int64(len(lines.Bytes())) + 1
		at.lines++
		if err := r.add(lines.Bytes()); err != nil {
			tell("%s:%d: %v", path, at.lines, err)
			if at.wrong++; at.wrong == maxWrong {
				at.ended = true
				tell("%s:%d: %d lines up to here do not count: what follows is not read", path, at.lines, maxWrong)
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		at.ended = true
		tell("%s:%d: a line of more than %d MiB: neither it nor what follows counts", path, at.lines+1, maxLine>>20)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// add takes the entry of a line, or returns why it does not count. A run that has failed may have
// succeeded another time; of two outcomes that differ the first counts.
func (r *Results) add(line []byte) error {
	// The key is sought from the end, as an error's text may have it, too.
	at := bytes.LastIndex(line, []byte(sumKey))
	if at >= 0 && !bytes.Equal(line, withSum(append(slices.Clone(line[:at]), '}'))) {
		return errors.New("the line has another checksum than it says, and does not count: its run is made again")
	}
	// The line is an entry with a time or an error.
	e := &Entry{}
	if err := json.Unmarshal(line, e); err != nil || e.Run == "" || !e.tells() {
		return fmt.Errorf("a line of %d bytes is no result, and does not count", len(line))
	}
	switch {
	case at < 0 && !r.unsummed:
		return errors.New("a result without checksum does not count: its run is made again")
	case !isComplete(line, e):
		return errors.New("a result without all of its figures does not count: its run is made again")
	}
	// Failures are counted by run, for workers that retry.
	if e.Error != "" {
		r.failed[e.Run]++
	}
	switch old := r.entries[e.Run]; {
	case old == nil || old.Outcome == nil:
		r.entries[e.Run] = e
	case e.Outcome != nil && !reflect.DeepEqual(e.Outcome, old.Outcome):
		return fmt.Errorf("run %s has another result than by %s, and does not count: a journal was changed, or a host computes"+
			" otherwise", e.Run, old.Worker)
	}
	return nil
}

// isComplete reports whether a line has all fields that a worker writes, and no negative figures.
func isComplete(line []byte, e *Entry) bool {
	var fields struct {
		Wall    *float64                   `json:"wall_s"`
		Worker  *string                    `json:"worker"`
		Outcome map[string]json.RawMessage `json:"outcome"`
	}
	if json.Unmarshal(line, &fields) != nil || fields.Wall == nil || fields.Worker == nil {
		return false
	}
	o := e.Outcome
	if o == nil {
		return true
	}
	// A missing figure would be read as 0, and 0 has a meaning: no interval, or no known rate.
	for _, key := range []string{"makespan_s", "interval_s", "gflops", "gflops_interval", "efficiency", "messages",
		"time_by_kind", "time_by_phase", "random"} {
		if _, ok := fields.Outcome[key]; !ok {
			return false
		}
	}
	return min(o.Interval, o.Gflops, o.GflopsInterval, o.Efficiency, float64(o.Messages)) >= 0 && len(o.Kinds) > 0
}
