// Package profile adds up where the time of a replay goes, as a profile for pprof.
//
// A [Recorder] observes a replay. Its stacks lead from the phases that a rank is in, the
// outermost first, over what its time is spent on and the kernel to a group of ranks: those
// of a host, or of a row of the process grid where there are very many hosts.
//
//	groups := profile.GroupsOf(header, hosts)
//	recorder := profile.NewRecorder(header, groups)
//	options.Observers = []replay.Observer{recorder.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	err = recorder.Write(file)
//
// The sums of a kind of time, a kernel or a phase are those of the result's tables, of all
// ranks together.
//
// Labels of a profile are left to its caller, which knows what the run is of.
//
// [Several] has the mean of several seeds, and what the windows of an estimate tell of a run.
//
// # Units
//
// The samples are nanoseconds of simulated time, of all ranks together.
//
// # Errors
//
// What would need more than MaxSums sums, or more nanoseconds than 63 bits hold, is an error
// of Write.
//
// # Source
//
// The format is that of github.com/google/pprof, profile.proto.
package profile

import (
	"errors"
	"fmt"
	"slices"

	"reprise/replay"
	"reprise/trace"
)

// MaxSums bounds the sums of a profile: one for each group of ranks, each nesting of phases,
// and each kernel or other kind of time that occurs there.
const MaxSums = 1 << 22

var errTooMany = errors.New("a profile of too many nestings of phases, kernels and groups of ranks")

// Recorder adds up where the time of one replay goes.
//
// A nesting of phases has a number (stack), which each rank holds, so that a piece of time costs two indices and an
// addition. Nestings and sums are made when they first occur; beyond MaxSums Write fails, and the replay goes on.
type Recorder struct {
	header *trace.Header
	groups Groups
	ranks  []rank
	stacks []stack
	inner  map[phaseIn]int32 // stacks by the one around them
	sums   [][]float64       // seconds, by group, of the frames of stacks
	room   int               // for more of them
	err    error
}

// rank is the nesting of phases that a rank is in.
type rank struct {
	phases []uint16 // that are open, the outermost first
	stack  int32    // of them
}

// stack is a nesting of phases.
type stack struct {
	around int32 // the same without the innermost; of none: none
	phase  uint16
	frames []int32 // by frame: which of the sums, from 1 on; 0: none
}

// phaseIn is a phase in a stack.
type phaseIn struct {
	stack int32
	phase uint16
}

const noStack = -1

// numKinds is how many kinds of time there are. Frames are the kinds, then the kernels.
const numKinds = replay.NumTimeKinds

// NewRecorder returns a recorder of a replay of what h describes.
func NewRecorder(h *trace.Header, groups Groups) *Recorder {
	return &Recorder{
		header: h, groups: groups, ranks: make([]rank, len(groups.Of)),
		stacks: []stack{{around: noStack,
			frames: make([]int32, numKinds+len(h.Kernels))}}, inner: map[phaseIn]int32{}, room: MaxSums,
	}
}

// Observer returns the functions of the recorder, for replay.Options.Observers.
func (r *Recorder) Observer() replay.Observer {
	return replay.Observer{TimePasses: r.timePasses, Marked: r.marked}
}

// timePasses adds a time of a rank to the sums of its frame.
func (r *Recorder) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	frame := int(k)
	if kernel >= 0 {
		frame = numKinds + int(kernel)
	}
	if sums := r.sumsOf(r.ranks[rank].stack, frame); sums != nil {
		sums[r.groups.Of[rank]] += to - from
	}
}

// sumsOf returns the sums of a frame of a stack, by group; nil if there is no room.
func (r *Recorder) sumsOf(stack int32, frame int) []float64 {
	n := &r.stacks[stack].frames[frame]
	if *n == 0 {
		if !r.takes(len(r.groups.Names)) {
			return nil
		}
		r.sums = append(r.sums, make([]float64, len(r.groups.Names)))
		*n = int32(len(r.sums))
	}
	return r.sums[*n-1]
}

// takes takes room for so many sums more, if there is any.
func (r *Recorder) takes(n int) bool {
	if n > r.room {
		r.err = errTooMany
		return false
	}
	r.room -= n
	return true
}

// marked begins and ends phases. As in the tables of a result, a phase that is entered twice counts once.
func (r *Recorder) marked(rank int32, mark trace.Action, at float64) {
	if mark.Kind != trace.KindPhase {
		return
	}
	rk := &r.ranks[rank]
	i := slices.Index(rk.phases, mark.Sym)
	switch ends := mark.Flags&trace.FlagEnd != 0; {
	case ends && i >= 0:
		rk.phases = slices.Delete(rk.phases, i, i+1)
		// A phase may end before those within it: the stack is that of the others, in their order.
		rk.stack = 0
		for _, p := range rk.phases {
			rk.stack = r.within(rk.stack, p)
		}
	case !ends && i < 0:
		rk.phases = append(rk.phases, mark.Sym)
		rk.stack = r.within(rk.stack, mark.Sym)
	}
}

// within returns the stack of a phase in another stack, or without room for it the other one.
func (r *Recorder) within(around int32, phase uint16) int32 {
	key := phaseIn{around, phase}
	n, ok := r.inner[key]
	if !ok {
		frames := len(r.stacks[0].frames)
		if !r.takes(frames) {
			return around
		}
		n = int32(len(r.stacks))
		r.stacks = append(r.stacks, stack{around: around, phase: phase, frames: make([]int32, frames)})
		r.inner[key] = n
	}
	return n
}

// MaxGroups is how many groups of ranks a profile tells apart: each multiplies the number of sums.
const MaxGroups = 256

// Groups says which ranks are counted together.
type Groups struct {
	Names []string
	Of    []int // by rank: its group
}

// GroupsOf returns the hosts, whose names are given for each rank. Where these are more than
// MaxGroups it returns the rows or columns of the process grid, and where there is no such
// grid blocks of ranks of consecutive numbers.
func GroupsOf(h *trace.Header, hosts []string) Groups {
	var g Groups
	numbers := map[string]int{}
	for _, host := range hosts {
		n, ok := numbers[host]
		if !ok {
			n = len(g.Names)
			numbers[host] = n
			g.Names = append(g.Names, host)
		}
		g.Of = append(g.Of, n)
	}
	if len(g.Names) <= MaxGroups {
		return g
	}
	ranks := len(hosts)
	g = Groups{Of: make([]int, ranks)}
	for i := range h.CommFamilies {
		f := &h.CommFamilies[i]
		if n := len(f.Groups); f.Name == "" || f.Name == "-" || n < 2 || n > MaxGroups {
			continue
		}
		for i := range f.Groups {
			g.Names = append(g.Names, fmt.Sprintf("%s %d", f.Name, i))
			for m := range f.Groups[i].Len() {
				g.Of[f.Groups[i].Member(m)] = i
			}
		}
		return g
	}
	// Without a grid: blocks of as many ranks each, the last one of fewer.
	per := (ranks + MaxGroups - 1) / MaxGroups
	for r := range ranks {
		if r%per == 0 {
			g.Names = append(g.Names, fmt.Sprintf("ranks %d to %d", r, min(r+per, ranks)-1))
		}
		g.Of[r] = r / per
	}
	return g
}
