package study

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"reprise/internal/textutil"
	"reprise/study/workqueue"
)

// This file tells how far a study has come: Plan.NewStatus.

// NewStatus returns how far a study has come. Each run counts once, whatever number of rows it has.
func (p *Plan) NewStatus() (_ *Status, err error) {
	defer textutil.Stopped(&err)
	r := p.NewResults()
	textutil.Check(r.Update())
	workers := textutil.Must(workqueue.Workers(p.dir))
	s := &Status{Study: p.Study, Dir: p.dir, Notes: append([]string{}, r.Torn()...), Workers: []WorkerStatus{}}
	// Leases of dead workers are shown with their worker, and their runs count as waiting.
	running := map[string]bool{}
	for _, w := range workers {
		of := WorkerStatus{Owner: w.Owner, Alive: w.Alive, Runs: []string{}}
		for _, id := range w.Items {
			if r.Of(id) == nil {
				of.Runs = append(of.Runs, id)
				running[id] = running[id] || w.Alive
			}
		}
		s.Workers = append(s.Workers, of)
	}
	pace := p.pace(r)
	for _, i := range p.once() {
		run := &p.Runs[i]
		s.Runs++
		switch e := r.Of(run.ID); {
		case e != nil && e.Outcome != nil:
			s.Done++
			s.Wall += e.Wall
			continue
		case e != nil:
			s.Failed++
			s.Notes = append(s.Notes, p.Describe(i)+": "+e.Error)
			continue
		case running[run.ID]:
			s.Running++
		default:
			s.Waiting++
		}
		s.Left += pace.Of(p.cost(i)).Seconds()
	}
	return s, nil
}

// Status is how far a study has come.
//
// A run counts in one of four states: done, if a journal has its time; failed, if journals have only
// errors of it; running, if a living worker has its lease; and waiting otherwise, also with the lease
// of a dead worker. Rows that are the same run count once.
type Status struct {
	Study   string         `json:"study"`
	Dir     string         `json:"dir"`
	Runs    int            `json:"runs"`
	Done    int            `json:"done"`    // well
	Failed  int            `json:"failed"`  // and not made again by workers
	Running int            `json:"running"` // leased by living workers
	Waiting int            `json:"waiting"`
	Wall    float64        `json:"wall_s"`      // of all runs that are done
	Left    float64        `json:"remaining_s"` // predicted, of those that are not, one after the other
	Workers []WorkerStatus `json:"workers"`
	Notes   []string       `json:"warnings"`
}

// WorkerStatus is the status of one worker.
type WorkerStatus struct {
	workqueue.Owner
	Alive bool     `json:"alive"`
	Runs  []string `json:"runs"` // that it has leased
}

// WriteText writes the status for people.
func (s *Status) WriteText(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s in %s: %d of %s done, %d running, %d waiting, %d failed\n", s.Study, s.Dir, s.Done,
		textutil.Count(s.Runs, "run"), s.Running, s.Waiting, s.Failed)
	if s.Running+s.Waiting > 0 {
		fmt.Fprintf(&text, "what is left takes about %v of one processor\n", Round(s.Left))
	}
	var t textutil.Table
	t.Row("worker", "alive", "runs now")
	for _, o := range s.Workers {
		t.Row(o.Name, map[bool]string{true: "yes", false: "no"}[o.Alive], fmt.Sprint(len(o.Runs)))
	}
	if t.Len() > 1 {
		t.Write(&text) // a Builder takes all
	}
	// Notes: torn lines of journals, failed runs, and what callers have added.
	for i, note := range s.Notes {
		if i == maxTold {
			fmt.Fprintf(&text, "... and %d more\n", len(s.Notes)-i)
			break
		}
		fmt.Fprintln(&text, note)
	}
	return textutil.Write(w, text.String())
}

// Round rounds seconds to a length that is easy to read.
func Round(seconds float64) time.Duration {
	d := time.Duration(seconds * 1e9)
	switch {
	case d > time.Minute:
		return d.Round(time.Second)
	case d > time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// Bytes writes a number of bytes with a unit.
func Bytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// ParseBytes reads a size of memory in bytes, such as 8GB or 512 MiB; a number without a unit is one of bytes.
func ParseBytes(text string) (int64, error) {
	number, unit := text, 1.0
	for _, u := range []struct { // the longer names first
		name  string
		bytes float64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"B", 1},
	} {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = n, u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if v *= unit; err != nil || !(v >= 1 && v < 1e18) {
		return 0, fmt.Errorf("%q, want a size such as 8GB", text)
	}
	return int64(v), nil
}
