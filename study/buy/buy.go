// Package buy answers what somebody asks who is to buy a machine, from data sheets of one to three machines alone.
//
//	r, err := buy.Run(ctx, buy.Request{Sheets: sheets, Fill: 0.8, Tolerance: 0.02, Level: 0.8, Draws: 5, Jobs: 2, Dir: dir})
//	err = r.WriteText(os.Stdout)
//	err = r.WriteHTML(file)   // one page that needs nothing else
//
// Each sheet becomes a machine directory (package calibrate/sheet), and so does each change of it, such as a second
// uplink (machine.go). HPL and HPCG are replayed on them as the models say and on machines drawn from the models'
// errors (series.go). This file says in which order: an answer first, then its interval, then what changes bring, then the
// search for the best parameters of HPL. The order matters since all may end at any time: [Result] has what there
// is, and says what is missing (result.go, text.go).
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
// Intervals: [replay.IntervalOf]. Differences are of pairs of replays with the same draws: common random numbers, A. Law,
// "Simulation Modeling and Analysis", section 11.2. The search: package study/tune.
package buy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"reprise/study"
	"reprise/study/tune"
	"reprise/tracegen/programs"
)

const (
	// searchTolerance is that of the search's replays at least, and indifference the difference that it does not seek.
	searchTolerance = 0.03
	indifference    = 0.01
	// searchReplays is about how many replays a search makes of these few configurations; its end is not known before.
	searchReplays = 20
	// searchShare is how much of the time that is left then the searches of all machines get.
	searchShare = 0.6
	// leastDraws is how many draws an interval needs.
	leastDraws = 3
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
	// Progress, if set, is called with the number of replays that are done and of all, as far as it is known, and Note
	// with what is known so far.
	Progress func(done, all int)
	Note     func(text string)
	Begin    func(*Prediction) // is called, if set, before the first replay
}

// Sheet is a data sheet: the name of its file, and its text.
type Sheet struct {
	File string
	Text []byte
}

// buyer is a request under way.
type buyer struct {
	Request
	machines  []*machine
	traces    map[string][]byte // by the identity of a run
	done, all int
}

// Run replays all that there is to say of the machines, until the context ends.
func Run(ctx context.Context, r Request) (*Result, error) {
	b, err := prepare(r)
	if err != nil {
		return nil, err
	}
	since := tune.Begin()
	if r.Begin != nil {
		p, err := b.predict()
		if err != nil {
			return nil, err
		}
		r.Begin(p)
	}
	if err := b.run(ctx); err != nil && (ctx.Err() == nil || b.machines[0].usual.stated == nil) {
		return nil, err
	}
	res := b.result(ctx.Err() != nil)
	res.Effort = since()
	return res, nil
}

// prepare makes all machines, and counts the replays.
func prepare(r Request) (*buyer, error) {
	b := &buyer{Request: r, traces: map[string][]byte{}}
	for _, s := range r.Sheets {
		m, err := b.newMachine(s)
		if err != nil {
			return nil, err
		}
		b.machines = append(b.machines, m)
		b.all += 2*(1+r.Draws) + searchReplays
		b.all += r.Draws * len(m.compared())
	}
	return b, nil
}

// run makes the replays, the most important first.
func (b *buyer) run(ctx context.Context) error {
	for _, m := range b.machines {
		for _, s := range []*series{m.usual, m.hpcg} {
			if err := b.play(ctx, s, 0); err != nil {
				return err
			}
		}
		b.tell(m.name + ": " + m.line(b.Level))
	}
	rounds := func(of func(*machine) []*series) error {
		for seed := 1; seed <= b.Draws; seed++ {
			for _, m := range b.machines {
				for _, s := range of(m) {
					if err := b.play(ctx, s, seed); err != nil {
						return err
					}
				}
				b.tell(m.name + ": " + m.line(b.Level))
			}
		}
		return nil
	}
	if err := rounds(func(m *machine) []*series { return []*series{m.usual, m.hpcg} }); err != nil {
		return err
	}
	if err := rounds((*machine).compared); err != nil {
		return err
	}
	begin := time.Now()
	for i, m := range b.machines {
		within, cancel := ctx, context.CancelFunc(func() {})
		if end, limited := ctx.Deadline(); limited {
			share := searchShare * end.Sub(begin).Seconds() * float64(i+1) / float64(len(b.machines))
			within, cancel = context.WithDeadline(ctx, begin.Add(time.Duration(share*float64(time.Second))))
		}
		err := b.search(within, m)
		over := within.Err() != nil // the machine goes on without a search
		cancel()
		if err != nil && (ctx.Err() != nil || !over) {
			return err
		}
	}
	if err := rounds(func(m *machine) []*series { return []*series{m.best} }); err != nil {
		return err
	}
	if err := rounds((*machine).others); err != nil {
		return err
	}
	return rounds(func(m *machine) (list []*series) { // what takes longest
		for _, c := range m.changes {
			if c.last {
				list = append(list, c.hpl, c.hpcg)
			}
		}
		return list
	})
}

// compared returns the changes of the machine.
func (m *machine) compared() (list []*series) {
	for _, c := range m.changes {
		if c.hpl != nil && !c.last {
			list = append(list, c.hpl, c.hpcg)
		}
	}
	return list
}

// others returns the best configurations with another value of a parameter.
func (m *machine) others() (list []*series) {
	for _, f := range m.factors {
		list = append(list, f.other)
	}
	return list
}

