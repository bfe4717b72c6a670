package profile

import (
	"compress/gzip"
	"errors"
	"io"
	"math"
	"slices"

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

// Profile returns the profile of a replay that has ended, with comments.
func (r *Recorder) Profile(comments ...string) (*pprof.Profile, error) {
	if r.err != nil {
		return nil, r.err
	}
	b := builder{Recorder: r, kernels: replay.KernelNames(r.header), functions: map[frameName]*pprof.Location{}}
	b.nameKinds()
	b.SampleType = []*pprof.ValueType{{Type: "time", Unit: "nanoseconds"}}
	b.DefaultSampleType, b.Comments = "time", comments
	for i := range r.stacks {
		b.addStack(int32(i))
	}
	if b.total > math.MaxInt64 {
		return nil, errors.New("a profile of more time than 63 bits of nanoseconds hold")
	}
	return &b.Profile, b.CheckValid()
}

// builder builds a profile.
type builder struct {
	pprof.Profile
	*Recorder
	kernels   []string             // their names
	kinds     map[string]frameKind // which kinds of frames have a name
	functions map[frameName]*pprof.Location
	total     float64 // ns
}

// frameName names a frame. The groups of a profile have names of their own.
type frameName struct {
	kind frameKind
	name string
}

// frameKind is a kind of frame, or several of them.
type frameKind uint8

const (
	phaseFrame frameKind = 1 << iota
	timeFrame
	kernelFrame
	groupFrame
)

// suffix tells a frame from those of other kinds with its name. Kinds of time go without.
func (k frameKind) suffix() string {
	switch k {
	case phaseFrame:
		return " (phase)"
	case kernelFrame:
		return " (kernel)"
	case groupFrame:
		return " (ranks)"
	}
	return ""
}

// nameKinds notes which kinds of frames have which names.
func (b *builder) nameKinds() {
	b.kinds = map[string]frameKind{}
	for k := range numKinds {
		b.kinds[replay.TimeKind(k).String()] |= timeFrame
	}
	for kind, names := range map[frameKind][]string{phaseFrame: b.header.Phases, kernelFrame: b.kernels,
		groupFrame: b.groups.Names} {
		for _, name := range names {
			b.kinds[name] |= kind
		}
	}
}

// addStack adds the samples of a nesting of phases.
func (b *builder) addStack(n int32) {
	var phases []*pprof.Location // the innermost first
	for s := &b.stacks[n]; s.around != noStack; s = &b.stacks[s.around] {
		phases = append(phases, b.location(phaseFrame, b.header.Phases[s.phase]))
	}
	for frame, sums := range b.stacks[n].frames {
		if sums == 0 {
			continue
		}
		for group, seconds := range b.sums[sums-1] {
			ns := math.Round(seconds * 1e9)
			if b.total += ns; ns == 0 || b.total > math.MaxInt64 {
				continue
			}
			leaf := []*pprof.Location{b.location(groupFrame, b.groups.Names[group])}
			b.Sample = append(b.Sample, &pprof.Sample{Location: slices.Concat(leaf, b.frame(frame), phases),
				Value: []int64{int64(ns)}})
		}
	}
}

// frame returns what a frame is, the innermost first.
func (b *builder) frame(frame int) []*pprof.Location {
	if frame < numKinds {
		return []*pprof.Location{b.location(timeFrame, replay.TimeKind(frame).String())}
	}
	return []*pprof.Location{
		b.location(kernelFrame, b.kernels[frame-numKinds]),
		b.location(timeFrame, replay.TimeCompute.String()),
	}
}

// location returns that of a frame. pprof tells functions apart by their names.
func (b *builder) location(kind frameKind, name string) *pprof.Location {
	key := frameName{kind, name}
	if l, ok := b.functions[key]; ok {
		return l
	}
	if b.kinds[name] != kind {
		name += kind.suffix()
	}
	id := uint64(len(b.Function) + 1)
	f := &pprof.Function{ID: id, Name: name} // of a SystemName that is the same pprof takes "<...>" and "(...)" out
	l := &pprof.Location{ID: id, Line: []pprof.Line{{Function: f}}}
	b.Function, b.Location = append(b.Function, f), append(b.Location, l)
	b.functions[key] = l
	return l
}
