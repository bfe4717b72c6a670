package replay

// WindowWeight returns how many steps window i, with its warm-up, stands for: those that are nearer to it
// than to the windows beside it; or, where steps are of few kinds, so many that all windows together
// stand for as many of each kind as there are, as near as that is possible.
func (e *Estimate) WindowWeight(i int) float64 {
	if e.WindowSteps != nil {
		return e.WindowSteps[i]
	}
	return e.nearest(i)
}

// nearest returns how many steps are nearer to window i than to the windows beside it.
func (e *Estimate) nearest(i int) float64 {
	between := func(i int) int { // windows i-1 and i, in quarters of steps
		return e.Windows[i-1].Start + e.Windows[i-1].To + e.Windows[i].Start + e.Windows[i].To
	}
	first, end := 4*e.First, 4*(e.Last+1)
	if i > 0 {
		first = between(i)
	}
	if i+1 < len(e.Windows) {
		end = between(i + 1)
	}
	return float64(end-first) / 4
}

// fittings is how often the weights of windows are fitted to the kinds of steps.
const fittings = 100

// byKind returns how many steps each window stands for, where those from First on are of the kinds
// work, each of which takes so many seconds. Taken w[i] times, the windows have as many steps of each
// kind as the run:
//
//	sum over windows of w[i] * (steps of kind k in window i) = steps of kind k
//
// or come as near to that as weights >= 0 can, in seconds: steps that take long count most. Source:
// W. Richardson (1972) and L. Lucy (1974), from what is nearest.
func (e *Estimate) byKind(work []int32, seconds []float64) []float64 {
	want := stepsOfKinds(work)
	weights, stands := make([]float64, len(e.Windows)), make([]float64, len(e.Windows))
	kinds := func(i int) []int32 { return work[e.Windows[i].From-e.First : e.Windows[i].To-e.First] }
	for i := range weights {
		weights[i] = e.nearest(i) / float64(len(kinds(i)))
	}
	for range fittings {
		have := make([]float64, len(want))
		for i, w := range weights {
			for _, k := range kinds(i) {
				have[k] += w
			}
		}
		for i := range weights {
			fitted, all := 0.0, 0.0
			for _, k := range kinds(i) {
				fitted += float64(seconds[k] * want[k] / have[k])
				all += seconds[k]
			}
			if all > 0 {
				weights[i] *= fitted / all
			}
		}
	}
	for i, w := range weights {
		stands[i] = w * float64(len(kinds(i)))
	}
	return stands
}

// secondsOfKinds returns how long a step of each kind takes in the windows, on average; 0: none has one.
func (e *Estimate) secondsOfKinds(work []int32) []float64 {
	seconds := make([]float64, len(stepsOfKinds(work)))
	steps := make([]float64, len(seconds))
	for i := range e.Windows {
		w := &e.Windows[i]
		for step := w.From; step < w.To; step++ {
			kind := work[step-e.First]
			seconds[kind] += w.Cost(step)
			steps[kind]++
		}
	}
	for kind, n := range steps {
		seconds[kind] /= max(1, n)
	}
	return seconds
}

// stepsOfKinds returns how many of each kind there are.
func stepsOfKinds(work []int32) []float64 {
	var counts []float64
	for _, k := range work {
		for int(k) >= len(counts) {
			counts = append(counts, 0)
		}
		counts[k]++
	}
	return counts
}
