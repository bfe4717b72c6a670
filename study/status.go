package study

import (
	"fmt"
	"io"
	"time"

	"reprise/internal/textutil"
	"reprise/study/workqueue"
)

// Status is how far a study has come.
type Status struct {
	Study   string         `json:"study"`
	Dir     string         `json:"dir"`
	Runs    int            `json:"runs"`
	Done    int            `json:"done"`    // well
	Failed  int            `json:"failed"`  // and not made again by workers
	Running int            `json:"running"` // leased by workers that live
	Waiting int            `json:"waiting"`
	Wall    float64        `json:"wall_s"`      // of all runs that are done
	Left    float64        `json:"remaining_s"` // predicted, of those that are not, one after the other
	Workers []WorkerStatus `json:"workers"`
	Notes   []string       `json:"warnings"`
}

// WorkerStatus is what one worker does.
type WorkerStatus struct {
	workqueue.Owner
	Alive bool     `json:"alive"`
	Runs  []string `json:"runs"` // that it has leased
}

// NewStatus finds out how far a study has come.
func (p *Plan) NewStatus() (*Status, error) {
	r := p.NewResults()
	if err := r.Update(); err != nil {
		return nil, err
	}
	workers, err := workqueue.Workers(p.dir)
	if err != nil {
		return nil, err
	}
	s := &Status{Study: p.Study, Dir: p.dir, Notes: append([]string{}, r.Torn()...), Workers: []WorkerStatus{}}
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
	s.count(p, r, running)
	return s, nil
}

// count counts runs, each once.
func (s *Status) count(p *Plan, r *Results, running map[string]bool) {
	pace := p.pace(r)
	seen := map[string]bool{}
	for i, run := range p.Runs {
		if seen[run.ID] {
			continue
		}
		seen[run.ID] = true
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
		s.Left += pace.of(p.cost(i)).Seconds()
	}
}

// WriteText writes the status for people.
func (s *Status) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s in %s: %d of %s done, %d running, %d waiting, %d failed\n", s.Study, s.Dir, s.Done,
		textutil.Count(s.Runs, "run"), s.Running, s.Waiting, s.Failed)
	if err != nil {
		return err
	}
	if s.Running+s.Waiting > 0 {
		if _, err = fmt.Fprintf(w, "what is left takes about %v of one processor\n", Round(s.Left)); err != nil {
			return err
		}
	}
	var t textutil.Table
	t.Row("worker", "alive", "runs now")
	for _, o := range s.Workers {
		t.Row(o.Name, map[bool]string{true: "yes", false: "no"}[o.Alive], fmt.Sprint(len(o.Runs)))
	}
	if t.Len() > 1 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	for i, note := range s.Notes {
		if i == maxTold {
			_, err = fmt.Fprintf(w, "... and %d more\n", len(s.Notes)-i)
			break
		}
		if _, err = fmt.Fprintln(w, note); err != nil {
			break
		}
	}
	return err
}

// Round returns seconds as people want to read them.
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
