package record

import (
	"reprise/replay"
	"reprise/trace"
)

// numKinds is the number of replay's kinds of time.
const numKinds = int(replay.TimeOverhead) + 1

// rows are what each rank has spent its time on in its column so far, in seconds: a number for
// each kind, kernel and phase. A kernel's time is none of its kind before addKernels.
type rows struct {
	kernels, phases int
	width           int
	now             []float64 // [ranks][width]
	open            []float64 // [ranks][phases]: time from which an open phase counts, or notOpen
}

const notOpen = -1

func newRows(h *trace.Header) rows {
	s := rows{kernels: len(h.Kernels), phases: len(h.Phases)}
	s.width = numKinds + s.kernels + s.phases
	s.now = make([]float64, h.Ranks*s.width)
	s.open = make([]float64, h.Ranks*s.phases)
	for i := range s.open {
		s.open[i] = notOpen
	}
	return s
}

// of returns what a rank has spent its time on.
func (s *rows) of(rank int32) []float64 { return s.now[int(rank)*s.width:][:s.width] }

func (s *rows) openOf(rank int32) []float64 { return s.open[int(rank)*s.phases:][:s.phases] }

// beginPhase begins a phase of a rank, unless it is open.
func (s *rows) beginPhase(rank int32, phase uint16, at float64) {
	if open := &s.openOf(rank)[phase]; *open == notOpen {
		*open = at
	}
}

// endPhase ends a phase of a rank, if it is open.
func (s *rows) endPhase(rank int32, phase uint16, at float64) {
	if open := &s.openOf(rank)[phase]; *open != notOpen {
		s.of(rank)[numKinds+s.kernels+int(phase)] += at - *open
		*open = notOpen
	}
}

// beginNoEarlier has the open phases of a rank count from a time at the earliest.
func (s *rows) beginNoEarlier(rank int32, at float64) {
	for p, begun := range s.openOf(rank) {
		if begun != notOpen {
			s.openOf(rank)[p] = max(begun, at)
		}
	}
}

// close returns what a rank has spent its time on up to a time, from which open phases go on.
func (s *rows) close(rank int32, at float64) []float64 {
	now, open := s.of(rank), s.openOf(rank)
	for p, begun := range open {
		if begun != notOpen {
			now[numKinds+s.kernels+p] += at - begun
			open[p] = at
		}
	}
	return now
}

// addKernels adds the kernels to the kind of time that they are.
func (s *rows) addKernels(now []float64) {
	sum := now[replay.TimeCompute]
	for _, v := range now[numKinds:][:s.kernels] {
		sum += v
	}
	now[replay.TimeCompute] = sum
}

// names returns the names of the rows.
func (s *rows) names(h *trace.Header) []string {
	var names []string
	for k := range numKinds {
		names = append(names, replay.TimeKind(k).String())
	}
	return append(append(names, replay.KernelNames(h)...), h.Phases...)
}
