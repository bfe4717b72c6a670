package study

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// add appends an entry with its checksum. The file is closed after each: a server of files has it
// then, and other hosts see it. What could not be written whole is taken back.
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
	n, err := f.Write(append(withSum(text), '\n'))
	if err != nil {
		return errors.Join(err, f.Truncate(j.size), f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	j.size += int64(n)
	return nil
}

// sumKey begins the last field of a line, the checksum of what the line is without it.
const sumKey = `,"sum":"`

// sumOf returns the checksum of an entry's text: the first 16 digits of its SHA-256.
func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// withSum returns an entry's text with its checksum.
func withSum(text []byte) []byte {
	sum := sumOf(text)
	return append(append(append(slices.Clone(text[:len(text)-1]), sumKey...), sum...), `"}`...)
}

// checkSum compares a line with its checksum; has is false if it has none.
func checkSum(line []byte) (has, right bool) {
	at := bytes.LastIndex(line, []byte(sumKey))
	if at < 0 {
		return false, false
	}
	return true, bytes.Equal(line, withSum(append(slices.Clone(line[:at]), '}')))
}

// Limits of a journal. What goes beyond them was not written by a worker, and is not read again.
const (
	maxLine  = 4 << 20 // bytes
	maxWrong = 1000    // lines that are no results
)

// Results are the journals of a study, as far as they have been read.
type Results struct {
	dir      string
	unsummed bool // lines without checksum count if they are complete: the study is of a version that wrote none
	read     map[string]*reading
	entries  map[string]*Entry
	failed   map[string]int // how often runs have failed
	torn     []string       // lines that are none, or contradict others
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

// readOn reads what is new in a journal. What is no file is told once.
func (r *Results) readOn(path string, at *reading) error {
	f, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, regular.ErrSpecial):
		at.ended = true
		r.tell(err.Error())
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= at.size {
		return err
	}
	at.size = info.Size()
	from := bufio.NewReaderSize(io.NewSectionReader(f, at.bytes, at.size-at.bytes), 64<<10)
	for !at.ended {
		line, err := readLine(from)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrTooLong):
			at.ended = true
			r.tell(fmt.Sprintf("%s:%d: a line of more than %d MiB: neither it nor what follows counts", path, at.lines+1,
				maxLine>>20))
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		}
		at.bytes += int64(len(line)) + 1
		at.lines++
		if err := r.add(line); err != nil {
			r.tell(fmt.Sprintf("%s:%d: %v", path, at.lines, err))
			if at.wrong++; at.wrong == maxWrong {
				at.ended = true
				r.tell(fmt.Sprintf("%s:%d: %d lines up to here do not count: what follows is not read", path, at.lines, maxWrong))
			}
		}
	}
	return nil
}

// readLine returns the next line without its end; io.EOF if that is not there.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, bufio.ErrTooLong
		}
	}
}

// add takes the entry of a line, or says why it does not count. A run that has failed may have
// succeeded another time; of two results that differ the first counts.
func (r *Results) add(line []byte) error {
	has, right := checkSum(line)
	if has && !right {
		return errors.New("the line has another checksum than it says, and does not count: its run is made again")
	}
	e := &Entry{}
	if err := json.Unmarshal(line, e); err != nil || e.Run == "" || !e.tells() {
		return fmt.Errorf("a line of %d bytes is no result, and does not count", len(line))
	}
	switch {
	case !has && !r.unsummed:
		return errors.New("a result without checksum does not count: its run is made again")
	case !isComplete(line, e):
		return errors.New("a result without all of its figures does not count: its run is made again")
	}
	if e.Error != "" {
		r.failed[e.Run]++
	}
	switch old := r.entries[e.Run]; {
	case old == nil || old.Outcome == nil:
		r.entries[e.Run] = e
	case e.Outcome != nil && !reflect.DeepEqual(e.Outcome, old.Outcome):
		return fmt.Errorf("run %s has another result than by %s, and does not count: a journal was changed, or a host computes otherwise", e.Run, old.Worker)
	}
	return nil
}

// isComplete reports whether a line has all fields that a worker writes, and its figures are some.
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
	for _, key := range []string{"makespan_s", "interval_s", "gflops", "gflops_interval", "efficiency", "messages",
		"time_by_kind", "time_by_phase", "random"} {
		if _, ok := fields.Outcome[key]; !ok {
			return false
		}
	}
	for _, v := range []float64{o.Interval, o.Gflops, o.GflopsInterval, o.Efficiency, float64(o.Messages)} {
		if v < 0 {
			return false
		}
	}
	return len(o.Kinds) > 0
}

// tell keeps what is to be told, up to a bound: nobody reads more.
func (r *Results) tell(text string) {
	if len(r.torn) < 4*maxWrong {
		r.torn = append(r.torn, text)
	}
}

// Of returns the entry of a run, nil if there is none.
func (r *Results) Of(run string) *Entry { return r.entries[run] }

// ended returns how many runs have ended, well or not.
func (r *Results) ended() int { return len(r.entries) }

// Torn tells of lines in journals that are no results, or other ones than lines before them.
func (r *Results) Torn() []string { return r.torn }
