package sampling

// Window is a part of the run that was simulated.
type Window struct {
	From  int `json:"from"`     // first step that was simulated
	Start int `json:"measured"` // first step that counts: those before it are the warm-up
	To    int `json:"to"`       // behind the last step
	// Seconds is the mean time of the steps that count.
	Seconds float64 `json:"mean_step_s"`

	starts []StartTimes // of step From+i; the last: of the end
	// ref is the part [refFrom, refTo) that stands for the steps around the window:
	// all that counts, but for the beginning and the end of the run.
	refFrom, refTo int
}

// start returns the mean time at which the ranks begin a step in [From, To], on the
// window's own clock.
func (w *Window) start(step int) float64 { return w.starts[step-w.From].Mean }

// lag returns how long after the mean the last rank begins a step.
func (w *Window) lag(step int) float64 {
	d := w.starts[step-w.From]
	return d.Last - d.Mean
}

// Cost returns the time of step: by how much it delays the ranks on average. The
// costs of consecutive steps of one run add up to the difference of two times,
// however the ranks are shifted against each other.
func (w *Window) Cost(step int) float64 { return w.start(step+1) - w.start(step) }

// mean returns the mean cost of the steps [a, b).
func (w *Window) mean(a, b int) float64 { return (w.start(b) - w.start(a)) / float64(b-a) }

// sampler is an estimation under way.
type sampler struct {
	o       Options
	shape   shape
	memory  float64     // relative difference that a cold start was seen to make after a short warm-up
	rough   *roughCosts // where windows are put; nil: evenly
	pairs   []Window    // of coupled runs, in twos: that which showed it, and the same place begun later
	done    []Window    // in order; the first begins with the run, the last ends with it
	spent   int         // steps simulated
	rounds  int
	limit   float64 // seconds that were left at the beginning, if there is a time limit
	perStep float64 // seconds of a worker for one step, if there is a time limit
}

// shape is how windows look: how many steps at the beginning do not count, and how
// many do.
type shape struct {
	warmup, length int
	// coupled: the warm-up was seen to lose nearly all memory of the cold start.
	coupled bool
}

func (s shape) steps() int { return s.warmup + s.length }

// span is a window to be simulated.
type span struct{ from, to int }

// head and tail are the ends of the run. The head starts cold as the run does, so
// that all of it counts, but only what is behind a warm-up stands for the steps
// after it. The tail ends with what ends the run, which stands for nothing else.
func (s *sampler) head() span { return span{s.o.First, s.o.First + s.shape.steps()} }
func (s *sampler) tail() span {
	return span{s.o.End - s.shape.steps() - s.shape.length, s.o.End}
}

// arrange tells each window which of its steps count, for the present shape.
func (s *sampler) arrange() {
	for i := range s.done {
		w := &s.done[i]
		w.Start = w.From + s.shape.warmup
		w.refFrom, w.refTo = w.Start, w.To
		switch {
		case w.From == s.o.First:
			w.Start = w.From
		case w.To == s.o.End:
			w.refTo = w.refFrom + s.shape.length
		}
		w.Seconds = w.mean(w.Start, w.To)
	}
}
