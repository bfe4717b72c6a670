package buy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/trace/warning"
)

// This file plans what is replayed, in which order, and forecasts how long it takes: buyer.todo is the plan, task.seconds
// the one forecast, of which all that is said of time is made, before the first replay and on the way.

const (
	// A search makes about so many replays of these few configurations, for so many parameters of HPL.
	searchReplays, usualFactors = 20, 4
	// fewDraws are made of everything before more are made of anything.
	fewDraws = 5
	// longestStage comes last.
	longestStage = "more ranks a node"
	// patience is how many seconds all may take if there is no budget, before ranks are a socket's.
	patience = 3600
	// remembered is the part of what is known of the pace that the next replay leaves.
	remembered = 0.8
	// slack is by how much more time is advised than is forecast.
	slack = 1.25
)

// task is what is done in one go: replays of a series, or the search of a machine.
type task struct {
	stage string
	m     *machine
	s     *series // nil: the search
	draws int     // 0: as the models say
}

// todo returns what is still to be done, in the order in which it is: everything has an answer before any answer gets
// an interval but that of the two programs, and an interval of few draws before one of more. Skipped series are left
// out unless they are asked for.
func (b *buyer) todo(skipped bool) (list []task) {
	few, more := min(b.Draws, fewDraws), b.Draws
	if more == few {
		more = -1 // none
	}
	for _, stage := range []struct {
		name  string
		draws int
		of    func(*machine) []*series
	}{
		{"HPL and HPCG", 0, (*machine).answers}, {"their intervals", few, (*machine).answers},
		{"search of HPL's parameters", 0, nil},
		{"other parameters, changes", 0, (*machine).compared}, {"their intervals, too", few, (*machine).compared},
		{"more draws", more, (*machine).answers}, {"more draws", more, (*machine).compared},
		{longestStage, 0, (*machine).longest}, {longestStage, few, (*machine).longest}, {longestStage, more, (*machine).longest},
	} {
		for _, m := range b.machines {
			if stage.of == nil {
				if m.searched == nil && (!m.cut || skipped) {
					list = append(list, task{stage.name, m, nil, 0})
				}
				continue
			}
			for _, s := range stage.of(m) {
				if (s.skipped == "" || skipped) && (stage.draws == 0 && s.stated == nil || stage.draws > s.drawn()) {
					list = append(list, task{stage.name, m, s, stage.draws})
				}
			}
		}
	}
	return list
}

// cost forecasts how many replays a task is, and how many seconds they take.
func (t *task) cost(b *buyer) (replays int, seconds float64) {
	switch {
	case t.s != nil:
		replays = max(t.draws, 1)
		return replays, float64(replays) * t.s.cost(b)
	case t.m.searchLeft > 0:
		return t.m.searchLeft, t.m.searchTime.Seconds()
	}
	return searchReplays, searchReplays * t.m.usual.cost(b)
}

// left returns how many replays are still to be made, and about how many seconds they take: no more than there are.
func (b *buyer) left() (replays int, seconds float64) {
	for _, t := range b.todo(false) {
		n, s := t.cost(b)
		replays, seconds = replays+n, seconds+s
	}
	if !b.end.IsZero() {
		seconds = min(seconds, time.Until(b.end).Seconds())
	}
	return replays, seconds
}

// cost forecasts the seconds of a replay: by its number of messages, as far as that was right for others.
func (s *series) cost(b *buyer) float64 { return b.pace[s.program].of(s.guess(b)) }

// guess is cost before it is corrected by the pace.
func (s *series) guess(b *buyer) float64 {
	return study.CostOf(s.run, b.Tolerance) * study.SecondsPerMessage / float64(max(b.Jobs, 1))
}

// pace is what replays took, and what was guessed of them. The last ones count most: the load of a machine changes.
type pace struct{ took, guessed float64 }

func (p *pace) add(took, guessed float64) {
	p.took, p.guessed = float64(remembered*p.took)+took, float64(remembered*p.guessed)+guessed
}

// of corrects a guess.
func (p *pace) of(guess float64) float64 {
	if p == nil || p.guessed == 0 {
		return guess
	}
	return guess * p.took / p.guessed
}

// Prediction is what a request will cost, before the first replay.
type Prediction struct {
	Replays  int
	Seconds  float64           // about
	Warnings []warning.Warning // of the sheets
	text     string
	budget   time.Duration
}

