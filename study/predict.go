package study

import (
	"fmt"
	"io"
	"time"

	"reprise/internal/textutil"
)

// Prediction is what a study would cost.
type Prediction struct {
	Design  string
	Rows    int           // of the table
	Runs    int           // of which so many are to be made
	Made    int           // are made already
	Jobs    int           // at once
	Time    time.Duration // of all that are to be made, by so many at once
	Longest time.Duration // of one run
	Memory  int64         // of all at once, in bytes
	Timed   bool          // runs of the study have been timed
	Within  bool          // a tolerance: runs that are too chaotic for it are replayed exactly, which nobody knows before
}

// Predict predicts what a study costs on this machine, by what is in its directory, if anything is.
func (p *Plan) Predict(dir string, jobs int) *Prediction {
	r := NewResults(dir)
	if dir != "" {
		_ = r.Update() // without results it is a guess
	}
	pace := p.pace(r)
	pr := &Prediction{Design: p.Design, Rows: len(p.Runs), Runs: p.Different(), Jobs: jobs,
		Memory: int64(jobs) * p.Memory(), Timed: pace.seconds > 0, Within: p.Tolerance > 0}
	var sum time.Duration
	for _, row := range p.order() {
		if e := r.Of(p.Runs[row].ID); e != nil && e.Outcome != nil {
			pr.Made++
			continue
		}
		d := pace.of(p.cost(row))
		sum += d
		pr.Longest = max(pr.Longest, d)
	}
	pr.Time = max(sum/time.Duration(jobs), pr.Longest)
	return pr
}

// Memory returns about how much memory the largest run takes, in bytes.
func (p *Plan) Memory() int64 {
	most := int64(0)
	for _, c := range p.configs {
		most = max(most, c.memory())
	}
	return most
}

// WriteText writes the prediction for people.
func (pr *Prediction) WriteText(w io.Writer) error {
	by, about := "guessed from the number of messages", "about"
	if pr.Timed {
		by = "by the runs that are made"
	}
	if pr.Within {
		about = "at least"
	}
	var t textutil.Table
	t.Row("design", pr.Design)
	t.Row("rows of the table", textutil.Thousands(pr.Rows))
	t.Row("runs to make", textutil.Thousands(pr.Runs-pr.Made))
	t.Row("runs at once", textutil.Thousands(pr.Jobs))
	t.Row("time", fmt.Sprintf("%s %v, %s", about, Round(pr.Time.Seconds()), by))
	t.Row("longest run", fmt.Sprintf("%s %v", about, Round(pr.Longest.Seconds())))
	t.Row("memory", "about "+Bytes(pr.Memory))
	return t.Write(w)
}

// Bytes returns a number of bytes as people read it.
func Bytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
