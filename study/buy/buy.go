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
// Intervals: [replay.IntervalOf] of logarithms, since the errors are log-normal. Differences are of pairs of replays with
// the same draws: common random numbers, A. Law, "Simulation Modeling and Analysis", section 11.2. The search: package
// study/tune.
package buy

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/tune"
	"reprise/trace/warning"
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
	machines []*machine
	traces   map[string][]byte // by the identity of a run
	done     int
	// The seconds of all replays, and those that were guessed of them.
	took, guessed float64
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
	if err := b.run(ctx); err != nil && (ctx.Err() == nil || b.machines[0].usual.stated == nil) {
		return nil, err
	}
	res := b.result(ctx.Err() != nil)
	res.Effort = since()
	return res, nil
}

// prepare makes all machines.
func prepare(r Request) (*buyer, error) {
	b := &buyer{Request: r, traces: map[string][]byte{}}
	for _, s := range r.Sheets {
		m, err := b.newMachine(s)
		if err != nil {
			return nil, err
		}
		b.machines = append(b.machines, m)
	}
	return b, nil
}

// run makes the replays, the most important first.
func (b *buyer) run(ctx context.Context) (err error) {
	defer textutil.Stopped(&err)
	rounds := func(of func(*machine) []*series) { // seed 0 is as the models say
		for seed := 0; seed <= b.Draws; seed++ {
			for _, m := range b.machines {
				for _, s := range of(m) {
					textutil.Check(b.play(ctx, s, seed))
				}
				b.tell(m.name + ": " + m.line(b.Level))
			}
		}
	}
	rounds((*machine).answers)
	b.tell("then " + b.predict().Line())
	rounds((*machine).compared)
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
	for _, of := range []func(*machine) []*series{(*machine).bests, (*machine).others, (*machine).longest} {
		rounds(of)
	}
	return nil
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

// compared are the changes of the machine, but for those that take longest.
func (m *machine) compared() []*series { return m.changed(false) }

// longest are the others.
func (m *machine) longest() []*series { return m.changed(true) }

func (m *machine) changed(last bool) (list []*series) {
	for _, c := range m.changes {
		if c.hpl != nil && c.last == last {
			list = append(list, c.hpl, c.hpcg)
		}
	}
	return list
}

// bests are the best configurations, where they are not the usual ones.
func (m *machine) bests() (list []*series) {
	if m.best != nil && m.best != m.usual {
		list = append(list, m.best)
	}
	if m.tuned != nil {
		list = append(list, m.tuned.bests()...)
	}
	return list
}

// others are the best configurations with another value of a parameter.
func (m *machine) others() (list []*series) {
	for _, f := range m.factors {
		list = append(list, f.other)
	}
	return list
}

// left returns how many replays there are still to make of a machine, and about how many seconds they take.
func (m *machine) left(b *buyer) (replays int, seconds float64) {
	add := func(n int, s *series) {
		replays, seconds = replays+n, seconds+float64(n)*s.cost(b)
	}
	for _, s := range slices.Concat(m.answers(), m.compared(), m.bests(), m.others(), m.longest()) {
		if s.skipped == "" {
			add(1+b.Draws-s.played(), s)
		}
	}
	if m.searched == nil {
		add(searchReplays+(1+b.Draws)*(usualFactors+len(m.answers())/2), m.usual)
	}
	return replays, seconds
}

// tell reports how far all is.
func (b *buyer) tell(note string) {
	if b.Note != nil && note != "" {
		b.Note(note)
	}
	if b.Progress != nil {
		all := b.done
		for _, m := range b.machines {
			n, _ := m.left(b)
			all += n
		}
		b.Progress(b.done, all)
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
	p, err := m.plan(filepath.Join(b.Dir, m.dir), b)
	if err != nil {
		return err
	}
	before := b.done
	r, err := tune.Run(ctx, p, tune.Options{Jobs: b.Jobs, Tolerances: []float64{p.Tolerance}, Indifference: indifference, Seed: 1,
		NoFresh: true, Progress: func(done, _ int) {
			b.done = before + done
			b.tell("")
		}})
	m.cut = ctx.Err() != nil
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
		if of.best = of.configured(b, "best", hplOf(p, best)); of.best.same(of.usual) {
			of.best = of.usual
		}
	}
	for f, of := range p.Factors {
		// With another value of this parameter alone: the quickest that the search replayed, else the next value.
		level := func(row int) int { return p.Runs[row].Levels[f] }
		var alone []int
		for i := range p.Runs {
			levels := slices.Clone(p.Runs[i].Levels)
			if levels[f] = level(best); i != best && slices.Equal(levels, p.Runs[best].Levels) {
				alone = append(alone, i)
			}
		}
		rank := func(row int) float64 {
			if s, made := seconds[row]; made {
				return s
			}
			return longest * float64(max(level(row)-level(best), level(best)-level(row)))
		}
		other := slices.MinFunc(alone, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) }) // factors have two levels at least
		m.factors = append(m.factors, &factor{of.Name, of.Levels[level(best)].Label, of.Levels[level(other)].Label,
			m.configured(b, "other "+of.Name, hplOf(p, other))})
	}
	return nil
}

