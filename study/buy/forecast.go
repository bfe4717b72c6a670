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
	// searchReplays is about how many replays a search makes of these few configurations; its end is not known before.
	searchReplays = 20
	// usualFactors is how many parameters of HPL are searched.
	usualFactors = 4
	// fewDraws are made of everything before more are made of anything.
	fewDraws = 5
	// patience is how many seconds all may take if there is no budget, before ranks are a socket's.
	patience = 3600
	// remembered is the part of what is known of the pace that the next replay leaves.
	remembered = 0.8
	// longestStage comes last.
	longestStage = "more ranks a node"
	// slack is by how much more time is advised than is forecast.
	slack = 1.25
)

// task is what is done in one go: a replay as the models say, or of some draws, or the search of a machine.
type task struct {
	stage  string
	m      *machine
	s      *series // nil: the search
	draws  int     // 0: as the models say
	series int     // so many, of which all but one are not known yet
}

// todo returns what is still to be done, in the order in which it is: everything has an answer before any answer gets
// an interval but that of the two programs, and an interval of few draws before one of more. Skipped series are left
// out unless all are asked for.
func (b *buyer) todo(skipped bool) (list []task) {
	add := func(stage string, draws int, of func(*machine) []*series) {
		for _, m := range b.machines {
			for _, s := range of(m) {
				if (s.skipped == "" || skipped) && (draws == 0 && s.stated == nil || draws > s.drawn()) {
					list = append(list, task{stage, m, s, draws, 1})
				}
			}
		}
	}
	// What the search will find is not known before: its series cost about as much as the usual ones.
	compared := func(stage string, draws int) {
		for _, m := range b.machines {
			if m.searched == nil && !m.cut {
				list = append(list, task{stage, m, m.usual, draws, usualFactors + len(m.answers())/2})
			}
		}
		add(stage, draws, (*machine).compared)
	}
	few := min(b.Draws, fewDraws)
	add("HPL and HPCG", 0, (*machine).answers)
	add("their intervals", few, (*machine).answers)
	for _, m := range b.machines {
		if m.searched == nil && (!m.cut || skipped) {
			list = append(list, task{"search of HPL's parameters", m, nil, 0, 1})
		}
	}
	compared("other parameters, changes", 0)
	compared("their intervals, too", few)
	if b.Draws > few {
		add("more draws", b.Draws, (*machine).answers)
		compared("more draws", b.Draws)
	}
	add(longestStage, 0, (*machine).longest)
	add(longestStage, few, (*machine).longest)
	if b.Draws > few {
		add(longestStage, b.Draws, (*machine).longest)
	}
	return list
}

// replays returns how many replays a task is, about.
func (t *task) replays(b *buyer) int {
	if t.s != nil {
		return t.series * max(t.draws, 1)
	}
	if t.m == b.searching {
		return b.searchLeft
	}
	return searchReplays
}

// seconds forecasts what a task takes.
func (t *task) seconds(b *buyer) float64 {
	if t.s == nil && t.m == b.searching {
		return b.searchTime.Seconds()
	}
	s := t.s
	if s == nil {
		s = t.m.usual
	}
	return float64(t.replays(b)) * s.cost(b)
}

// left returns how many replays are still to be made, and about how many seconds they take: no more than there are.
func (b *buyer) left() (replays int, seconds float64) {
	for _, t := range b.todo(false) {
		replays += t.replays(b)
		seconds += t.seconds(b)
	}
	if !b.end.IsZero() {
		seconds = min(seconds, time.Until(b.end).Seconds())
	}
	return replays, seconds
}

// pace is what replays took, and what was forecast for them. The last ones count most: the load of a machine changes.
type pace struct{ took, forecast float64 }

func (p *pace) add(took, forecast float64) {
	p.took, p.forecast = float64(remembered*p.took)+took, float64(remembered*p.forecast)+forecast
}

// of corrects a forecast.
func (p *pace) of(forecast float64) float64 {
	if p.forecast > 0 {
		return forecast * p.took / p.forecast
	}
	return forecast
}

// cost forecasts the seconds of a replay, by those of the series that were made, else by its number of messages, either
// as far as that was right for others.
func (s *series) cost(b *buyer) float64 { return b.paceOf(s).of(s.forecast(b)) }

// forecast is cost before it is corrected by the pace.
func (s *series) forecast(b *buyer) float64 {
	if s.made > 0 {
		return s.took / float64(s.made)
	}
	return study.CostOf(s.run, b.Tolerance) * study.SecondsPerMessage / float64(max(b.Jobs, 1))
}

// paceOf returns the pace of replays that are forecast as those of a series are.
func (b *buyer) paceOf(s *series) *pace {
	if s.made > 0 {
		return &b.again
	}
	if s.program == "hpcg" {
		return &b.hpcg
	}
	return &b.hpl
}

// Prediction is what a request will cost, before the first replay.
type Prediction struct {
	Machines []string
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
		p.Machines, p.Warnings = append(p.Machines, m.name), append(p.Warnings, m.warnings...)
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
		p.Replays, p.Seconds = p.Replays+of.replays(b), p.Seconds+of.seconds(b)
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
		seconds += list[i].seconds(b)
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