// Predict says what a request will cost.
func Predict(r Request) (*Prediction, error) {
	b, err := prepare(r)
	if err != nil {
		return nil, err
	}
	return b.predict(), nil
}

// predict forecasts what a request costs.
func (b *buyer) predict() *Prediction {
	p := &Prediction{budget: b.Budget}
	var text strings.Builder
	for _, m := range b.machines {
		p.Warnings = append(p.Warnings, m.warnings...)
		fmt.Fprintf(&text, "%s\n  HPL   %s, about %v a replay\n  HPCG  %s, about %v a replay\n", m.name,
			m.usual.title, study.Round(m.usual.cost(b)), m.hpcg.title, study.Round(m.hpcg.cost(b)))
		if m.basis != "" {
			fmt.Fprintf(&text, "  %s\n", m.basis)
		}
		fmt.Fprintf(&text, "\n%s\n", m.studyText(m.dir, b))
	}
	var t textutil.Table
	t.Row("in this order", "replays", "until about")
	list := b.todo(false)
	for i, of := range list {
		n, s := of.cost(b)
		p.Replays, p.Seconds = p.Replays+n, p.Seconds+s
		if i+1 == len(list) || list[i+1].stage != of.stage {
			t.Row(of.stage, textutil.Thousands(p.Replays), study.Round(p.Seconds).String())
		}
	}
	_ = t.Write(&text) // a Builder takes all
	p.text = text.String()
	return p
}

// Line says in one line what a request will cost.
func (p *Prediction) Line() string {
	line := fmt.Sprintf("about %d replays, %v in all, guessed from the number of messages", p.Replays, study.Round(p.Seconds))
	if p.budget > 0 && p.Seconds > p.budget.Seconds() {
		line += fmt.Sprintf(": --budget %v ends before", p.budget)
	}
	return line
}

// Text is the prediction for people, with the study that each search is.
func (p *Prediction) Text() string { return p.text + p.Line() + "\n" }

// advice says which budget has what is missing; "": nothing is. spent is what all took until now.
func (b *buyer) advice(spent float64) (text string) {
	seconds := 0.0
	list := b.todo(true)
	for i := range list {
		_, s := list[i].cost(b)
		seconds += s
		if last := i+1 == len(list); last || list[i].stage != longestStage && list[i+1].stage == longestStage {
			what := "all"
			if !last {
				what = "all but " + longestStage
			}
			text += fmt.Sprintf("About %v more would give %s: --budget %dm. ", study.Round(seconds), what, int(slack*(spent+seconds)/60)+1)
		}
	}
	return strings.TrimSpace(text)
}

// The series of a machine, in the order in which they are replayed.

// answers are those of the two programs, with typical and with tuned software.
func (m *machine) answers() []*series {
	list := []*series{m.usual, m.hpcg}
	if m.tuned != nil {
		list = append(list, m.tuned.usual, m.tuned.hpcg)
	}
	return list
}

// compared are the best configurations where they are not the usual ones, those with another value of a parameter, and
// the changes of the machine but for those that take longest: the cheap ones first, of which more have their turn.
func (m *machine) compared() []*series {
	list := m.bests()
	for m.searched == nil && !m.cut && len(list) < usualFactors+len(m.answers())/2 {
		list = append(list, &series{program: "hpl", run: m.usual.run}) // what the search will find costs about as much
	}
	for _, f := range m.factors {
		list = append(list, f.other)
	}
	list = append(list, m.changed(false)...)
	slices.SortStableFunc(list, func(a, b *series) int {
		return cmp.Compare(study.CostOf(a.run, searchTolerance), study.CostOf(b.run, searchTolerance))
	})
	return list
}

// longest are the other changes.
func (m *machine) longest() []*series { return m.changed(true) }

func (m *machine) changed(last bool) (list []*series) {
	for _, c := range m.changes {
		if c.hpl != nil && c.last == last {
			list = append(list, c.hpl, c.hpcg)
		}
	}
	return list
}

func (m *machine) bests() (list []*series) {
	if m.best != nil && m.best != m.usual {
		list = append(list, m.best)
	}
	if m.tuned != nil {
		list = append(list, m.tuned.bests()...)
	}
	return list
}
