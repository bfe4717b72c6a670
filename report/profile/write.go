package profile

import (
	"compress/gzip"
	"errors"
	"io"
	"math"

	pprof "github.com/google/pprof/profile"

	"reprise/replay"
)

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
