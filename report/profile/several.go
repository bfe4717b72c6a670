package profile

import (
	"sync"

	"reprise/replay"
	"reprise/trace"
)

// Several adds up where time goes in several replays of one program: with several seeds, or of
// the windows of an estimate. Its methods may be called from several goroutines. Use NewSeveral.
type Several struct {
	header *trace.Header
	groups Groups
	parts  sync.Map // *Recorder by part, that have ended
}

// part is a replay with a seed, or of the steps [from, to) of a window.
type part struct {
	seed     uint64
	from, to int
}

// NewSeveral returns a Several for replays of what h describes.
func NewSeveral(h *trace.Header, groups Groups) *Several { return &Several{header: h, groups: groups} }

// ObserveSeed returns the observer of the replay with a seed, and a function to call when it has ended.
func (s *Several) ObserveSeed(seed uint64) (list []replay.Observer, ended func()) {
	return s.observe(part{seed: seed})
}

// Observe returns the observer of a window, for replay.SampleOptions.Observe.
func (s *Several) Observe(from, to int) (list []replay.Observer, ended func()) {
	return s.observe(part{from: from, to: to})
}

func (s *Several) observe(of part) (list []replay.Observer, ended func()) {
	r := NewRecorder(s.header, s.groups)
	return []replay.Observer{r.Observer()}, func() { s.parts.Store(of, r) }
}

// Mean returns a recorder of the mean of the replays with some seeds. They are added in the order of the seeds,
// whatever the order in which they ended, so that the sums have the same bits in every run.
func (s *Several) Mean(seeds []uint64) *Recorder {
	mean := NewRecorder(s.header, s.groups)
	for _, seed := range seeds {
		r, _ := s.parts.Load(part{seed: seed})
		mean.add(r.(*Recorder), 1/float64(len(seeds)))
	}
	return mean
}

// Estimated returns a recorder of the whole run by the windows of an estimate. Each window, with its warm-up, stands
// for the steps of replay.Estimate.WindowWeight, and tells in which phases and where kernels and other kinds of time
// occur. The amount of each kind and kernel is that of the estimate.
func (s *Several) Estimated(e *replay.Estimate) *Recorder {
	sum := NewRecorder(s.header, s.groups)
	for i, w := range e.Windows {
		if r, ok := s.parts.Load(part{from: w.From, to: w.To}); ok {
			sum.add(r.(*Recorder), e.WindowWeight(i)/float64(w.To-w.From))
		}
	}
	// The seconds of all ranks that the estimate has for each frame.
	kernels := replay.KernelNames(s.header)
	means, ofKernels := map[string]float64{}, map[string]float64{}
	for _, k := range e.Kinds {
		means[k.Name] = k.Mean
	}
	for _, k := range e.Kernels {
		ofKernels[k.Name] = k.Mean
		means[replay.TimeCompute.String()] -= k.Mean // the rest is in no kernel
	}
	ranks := float64(e.Header.Ranks)
	want := make([]float64, 0, numKinds+len(kernels))
	for k := range numKinds {
		want = append(want, max(0, means[replay.TimeKind(k).String()])*ranks)
	}
	for _, name := range kernels {
		want = append(want, ofKernels[name]*ranks)
	}
	// Sums are scaled to these, each by the factor of its frame. A frame that no window has seen stays without time.
	totals := make([]float64, len(want))
	each := func(f func(frame int, sums []float64)) {
		for _, stack := range sum.stacks {
			for frame, n := range stack.frames {
				if n > 0 {
					f(frame, sum.sums[n-1])
				}
			}
		}
	}
	each(func(frame int, sums []float64) {
		for _, v := range sums {
			totals[frame] += v
		}
	})
	each(func(frame int, sums []float64) {
		if totals[frame] == 0 {
			return
		}
		for group := range sums {
			sums[group] *= want[frame] / totals[frame]
		}
	})
	return sum
}

// add adds the sums of another recorder of the same program, times weight. Stacks of the other come after the ones that
// they lie in, whose number here is known then.
func (r *Recorder) add(other *Recorder, weight float64) {
	if r.err == nil {
		r.err = other.err
	}
	stacks := make([]int32, len(other.stacks)) // ours, of theirs
	// Phases and kernels have the numbers of the header in both; only stacks are numbered as they come.
	for n, s := range other.stacks {
		if s.around != noStack {
			stacks[n] = r.within(stacks[s.around], s.phase)
		}
		for frame, from := range s.frames {
			if from == 0 {
				continue
			}
			sums := r.sumsOf(stacks[n], frame)
			for group := range sums {
				sums[group] += float64(other.sums[from-1][group] * weight)
			}
		}
	}
}
