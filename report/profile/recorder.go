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
// The sums of a kind of time, a kernel or a phase are those of the result's tables, of all ranks together.
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
// What would need more than MaxSums sums, or more nanoseconds than 63 bits hold, is an error of Write.
//
// # Source
//
// The format is that of github.com/google/pprof, profile.proto.
package profile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	pprof "github.com/google/pprof/profile"

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

// takes reserves room for n more sums. Without room it returns false, and Write will fail.
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

// GroupsOf returns the hosts, whose names are given for each rank. Where these are more than MaxGroups it returns the
// rows or columns of the process grid, and where there is no such grid blocks of ranks of consecutive numbers.
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

// Write writes the profile of a replay that has ended, compressed by gzip as pprof reads it.
// The comments say what it is of, if not of a whole run (go tool pprof -comments).
func (r *Recorder) Write(w io.Writer, comments ...string) error {
	p, err := r.Profile(comments...)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(w)
	if err := p.WriteUncompressed(zip); err != nil {
		return err
	}
	return zip.Close()
}

// Profile returns the profile of a replay that has ended, with comments. Sums of less than half a nanosecond are left
// out.
func (r *Recorder) Profile(comments ...string) (*pprof.Profile, error) {
	if r.err != nil {
		return nil, r.err
	}
	kernels := replay.KernelNames(r.header)
	// All names come first: a frame has a suffix only where a frame of another kind has its name.
	b := builder{kinds: map[string]frameKind{}, functions: map[frameName]*pprof.Location{}}
	for k := range numKinds {
		b.kinds[replay.TimeKind(k).String()] |= timeFrame
	}
	for kind, names := range map[frameKind][]string{phaseFrame: r.header.Phases, kernelFrame: kernels,
		groupFrame: r.groups.Names} {
		for _, name := range names {
			b.kinds[name] |= kind
		}
	}
	b.SampleType = []*pprof.ValueType{{Type: "time", Unit: "nanoseconds"}}
	b.DefaultSampleType, b.Comments = "time", comments

	// The samples of each nesting of phases. Locations begin with the innermost: the group of ranks, the kernel, the
	// kind of time, and the phases.
	//
	// Values are int64, and tools add them up: the total must fit.
	total := 0.0 // ns
	for i := range r.stacks {
		var phases []*pprof.Location
		for s := &r.stacks[i]; s.around != noStack; s = &r.stacks[s.around] {
			phases = append(phases, b.location(phaseFrame, r.header.Phases[s.phase]))
		}
		for frame, sums := range r.stacks[i].frames {
			if sums == 0 {
				continue
			}
			for group, seconds := range r.sums[sums-1] {
				ns := math.Round(seconds * 1e9)
				if total += ns; ns == 0 || total > math.MaxInt64 {
					continue
				}
				list := []*pprof.Location{b.location(groupFrame, r.groups.Names[group])}
				kind := replay.TimeCompute
				if frame < numKinds {
					kind = replay.TimeKind(frame)
				} else {
					list = append(list, b.location(kernelFrame, kernels[frame-numKinds]))
				}
				list = append(list, b.location(timeFrame, kind.String()))
				b.Sample = append(b.Sample, &pprof.Sample{Location: append(list, phases...), Value: []int64{int64(ns)}})
			}
		}
	}
	if total > math.MaxInt64 {
		return nil, errors.New("a profile of more time than 63 bits of nanoseconds hold")
	}
	return &b.Profile, b.CheckValid()
}

// builder builds a profile. A function and its location have the same number, from 1 on, as pprof asks for.
type builder struct {
	pprof.Profile
	kinds     map[string]frameKind // by name: the kinds of frames that have it
	functions map[frameName]*pprof.Location
}

// frameName names a frame. The groups of a profile have names of their own.
type frameName struct {
	kind frameKind
	name string
}

// frameKind is a kind of frame, or, as a set of bits, several of them.
type frameKind uint8

const (
	phaseFrame frameKind = 1 << iota
	timeFrame
	kernelFrame
	groupFrame
)

// suffixes tell frames from those of other kinds with their name. Kinds of time go without.
var suffixes = map[frameKind]string{phaseFrame: " (phase)", kernelFrame: " (kernel)", groupFrame: " (ranks)"}

// location returns the location of a frame, one for each. pprof tells functions apart by their names.
func (b *builder) location(kind frameKind, name string) *pprof.Location {
	key := frameName{kind, name}
	if l, ok := b.functions[key]; ok {
		return l
	}
	if b.kinds[name] != kind {
		name += suffixes[kind]
	}
	id := uint64(len(b.Function) + 1)
	f := &pprof.Function{ID: id, Name: name} // of a SystemName that is the same pprof takes "<...>" and "(...)" out
	l := &pprof.Location{ID: id, Line: []pprof.Line{{Function: f}}}
	b.Function, b.Location = append(b.Function, f), append(b.Location, l)
	b.functions[key] = l
	return l
}