// tell reports how far all is.
func (b *buyer) tell(note string) {
	if b.Note != nil && note != "" {
		b.Note(note)
	}
	if b.Progress != nil {
		b.Progress(b.done, max(b.done, b.all))
	}
}

// factor is a parameter of HPL that was searched.
type factor struct {
	name, value, instead string
	other                *series // the quickest with another value
}

// search looks for the best parameters of HPL on a machine, in a study of few configurations. A search that the context
// ends has the best so far.
func (b *buyer) search(ctx context.Context, m *machine) error {
	p, err := m.plan(filepath.Join(b.Dir, m.name), b)
	if err != nil {
		return err
	}
	before := b.done
	planned := b.all - searchReplays
	r, err := tune.Run(ctx, p, tune.Options{Jobs: b.Jobs, Tolerances: []float64{p.Tolerance}, Indifference: indifference, Seed: 1,
		NoFresh: true, Progress: func(done, all int) {
			b.done, b.all = before+done, planned+max(all, 1)
			b.tell("")
		}})
	m.cut = ctx.Err() != nil
	b.all = planned + b.done - before
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
	m.best = m.configured(b, "best", hplOf(p, best))
	if m.best.same(m.usual) {
		m.best = m.usual
	} else {
		b.all += b.Draws
	}
	for f, of := range p.Factors {
		other := -1
		for i := range p.Runs { // the quickest that was replayed with another level
			if s, made := seconds[i]; made && p.Runs[i].Levels[f] != p.Runs[best].Levels[f] && (other < 0 || s < seconds[other]) {
				other = i
			}
		}
		label := func(row int) string { return of.Levels[p.Runs[row].Levels[f]].Label }
		if other >= 0 {
			m.factors = append(m.factors, &factor{of.Name, label(best), label(other), m.configured(b, "other "+of.Name, hplOf(p, other))})
			b.all += b.Draws
		}
	}
	return nil
}

// hplOf returns the parameters of HPL in a row of a plan.
func hplOf(p *study.Plan, row int) *programs.HPL { return p.Config(row).Run.(*programs.HPL) }

// line says in a line what is known of a machine.
func (m *machine) line(level float64) string {
	f := m.figure(m.head(), level)
	if f == nil {
		return "nothing is known yet"
	}
	return "HPL " + f.text()
}

// head returns the series that answers for HPL: the best, once there is an interval, else the usual configuration.
func (m *machine) head() *series {
	if m.best != nil && (len(m.best.draws) >= leastDraws || len(m.usual.draws) < leastDraws) {
		return m.best
	}
	return m.usual
}

// Prediction is what a request will cost, before the first replay.
type Prediction struct {
	Machines []string
	Replays  int
	Seconds  float64 // about, guessed from the number of messages
	text     string
}

// Predict says what a request will cost.
func Predict(r Request) (*Prediction, error) {
	b, err := prepare(r)
	if err != nil {
		return nil, err
	}
	return b.predict()
}

// predict guesses what a request costs.
func (b *buyer) predict() (*Prediction, error) {
	p := &Prediction{}
	var text strings.Builder
	for _, m := range b.machines {
		n, seconds := m.cost(b)
		p.Machines, p.Replays, p.Seconds = append(p.Machines, m.name), p.Replays+n, p.Seconds+seconds
		fmt.Fprintf(&text, "%s\n  HPL   %s, about %v a replay\n  HPCG  %s, about %v a replay\n  all   about %d replays, %v\n", m.name,
			m.usual.title, study.Round(m.usual.cost(b)), m.hpcg.title, study.Round(m.hpcg.cost(b)), n, study.Round(seconds))
		if m.basis != "" {
			fmt.Fprintf(&text, "  %s\n", m.basis)
		}
		fmt.Fprintf(&text, "\n%s\n", m.studyText(m.name, b))
	}
	p.text = text.String()
	return p, nil
}

// cost returns how many replays all that there is to say of a machine takes, and about how many seconds.
func (m *machine) cost(b *buyer) (replays int, seconds float64) {
	hpl := 1 + 2*b.Draws + searchReplays + usualFactors*b.Draws // usual and best
	replays, seconds = hpl+1+b.Draws, float64(hpl)*m.usual.cost(b)+float64(1+b.Draws)*m.hpcg.cost(b)
	for _, s := range m.compared() {
		replays, seconds = replays+b.Draws, seconds+float64(b.Draws)*s.cost(b)
	}
	return replays, seconds
}

// cost returns about how many seconds a replay takes.
func (s *series) cost(b *buyer) float64 {
	steps, messages := s.run.Size()
	most := float64(sampledSteps)
	if _, ok := s.run.(*programs.HPCG); ok {
		most = fewIterations
	}
	return min(steps, most) * messages * secondsPerMessage / float64(max(b.Jobs, 1))
}

const (
	// secondsPerMessage is about what a message costs on one core.
	secondsPerMessage = 1e-6
	// An estimate plays about so many steps of HPL, and iterations of HPCG, warm-ups included.
	sampledSteps, fewIterations = 600, 6
	// usualFactors is how many parameters of HPL are searched.
	usualFactors = 4
	// patience is how many seconds all may take if there is no budget, before ranks are a socket's.
	patience = 3600
)

// Line says in one line what a request will cost.
func (p *Prediction) Line() string {
	return fmt.Sprintf("about %d replays, %v in all, guessed from the number of messages", p.Replays, study.Round(p.Seconds))
}

// Text is the prediction for people, with the study that each search is.
func (p *Prediction) Text() string { return p.text + p.Line() + "\n" }
