package sampling

import "math"

// negligible is the part of the floor of the whole below which nothing costs anything.
const negligible = 1e-9

// part estimates part i of the run as the whole, of which whole is the fit: from the same windows, with the same
// weights. What one window alone lacks of a part the others may have: as
// far as is known, each is a run of its own, with its own noise and its own memory of a cold
// start. Only the patterns of polls are known of the whole: a part that scatters less is moved
// less by them.
func (s *sampler) part(whole *fit, i int) Part {
	t := *s
	t.done = partOf(s.done, i)
	for j := range t.done {
		w := &t.done[j]
		w.Seconds = w.mean(w.Start, w.To)
	}
	// Memory is what pairs of windows see differently in the second step of the later one, relative to its cost
	// there: each as a root mean square.
	pairs := partOf(s.pairs, i)
	var differences, costs float64
	for j := 0; j < len(pairs); j += 2 {
		step := pairs[j+1].From + 1
		a, b := pairs[j].Cost(step), pairs[j+1].Cost(step)
		differences += float64((a - b) * (a - b))
		costs += math.Max(float64(a*a), float64(b*b))
	}
	if t.memory = 0; costs != 0 {
		t.memory = math.Sqrt(differences / costs)
	}
	p := t.add(whole.weights, t.floor(negligible*whole.floor))
	in := t.within(&p)
	p.patterns = whole.patterns
	if all := whole.redrawn(s.shape) + whole.pooled(s.shape); all > 0 {
		p.patterns *= math.Sqrt((p.redrawn(s.shape) + p.pooled(s.shape)) / all)
	}
	return Part{p.seconds, t.interval(&p, &in)}
}

// partOf returns windows that know of part i alone.
func partOf(windows []Window, i int) []Window {
	list := make([]Window, len(windows))
	for j, w := range windows {
		starts := make([]StartTimes, len(w.starts))
		for k := range starts {
			spent := w.starts[k].Parts[i]
			starts[k] = StartTimes{Mean: spent, Last: spent}
		}
		w.starts = starts
		list[j] = w
	}
	return list
}
