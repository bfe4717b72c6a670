package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/internal/snapshot"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/platforms"
)

// A checkpoint is the identity of a run, the wall time spent so far, and the state of the engine (snapshot.go).
// It is taken between two events, when no rank is runnable. A run that goes on from it ends with the same bits
// as one that was never stopped, which is why everything that results depend on is part of the identity.

// checkpointVersion is the version of the format of checkpoints. The types whose fields they hold
// are part of the identity.
const checkpointVersion = 4

// ErrOtherRun marks the error of a checkpoint that belongs to a replay of something
// else.
var ErrOtherRun = errors.New("checkpoint of another run")

// errNotResumable is the error of a source that does not know how to be saved.
var errNotResumable = errors.New("this source of actions cannot be saved in a checkpoint")

// A Resumable is a Source that can go on where a checkpoint left it.
type Resumable interface {
	Source
	// SaveState writes the places of all ranks.
	SaveState(w io.Writer) error
	// RestoreState sets the places of all ranks to those that SaveState has written. It
	// must take no more from r than that.
	RestoreState(r io.Reader) error
}

// A Checkpoint is a file with the state of a replay, to go on from.
type Checkpoint struct {
	File io.ReaderAt
	Size int64  // bytes
	Name string // for errors
}

// IsCheckpoint reports whether head, the first bytes of a file, is that of a
// checkpoint.
func IsCheckpoint(head []byte) bool { return snapshot.IsFile(head) }

// A Property is something that the result of a replay depends on, by the name that
// messages give to it.
type Property = platforms.Prop

// Save writes a checkpoint. The seconds of wall time that the run has taken since it
// was begun or resumed are only noted, for Result.WallBefore.
func (p *Pause) Save(w io.Writer, wallSeconds float64) error {
	return snapshot.Write(w, checkpointVersion, func(s *snapshot.State) {
		identity, wall := p.identity(), p.before+wallSeconds
		s.Vars(&identity, &wall)
		p.engine.state(s)
	})
}

// resume sets the state to that of a checkpoint.
func (p *Pause) resume(f *Checkpoint) error {
	var other error
	err := snapshot.Read(f.File, f.Size, checkpointVersion, func(s *snapshot.State) {
		var found []Property
		if s.Vars(&found, &p.before); s.Err() != nil {
			return
		}
		if other = difference(found, p.identity()); other == nil {
			p.engine.state(s)
		}
	})
	if other != nil {
		err = other
	}
	if err == nil {
		return nil
	}
	return sniff.InsteadAt(fmt.Errorf("%s: %w", f.Name, textutil.Brief(err)), f.Name, f.File, sniff.Checkpoint)
}

// difference names the properties in which a checkpoint and a run differ; nil if
// there are none.
func difference(found, want []Property) error {
	var list []string
	value := func(of []Property, name string) string {
		for _, p := range of {
			if p.Name == name {
				return p.Value
			}
		}
		return "not there"
	}
	// Properties that differ come first, in the order of this run, then those that only the checkpoint has.
	for _, p := range want {
		if v := value(found, p.Name); v != p.Value {
			list = append(list, fmt.Sprintf("%s: %s in the checkpoint, %s now", p.Name, brief(v), brief(p.Value)))
		}
	}
	for _, p := range found {
		if value(want, p.Name) == "not there" {
			list = append(list, fmt.Sprintf("%s: %s in the checkpoint, not there now", p.Name, brief(p.Value)))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOtherRun, strings.Join(list, "; "))
}

// brief shortens a long value, such as a hash, for a message.
func brief(value string) string {
	const most = 60
	switch {
	case value == "":
		return "empty"
	case len(value) == 2*sha256.Size:
		return value[:12] + "..."
	case len(value) > most:
		sum := sha256.Sum256([]byte(value))
		return fmt.Sprintf("%s... (%x)", value[:most/2], sum[:4])
	}
	return value
}

// identity returns all that the results depend on.
func (p *Pause) identity() []Property {
	if p.about != nil {
		return p.about
	}
	// The names stand in messages and in files: they do not change. Some properties are left out where
	// they are as by default.
	o, m := p.options, &p.engine.machine
	machine := m.Platform.Hash()
	source := p.engine.source
	if b, ok := source.(*barrierSource); ok {
		source = b.Source
	}
	list := append(slices.Clone(o.Identity),
		Property{Name: "layout of the state", Value: snapshot.Layout(*p.engine, barrierSource{}, source)})
	if t := p.engine.trace; t != nil { // the trace with the order of its definitions
		hash, _ := t.Hash()
		sum := sha256.New()
		sum.Write(hash[:])
		for i := range t.Program().NumBlocks() {
			block := t.Program().BlockHash(i)
			sum.Write(block[:])
		}
		list = append(list, Property{Name: "trace", Value: hex.EncodeToString(sum.Sum(nil))})
	}
	to := o.To
	if steps := p.header.Steps; steps > 0 && (to == 0 || to > steps) { // 0 steps: not known
		to = steps
	}
	list = append(list,
		Property{Name: "ranks", Value: fmt.Sprint(p.header.Ranks)},
		Property{Name: "steps", Value: fmt.Sprintf("%d:%d", o.From, to)},
		Property{Name: "begins of steps", Value: fmt.Sprint(o.StepStarts)},
		Property{Name: "description of the machine", Value: hex.EncodeToString(machine[:])},
		Property{Name: "mapping of ranks to hosts", Value: hashOf(m.Hosts)},
	)
	if m.Factors != nil {
		list = append(list, Property{Name: "speeds of hosts", Value: hashOf(m.Factors)})
	}
	for _, v := range m.Source.Values() { // the description of the machine is that of its file
		if v.Name != "bandwidth" && v.Name != "latency" && v.Name != "kernel-noise" {
			continue
		}
		if last := &list[len(list)-1]; last.Name == v.Name { // properties are compared by their names
			last.Value += ", " + v.Value
		} else {
			list = append(list, v)
		}
	}
	if o.ComputeScale != 1 {
		list = append(list, Property{Name: "scale of computations", Value: fmt.Sprint(o.ComputeScale)})
	}
	if o.FileBandwidth != 0 {
		list = append(list, Property{Name: "bandwidth of files", Value: fmt.Sprint(o.FileBandwidth)})
	}
	if o.ComputeNoise {
		list = append(list, Property{Name: "noise of computations", Value: "yes"})
	}
	if p.engine.costs.random != nil {
		list = append(list, Property{Name: "seed", Value: fmt.Sprint(o.Seed)})
	}
	p.about = append(list, o.Network.Settings()...)
	return p.about
}

// hashOf names a list of numbers.
func hashOf(list any) string {
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, list)
	return hex.EncodeToString(sum.Sum(nil))
}
