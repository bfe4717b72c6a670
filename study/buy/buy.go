// Package buy answers what somebody asks who is to buy a machine, from data sheets of one to three machines alone.
//
//	r, err := buy.Run(ctx, buy.Request{Sheets: sheets, Fill: 0.8, Tolerance: 0.02, Level: 0.8, Draws: 5, Jobs: 2, Dir: dir})
//	err = r.WriteText(os.Stdout)
//	err = r.WriteHTML(file)   // one page that needs nothing else
//
// Each sheet becomes a machine directory (package calibrate/sheet), and so does each change of it, such as a second
// uplink (machine.go). HPL and HPCG are replayed on them as the models say and on machines drawn from the models'
// errors (series.go). forecast.go says in which order, and how long that takes. The order matters since all may end at any
// time: [Result] has what there is, and says what is missing (result.go, text.go).
//
// # Units
//
// Rates are in Gflop/s, memory in bytes, times in seconds; fill, tolerance and level are shares.
//
// # Errors
//
// Errors of a sheet have its file and line. A change that is not possible is no error but a note of the result. If the
// context ends before the first replay has, the error is its cause.
//
// # Source
//
// Intervals: [replay.IntervalOf] of logarithms, since the errors are log-normal. Differences are of pairs of replays with
// the same draws: common random numbers, A. Law, "Simulation Modeling and Analysis", section 11.2. The search: package
// study/tune.
package buy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/tune"
)

const (
	// searchTolerance is that of the search's replays at least, and indifference the difference that it does not seek.
	searchTolerance = 0.03
	indifference    = 0.01
	// searchShare is how much of the time that is left then the searches of all machines get.
	searchShare = 0.6
	// longest is more seconds than a run takes.
	longest = 1e30
)

// Request says which machines are compared, and how closely.
type Request struct {
	Sheets    []Sheet
	Fill      float64       // the share of the memory that HPL's matrix and HPCG take
	Tolerance float64       // of the estimates
	Level     float64       // of the intervals
	Draws     int           // of machines, for each interval: at least 3
	Jobs      int           // cores
	Budget    time.Duration // that Run will have; 0: not limited
	Dir       string        // for machine directories: there, and empty
	Tool      string        // what makes the traces
	// Progress, if set, is called with the number of replays that are done, of about how many, and how much time is left,
	// and Note with what is known so far.
	Progress func(done, all int, left time.Duration)
	Note     func(text string)
	Begin    func(Prediction) // is called, if set, before the first replay
}

// Sheet is a data sheet: the name of its file, and its text.
type Sheet struct {
	File string
	Text []byte
}

// buyer is a request under way.
type buyer struct {
	Request
	machines []*machine
	traces   map[string][]byte // by the identity of a run
	done     int
	end      time.Time              // zero: none
	pace     map[string]*study.Pace // of each program
}

// Run replays all that there is to say of the machines, until the context ends.
func Run(ctx context.Context, r Request) (*Result, error) {
	b, err := prepare(r)
	if err != nil {
		return nil, err
	}
	since := tune.Begin()
	if r.Begin != nil {
		r.Begin(b.predict())
	}
	b.end, _ = ctx.Deadline()
	if err := b.run(ctx); err != nil && (ctx.Err() == nil || b.machines[0].usual.stated == nil) {
		return nil, err
	}
	res := b.result(ctx.Err() != nil)
	res.Effort = since()
	if n, _, until := b.forecast(time.Duration(res.Wall*float64(time.Second)), true); n > 0 {
		res.Advice = "The --budget that has it, by the pace until now: " + until + "."
	}
	return res, nil
}

// prepare makes all machines.
func prepare(r Request) (b *buyer, err error) {
	defer textutil.Stopped(&err)
	b = &buyer{Request: r, traces: map[string][]byte{}, pace: map[string]*study.Pace{
		"hpl": {Jobs: r.Jobs}, "hpcg": {Jobs: r.Jobs}}}
	for _, s := range r.Sheets {
		b.machines = append(b.machines, b.newMachine(s))
	}
	return b, nil
}

