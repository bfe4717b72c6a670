package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"reprise/trace"
)

// The steps of a trace may be of few kinds, with the same work in all steps of a kind. Estimates and repeat.go use
// that.

// Steps count as repeated if they are of at most fewKinds kinds, and one more for each newKind steps.
const fewKinds, newKind = 16, 4

// workOfSteps numbers the work of the steps [first, end): steps of one number are made of the same calls with the same
// columns. Calls at the end of a step that only mark phases count if marks is set: no time of the step passes after
// them. The result is nil if the steps do not count as repeated, or if none comes twice.
func workOfSteps(t *trace.Trace, first, end int, marks bool) ([]int32, error) {
	var (
		program = t.Program()
		sum     = sha256.New() // of the calls of the step at hand
		marked  []byte         // further calls that only mark, which count if others follow
		kinds   = map[[sha256.Size]byte]int32{}
		work    []int32
	)
	finish := func() { // numbers the step at hand
		marked = marked[:0]
		var name [sha256.Size]byte
		sum.Sum(name[:0])
		sum.Reset()
		if _, ok := kinds[name]; !ok {
			kinds[name] = int32(len(kinds))
		}
		work = append(work, kinds[name])
	}
	works := func(block int32) bool { // a block that does more than mark
		return block != trace.NoBlock && slices.ContainsFunc(program.Block(int(block)).Items,
			func(item trace.Item) bool { return item.Op != trace.OpMark })
	}
	step := first - 1
	for chunk, err := range t.Chunks(first, end) {
		if err != nil {
			return nil, err
		}
		for _, u := range chunk.Units() {
			if u.Step < first || u.Step >= end {
				continue
			}
			if u.Step != step {
				if u.Step != step+1 { // steps are missing
					return nil, nil
				}
				if step >= first {
					finish()
				}
				step = u.Step
			}
			if len(kinds) > fewKinds+len(work)/newKind {
				return nil, nil
			}
			if chunk.Vectors() > 0 { // calls name vectors by numbers that hold in their chunk
				sum.Write(binary.AppendVarint(nil, int64(chunk.Number())))
			}
			for i := range u.Calls {
				c := &u.Calls[i]
				// Calls of the same bytes are equal: all columns stand there, with their lengths.
				marked = binary.AppendVarint(marked, int64(c.Site))
				for _, mask := range c.Masks {
					marked = appendColumn(marked, mask)
				}
				marked = appendColumn(appendColumn(marked, c.Starts), c.Blocks)
				for _, args := range c.Args {
					marked = appendColumn(marked, args)
				}
				if marks || slices.ContainsFunc(c.Blocks, works) {
					sum.Write(marked)
					marked = marked[:0]
				}
			}
		}
	}
	if step >= first {
		finish()
	}
	if len(work) != end-first || len(kinds) > fewKinds+len(work)/newKind || len(kinds) == len(work) {
		return nil, nil
	}
	return work, nil
}

// appendColumn appends the length and the values of a column of a call.
func appendColumn[T int32 | int64](code []byte, column []T) []byte {
	code = binary.AppendVarint(code, int64(len(column)))
	for _, v := range column {
		code = binary.AppendVarint(code, int64(v))
	}
	return code
}

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
	// A window ends where its middle and that of the next one are equally far. Sums of four steps make quarters.
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

// byKind returns how many steps each window stands for. work has the kind of each step from First on, seconds the
// duration of each kind. Taken w[i] times, the windows have as many steps of each kind as the run:
//
//	sum over windows of w[i] * (steps of kind k in window i) = steps of kind k
//
// or come as near to that as weights >= 0 can, in seconds: steps that take long count most. Source:
// W. Richardson (1972) and L. Lucy (1974), from what is nearest.
func (e *Estimate) byKind(work []int32, seconds []float64) []float64 {
	// Each round multiplies the weight of a window by the mean, over its steps and weighted by their
	// seconds, of the steps of a kind that are there to those that the windows stand for.
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