// hplOf returns the parameters of HPL in a row of a plan.
func hplOf(p *study.Plan, row int) *programs.HPL { return p.Config(row).Run.(*programs.HPL) }

// line says in a line what is known of a machine.
func (m *machine) line(level float64) string {
	text := "HPL " + m.figure(m.head(), level).text()
	if m.tuned != nil {
		text += "; with tuned software " + m.tuned.figure(m.tuned.head(), level).text()
	}
	return text
}

// head returns the series that answers for HPL: the best, once there is an interval, else the usual configuration.
func (m *machine) head() *series {
	if m.best != nil && m.best.stated != nil && (len(m.best.draws) >= leastDraws || len(m.usual.draws) < leastDraws) {
		return m.best
	}
	return m.usual
}

// Prediction is what a request will cost, before the first replay.
type Prediction struct {
	Machines []string
	Replays  int
	Seconds  float64           // about
	Warnings []warning.Warning // of the sheets
	text, by string
}

// Predict says what a request will cost.
func Predict(r Request) (*Prediction, error) {
	b, err := prepare(r)
	if err != nil {
		return nil, err
	}
	return b.predict(), nil
}

// predict guesses what a request costs.
func (b *buyer) predict() *Prediction {
	p := &Prediction{by: "guessed from the number of messages"}
	if b.took > 0 {
		p.by = "by those that have ended"
	}
	var text strings.Builder
	for _, m := range b.machines {
		n, seconds := m.left(b)
		p.Machines, p.Replays, p.Seconds = append(p.Machines, m.name), p.Replays+n, p.Seconds+seconds
		p.Warnings = append(p.Warnings, m.warnings...)
		fmt.Fprintf(&text, "%s\n  HPL   %s, about %v a replay\n  HPCG  %s, about %v a replay\n  all   about %d replays, %v\n", m.name,
			m.usual.title, study.Round(m.usual.cost(b)), m.hpcg.title, study.Round(m.hpcg.cost(b)), n, study.Round(seconds))
		if m.basis != "" {
			fmt.Fprintf(&text, "  %s\n", m.basis)
		}
		fmt.Fprintf(&text, "\n%s\n", m.studyText(m.dir, b))
	}
	p.text = text.String()
	return p
}

// cost returns about how many seconds a replay takes: as those of the series that were made, or by the number of
// messages, as far as that was right for all others.
func (s *series) cost(b *buyer) float64 {
	if n := s.played(); n > 0 {
		return s.took / float64(n)
	}
	if b.guessed > 0 {
		return s.guess(b) * b.took / b.guessed
	}
	return s.guess(b)
}

// guess returns what the number of messages says of the seconds that a replay takes.
func (s *series) guess(b *buyer) float64 {
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
	return fmt.Sprintf("about %d replays, %v in all, %s", p.Replays, study.Round(p.Seconds), p.by)
}

// Text is the prediction for people, with the study that each search is.
func (p *Prediction) Text() string { return p.text + p.Line() + "\n" }
