package path

import (
	"reprise/replay"
	"reprise/replay/tape"
	"reprise/trace"
)

// Path is a replay.Observer that finds the critical path. Use New.
type Path struct {
	replay.Ignore
	header *trace.Header
	levels levels
	tapes  *tape.Tapes
}

// Check returns why critical paths of a trace with that header cannot be found: of so many kernels in
// so many phases. A replay that is to find one fails with that.
func Check(h *trace.Header) error { return tape.Check(h, replay.NumTimeKinds) }

// New returns a Path for a replay of a trace with that header, on a machine, with options.
func New(h *trace.Header, m replay.Machine, o replay.Options) *Path {
	p := &Path{header: h, levels: newLevels(&m, &o.Network)}
	p.tapes = tape.New(h, replay.NumTimeKinds, int32(replay.TimePoll), &p.levels)
	return p
}

// Tapes implements replay.Taped.
func (p *Path) Tapes() *tape.Tapes { return p.tapes }
