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

	mu    sync.Mutex
	parts map[part]*Recorder
}

// part is a replay with a seed, or of the steps [from, to) of a window.
type part struct {
	seed     uint64
	from, to int
}

// NewSeveral returns a Several for replays of what h describes.
func NewSeveral(h *trace.Header, groups Groups) *Several {
	return &Several{header: h, groups: groups, parts: map[part]*Recorder{}}
}

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
	return []replay.Observer{r.Observer()}, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parts[of] = r
	}
}

// Mean returns a recorder of the mean of the replays with some seeds.
func (s *Several) Mean(seeds []uint64) *Recorder {
	mean := NewRecorder(s.header, s.groups)
	for _, seed := range seeds {
		mean.add(s.parts[part{seed: seed}], 1/float64(len(seeds)))
	}
	return mean
}

// Estimated returns a recorder of what the windows of an estimate tell of the whole run. Each of
// them, with its warm-up, stands for the steps of replay.Estimate.WindowWeight, and says in which phases and
// where kernels and other kinds of time occur; how much there is of each is the estimate's.
func (s *Several) Estimated(e *replay.Estimate) *Recorder {
	sum := NewRecorder(s.header, s.groups)
	for i, w := range e.Windows {
		if r, ok := s.parts[part{from: w.From, to: w.To}]; ok {
			sum.add(r, e.WindowWeight(i)/float64(w.To-w.From))
		}
	}
	sum.scale(framesOf(e, replay.KernelNames(s.header)))
	return sum
}

// framesOf returns what an estimate has for each frame, in seconds of all ranks.
func framesOf(e *replay.Estimate, kernels []string) []float64 {
	ranks := float64(e.Header.Ranks)
	means := map[string]float64{}
	for _, k := range e.Kinds {
		means[k.Name] = k.Mean
	}
	ofKernels := map[string]float64{}
	for _, k := range e.Kernels {
		ofKernels[k.Name] = k.Mean
		means[replay.TimeCompute.String()] -= k.Mean // what is left is in no kernel
	}
	frames := make([]float64, 0, numKinds+len(kernels))
	for k := range numKinds {
		frames = append(frames, max(0, means[replay.TimeKind(k).String()])*ranks)
	}
	for _, name := range kernels {
		frames = append(frames, ofKernels[name]*ranks)
	}
	return frames
}

// add adds what another recorder of the same program has, a second of it as so many.
func (r *Recorder) add(other *Recorder, weight float64) {
	if r.err == nil {
		r.err = other.err
	}
	stacks := make([]int32, len(other.stacks)) // ours, of theirs
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

// scale has the sums of each frame add up to given seconds.
func (r *Recorder) scale(seconds []float64) {
	totals := make([]float64, len(seconds))
	r.eachSum(func(frame int, sum *float64) { totals[frame] += *sum })
	r.eachSum(func(frame int, sum *float64) {
		if totals[frame] > 0 {
			*sum *= seconds[frame] / totals[frame]
		}
	})
}

// eachSum calls f with the frame of each sum, in order.
func (r *Recorder) eachSum(f func(frame int, sum *float64)) {
	for _, s := range r.stacks {
		for frame, n := range s.frames {
			if n == 0 {
				continue
			}
			for group := range r.sums[n-1] {
				f(frame, &r.sums[n-1][group])
			}
		}
	}
}
