package tune

import (
	"fmt"
	"io"
	"strings"

	"reprise/internal/textutil"
	"reprise/study"
)

// Prediction says what would be searched, and what it may cost.
type Prediction struct {
	plan *study.Plan
	o    Options
}

// Predict predicts a search; what a replay takes is guessed from its number of messages.
func Predict(p *study.Plan, o Options) *Prediction { return &Prediction{p, o} }

// WriteText writes the prediction for people.
func (pr *Prediction) WriteText(w io.Writer) error {
	p := pr.plan
	exact := p.Predict("", pr.o.Jobs)
	var tolerances []string
	for _, t := range pr.o.Tolerances {
		tolerances = append(tolerances, ToleranceName(t))
	}
	var t textutil.Table
	if r := hplOf(p.Config(0)); r != nil {
		t.Row("order", textutil.Thousands(r.N))
	}
	for _, f := range p.Factors {
		var labels []string
		for _, l := range f.Levels {
			labels = append(labels, l.Label)
		}
		t.Row(f.Name, strings.Join(labels, ", "))
	}
	t.Row("configurations", textutil.Thousands(len(p.Runs)))
	t.Row("replays", strings.Join(tolerances, ", then ")+", of those that may be the best")
	t.Row("time", fmt.Sprintf("about %v, if a tenth of all is replayed exactly; all of them %v, %d at once (guessed from the number of messages)", study.Round(exact.Time.Seconds()/10), study.Round(exact.Time.Seconds()), pr.o.Jobs))
	t.Row("longest replay", fmt.Sprintf("about %v", study.Round(exact.Longest.Seconds())))
	t.Row("memory", "about "+study.Bytes(exact.Memory))
	return t.Write(w)
}
