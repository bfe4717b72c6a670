package buy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/study"
	"reprise/trace/warning"
)

// This file plans what is replayed, in which order, and forecasts how long it takes: buyer.todo is the plan,
// buyer.forecast the one forecast, of which all that is said of time is made, before the first replay and on the way.

const (
	// usualFactors are searched of HPL's parameters.
	usualFactors = 4
	// fewDraws are made of everything before more are made of anything.
	fewDraws = 5
	// patience is how long all may take if there is no budget, before ranks are a socket's.
	patience = time.Hour
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
		{"more ranks a node", 0, (*machine).longest}, {"more ranks a node", few, (*machine).longest},
		{"more ranks a node", more, (*machine).longest},
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

// forecast says how many replays are still to be made, until when, and until when those of each stage are, in words.
func (b *buyer) forecast(begin time.Duration, skipped bool) (replays int, until time.Duration, stages string) {
	list := b.todo(skipped)
	until = begin
	for i, t := range list {
		n, takes := max(t.draws, 1), time.Duration(0)
		if t.s != nil {
			takes = t.s.cost(b, n)
		} else {
			n, takes = t.m.searchLeft, t.m.searchTime+b.pace["hpl"].Of(t.m.searchCost)
		}
		replays, until = replays+n, until+takes
		if i+1 == len(list) || list[i+1].stage != t.stage {
			stages += fmt.Sprintf("; %s %v", t.stage, study.Round(until.Seconds()))
		}
	}
	return replays, until, strings.TrimPrefix(stages, "; ")
}

// cost forecasts the time of so many replays: by their number of messages, as far as that was right for others.
func (s *series) cost(b *buyer, replays int) time.Duration {
	messages := study.CostOf(s.run, b.Tolerance)
	switch {
	case s.drawn() > 0:
		messages = s.made
	case s.stated != nil: // draws take all of the first round, one replay half of it if that suffices
		messages = 1.5 * s.made
	}
	return b.pace[s.program].Of(float64(replays) * messages)
}

// Prediction is what a request will cost, before the first replay.
type Prediction struct {
	Replays    int
	Time       time.Duration     // about
	Warnings   []warning.Warning // of the sheets
	Text, Line string            // for people: Text has the study that each search is
}

// Predict says what a request will cost.
func Predict(r Request) (p Prediction, err error) {
	b, err := prepare(r)
	if err == nil {
		p = b.predict()
	}
	return p, err
}

// predict forecasts what a request costs.
func (b *buyer) predict() (p Prediction) {
	for _, m := range b.machines {
		p.Warnings = append(p.Warnings, m.warnings...)
		p.Text += fmt.Sprintf("%s\n  HPL   %s, about %v a replay\n  HPCG  %s, about %v a replay\n", m.name, m.usual.title,
			study.Round(m.usual.cost(b, 1).Seconds()), m.hpcg.title, study.Round(m.hpcg.cost(b, 1).Seconds()))
		if m.basis != "" {
			p.Text += "  " + m.basis + "\n"
		}
		p.Text += "\n" + m.studyText(m.dir, b) + "\n"
	}
	replays, until, stages := b.forecast(0, false)
	p.Replays, p.Time = replays, until
	p.Line = fmt.Sprintf("about %d replays, %v in all, guessed from messages; until: %s", replays, study.Round(until.Seconds()), stages)
	p.Text += p.Line + "\n"
	return p
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
		run, p := *m.usual.run, *m.usual.run.HPL
		run.HPL, p.Depth = &p, len(list)%2 // what the search will find may look ahead, which costs more
		list = append(list, &series{program: "hpl", run: &run})
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