// run does what is to be done, in the order of the plan.
func (b *buyer) run(ctx context.Context) error {
	for list := b.todo(false); len(list) > 0; list = b.todo(false) {
		m, s := list[0].m, list[0].s
		b.tell(m.name + ": " + m.line())
		if s != nil {
			if err := b.play(ctx, s, list[0].draws); err != nil {
				return err
			}
			continue
		}
		// All searches get the same time, together a share of what was left before the first.
		within, cancel := context.WithCancel(ctx)
		if !b.end.IsZero() {
			parts := float64(len(b.machines)) * (1/searchShare - 1)
			for i := range list {
				if list[i].s == nil {
					parts++
				}
			}
			within, cancel = context.WithTimeout(ctx, time.Duration(float64(time.Until(b.end))/parts))
		}
		err := b.search(within, m)
		m.cut = within.Err() != nil
		cancel()
		if err != nil && (ctx.Err() != nil || !m.cut) { // else the machine goes on without a search
			return err
		}
	}
	return nil
}

// tell reports how far all is.
func (b *buyer) tell(note string) {
	if b.Note != nil && note != "" {
		b.Note(note)
	}
	if b.Progress != nil {
		n, left, _ := b.forecast(0, false)
		if !b.end.IsZero() {
			left = min(left, time.Until(b.end))
		}
		b.Progress(b.done, b.done+n, left)
	}
}

// factor is a parameter of HPL that was searched.
type factor struct {
	name, value, instead string
	other                *series // with another value, and all else the same
}

// search looks for the best parameters of HPL on a machine, in a study of few configurations. A search that the context
// ends has the best so far.
func (b *buyer) search(ctx context.Context, m *machine) error {
	p, o, before := m.plan, m.searchOptions(b), b.done
	o.Progress = func(done, all int, left time.Duration) {
		if b.done = before + done; done > 0 {
			m.searchLeft, m.searchTime, m.searchCost = all-done, left, 0
		}
		b.tell("")
	}
	r, err := tune.Run(ctx, p, o)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	m.searched = r

	// The rows of the plan by their names, with the time that the search found.
	row, seconds := map[string]int{}, map[int]float64{}
	for i := range p.Runs {
		row[p.Levels(i)] = i
	}
	for _, made := range r.Runs {
		seconds[row[made.Configuration]] = made.Makespan
	}
	best := row[r.Best.Name]
	for _, of := range []*machine{m, m.tuned} {
		if of == nil {
			continue
		}
		if of.best = of.configured(b, "best", p.Config(best).Run); of.best.same(of.usual) {
			of.best = of.usual
		}
	}
	for f, of := range p.Factors {
		// With another value of this parameter alone: the quickest that the search replayed, else the next value. Factors
		// have two levels at least.
		level := func(row int) int { return p.Runs[row].Levels[f] }
		other, least := 0, math.Inf(1)
		for i := range p.Runs {
			levels := slices.Clone(p.Runs[i].Levels)
			if levels[f] = level(best); i == best || !slices.Equal(levels, p.Runs[best].Levels) {
				continue
			}
			takes := cmp.Or(seconds[i], longest*math.Abs(float64(level(i)-level(best))))
			if takes < least {
				other, least = i, takes
			}
		}
		m.factors = append(m.factors, &factor{of.Name, of.Levels[level(best)].Label, of.Levels[level(other)].Label,
			m.configured(b, "other "+of.Name, p.Config(other).Run)})
	}
	return nil
}

// searchOptions returns those of the search.
func (m *machine) searchOptions(b *buyer) tune.Options {
	return tune.Options{Jobs: b.Jobs, Tolerances: []float64{m.plan.Tolerance}, Indifference: indifference, Seed: 1, NoFresh: true}
}

// line says in a line what is known of a machine.
func (m *machine) line() string {
	text := "HPL " + m.figure(m.head()).text()
	if m.tuned != nil {
		text += "; with tuned software " + m.tuned.figure(m.tuned.head()).text()
	}
	return text
}

// head returns the series that answers for HPL: the best, once there is an interval, else the usual configuration.
func (m *machine) head() *series {
	if m.best != nil && m.best.stated != nil && (m.best.drawn() > 0 || m.usual.drawn() == 0) {
		return m.best
	}
	return m.usual
}
