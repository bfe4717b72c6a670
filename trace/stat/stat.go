// Package stat sums up a trace: actions, messages, bytes, kernel calls and flop, in all and
// by kind, kernel and phase.
//
// [Of] counts from the structure that [trace.Trace.Chunks] yields, without expanding it to
// actions: a block is run once for all ranks that call it with the same arguments that count, and a
// loop once for all its turns. So the cost does not depend on how many actions there are.
// [Report.WriteText] prints the result; its JSON is that of "trace stat --json".
//
//	report, err := stat.Of(t, stat.Options{})
//	fmt.Println(report.Totals.Messages, report.Totals.Bytes, report.Totals.Flops)
//
// # Units
//
// Sizes are in bytes, amounts of work in flop.
//
// # Errors
//
// They name the file and the place in it.
//
// # Source
//
// There is none: it is the sum over the actions that docs/trace-format.md defines, which the
// tests expand.
package stat

import (
	"cmp"
	"encoding/hex"
	"fmt"

	"reprise/trace"
)

// Options says what Of counts.
type Options struct {
	// Late answers polls as the rule Late does: the most polls and chunks. Without
	// it, as Hit. Messages and bytes are the same, and flop but for rounding.
	Late bool
	// Progress, if set, is called with the number of steps counted so far.
	Progress func(steps int)

	few int // if set, takes the place of fewItems
}

// Report is what a trace holds in all. Lists are empty rather than nil, as JSON tells
// them apart.
type Report struct {
	Program    string        `json:"program"`
	Tool       string        `json:"tool,omitempty"`
	Command    string        `json:"command,omitempty"`
	Hash       string        `json:"hash"`
	Parameters []Parameter   `json:"parameters"`
	Ranks      int           `json:"ranks"`
	Steps      int           `json:"steps"`         // that the trace holds
	AllSteps   int           `json:"program_steps"` // that the program has
	Polls      string        `json:"polls"`         // how polls were answered: hit or late
	Totals     Counts        `json:"totals"`
	Kinds      []KindCount   `json:"kinds"`
	Kernels    []KernelCount `json:"kernels"`
	Phases     []PhaseCount  `json:"phases"`
	File       FileStat      `json:"file"`
}

// Parameter is a parameter of the traced program.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Counts are totals over all ranks.
type Counts struct {
	Actions     int64   `json:"actions"`
	Messages    int64   `json:"messages"` // sent
	Bytes       int64   `json:"bytes"`    // sent
	KernelCalls int64   `json:"kernel_calls"`
	Flops       float64 `json:"flops"`
	Seconds     float64 `json:"sleep_s"`

	// One-sided accesses, which are not among the messages. Accumulates are all that compute at the
	// target; their bytes are those of the operand, or without one of what is fetched.
	Puts            int64 `json:"puts"`
	PutBytes        int64 `json:"put_bytes"`
	Gets            int64 `json:"gets"`
	GetBytes        int64 `json:"get_bytes"`
	Accumulates     int64 `json:"accumulates"`
	AccumulateBytes int64 `json:"accumulate_bytes"`
	Syncs           int64 `json:"window_syncs"` // calls that create, free or synchronise windows

	FileReads      int64 `json:"file_reads"`
	FileReadBytes  int64 `json:"file_read_bytes"`
	FileWrites     int64 `json:"file_writes"`
	FileWriteBytes int64 `json:"file_write_bytes"`
}

// KindCount counts the actions of a kind, by the verb that listings use, and the
// bytes that they send.
type KindCount struct {
	Kind    string  `json:"kind"`
	Actions int64   `json:"actions"`
	Bytes   int64   `json:"bytes"`
	Flops   float64 `json:"flops"`
}

// KernelCount counts the calls of a kernel and their flop.
type KernelCount struct {
	Kernel string  `json:"kernel"`
	Calls  int64   `json:"calls"`
	Flops  float64 `json:"flops"`
}

// PhaseCount is the part of a phase: what ranks do while it is the innermost
// open one. The part that is in no phase is called "-".
type PhaseCount struct {
	Phase   string        `json:"phase"`
	Totals  Counts        `json:"totals"`
	Kinds   []KindCount   `json:"kinds"`
	Kernels []KernelCount `json:"kernels"`
}

// NoPhase stands for the name of a phase where none is open.
const NoPhase = "-"

// FileStat tells how the trace is stored.
type FileStat struct {
	Bytes           int64   `json:"bytes"`
	ContentBytes    int64   `json:"content_bytes"` // of blocks and columns before compression
	Chunks          int     `json:"chunks"`
	Units           int64   `json:"units"`
	Blocks          int     `json:"blocks"`
	BytesPerMessage float64 `json:"bytes_per_message"`
	Compression     float64 `json:"compression"` // content bytes per byte of the file
}

// Of counts what the trace holds, from its structure: a call of a block is counted once for all ranks
// that call it with the same arguments, a loop once for all turns. So the cost does not depend on the number
// of actions but on that of different calls. Of a stream it reads all.
func Of(t *trace.Trace, o Options) (*Report, error) {
	h := t.Header()
	c := newCounter(t.Program(), o.Late)
	c.run.few = cmp.Or(o.few, fewItems)
	steps, last := 0, -1
	for chunk, err := range t.Chunks(0, 0) {
		if err != nil {
			return nil, err
		}
		for _, unit := range chunk.Units() {
			if unit.Step != last {
				if last = unit.Step; o.Progress != nil {
					o.Progress(steps)
				}
				steps++
			}
			for i := range unit.Calls {
				call := &unit.Calls[i]
				if err := c.call(chunk, call); err != nil {
					return nil, fmt.Errorf("step %d call %d (%s): %w", unit.Step, i, h.CallSites[call.Site].Name, err)
				}
			}
		}
	}
	hash, _ := t.Hash()
	s := &Report{Program: h.Program, Tool: h.Tool, Command: h.Command, Hash: hex.EncodeToString(hash[:]), Ranks: h.Ranks,
		Steps: steps, AllSteps: h.Steps, Polls: "hit", Parameters: []Parameter{}, Phases: []PhaseCount{}}
	if o.Late {
		s.Polls = "late"
	}
	for _, p := range h.Params {
		s.Parameters = append(s.Parameters, Parameter(p))
	}
	c.run.fill(s, h)
	totals, _ := t.Totals()
	s.File = FileStat{Chunks: totals.Chunks, Units: totals.Units, Blocks: t.Program().NumBlocks()}
	var err error
	if s.File.Bytes, s.File.ContentBytes, err = t.Sizes(); err != nil {
		return nil, err
	}
	if n := s.Totals.Messages; n > 0 {
		s.File.BytesPerMessage = float64(s.File.Bytes) / float64(n)
	}
	s.File.Compression = float64(s.File.ContentBytes) / float64(s.File.Bytes)
	return s, nil
}

// unitCounter counts the calls of units, each once for a group of ranks.
type unitCounter struct {
	run    runner
	groups *grouping
	states states
	now    []int32 // by group: state after the call
	used   []bool  // by parameter of the call site
	args   []int64
}

// newCounter returns a counter for the calls of a program, of which all ranks have nothing pending yet.
func newCounter(p *trace.Program, late bool) *unitCounter {
	h := p.Header()
	c := &unitCounter{groups: newGrouping(p), states: states{of: make([]int32, h.Ranks), byKey: map[string]int32{}}}
	c.run = runner{tally: newTally(h), program: p, late: late, left: mostItems, few: fewItems,
		known: map[string][]amounts{}, slots: make([]operation, h.Pollables)}
	c.states.add(nil, c.run.slots, int64(h.Ranks))
	return c
}

// call counts one call of a unit.
func (u *unitCounter) call(chunk *trace.Chunk, c *trace.CallColumns) error {
	r, g, s := &u.run, u.groups, &u.states
	t := &r.program.Header().CallSites[c.Site]
	u.used = append(u.used[:0], make([]bool, len(t.Params))...)
	idle, member, even, last := true, false, true, int32(trace.NoBlock)
	for _, b := range c.Blocks {
		if b < 0 || b == last {
			continue
		}
		last = b
		p := r.plan(int(b))
		idle, even, member = idle && len(p.items) == 0, even && p.even, member || p.member
		for i, used := range p.used {
			u.used[i] = u.used[i] || used
		}
	}
	if idle {
		return nil
	}
	each := split{n: 1}
	if member || r.memberBodies && !even {
		each.n = len(g.all)
	}
	g.group(t, c, u.used, split{class: s.of, n: len(s.list)}, each)
	r.chunk, u.now = chunk, u.now[:0]
	for group, rank := range g.first {
		before := s.of[rank]
		r.rank = rank
		r.phases, r.slots = append(r.phases[:0], s.list[before].phases...), append(r.slots[:0], s.list[before].slots...)
		r.setRow()
		from, to := 0, 1
		if t.Counts != trace.NoAxis {
			class := r.program.Class(t.Counts, rank)
			from, to = int(c.Starts[class]), int(c.Starts[class+1])
		}
		for item := from; item < to; item++ {
			if err := u.item(t, c, item, g.size[group]); err != nil {
				return err
			}
		}
		if !even {
			u.now = append(u.now, s.add(r.phases, r.slots, g.size[group]))
			old := &s.list[before]
			if old.ranks -= g.size[group]; old.ranks == 0 { // its number is free again
				delete(s.byKey, old.key)
				s.unused = append(s.unused, before)
			}
		}
	}
	for i, group := range g.of {
		if !even && group >= 0 {
			s.of[g.ranks[i]] = u.now[group]
		}
	}
	return nil
}

// item counts the call of one item by some ranks.
func (u *unitCounter) item(t *trace.CallSite, c *trace.CallColumns, item int, ranks int64) error {
	r := &u.run
	at := func(axis int) int {
		if axis == trace.PerItem {
			return item
		}
		return int(r.program.Class(axis, r.rank))
	}
	block := int(c.Blocks[at(t.Block)])
	if block < 0 {
		return nil
	}
	u.args = u.args[:0]
	for i := range r.program.Block(block).Params {
		u.args = append(u.args, c.Args[i][at(t.Params[i].Axis)])
	}
	if r.enter(block, u.args, ranks); r.err != nil {
		return fmt.Errorf("rank %d: block %d %q: %w", r.rank, block, r.program.Block(block).Name, r.err)
	}
	return nil
}

// fill turns the tally into tables.
func (t *tally) fill(s *Report, h *trace.Header) {
	for i, n := range t.exact {
		t.floats[i] += float64(n)
	}
	all := &tally{kernels: t.kernels, ints: make([]int64, t.width), floats: make([]float64, t.width)}
	for p := -1; p < len(h.Phases); p++ {
		from, to := t.at(int32(p), 0), t.at(int32(p+1), 0)
		row := &tally{kernels: t.kernels, ints: t.ints[from:to], floats: t.floats[from:to]}
		for i := range all.ints {
			all.ints[i] += row.ints[i]
			all.floats[i] += row.floats[i]
		}
		name := NoPhase
		if p >= 0 {
			name = h.Phases[p]
		}
		part := PhaseCount{Phase: name}
		part.Totals, part.Kinds, part.Kernels = row.tables(h)
		if p >= 0 || part.Totals.Actions > 0 {
			s.Phases = append(s.Phases, part)
		}
	}
	s.Totals, s.Kinds, s.Kernels = all.tables(h)
}

// tables sums up one row.
func (t *tally) tables(h *trace.Header) (sum Counts, kinds []KindCount, kernels []KernelCount) {
	kinds, kernels = []KindCount{}, []KernelCount{}
	for i := range h.Kernels {
		k, at := &h.Kernels[i], t.kernels[i]
		c := KernelCount{Kernel: k.FullName(), Calls: t.ints[at]}
		for j, term := range k.Flops {
			c.Flops += float64(term.Coef * t.floats[int(at)+1+j])
		}
		if c.Calls > 0 {
			kernels = append(kernels, c)
			sum.KernelCalls += c.Calls
			sum.Flops += c.Flops
		}
	}
	if sum.KernelCalls > 0 {
		kinds = append(kinds, KindCount{Kind: "compute", Actions: sum.KernelCalls, Flops: sum.Flops})
	}
	for c := countSend; c < countBytes; c++ {
		k := KindCount{Kind: c.name(), Actions: t.ints[c]}
		if int(c) < numSenders {
			k.Bytes = t.ints[countBytes+c]
			sum.Messages += k.Actions
			sum.Bytes += k.Bytes
		}
		if c >= countAccess && c < countSync {
			k.Bytes = t.ints[countMoved+c-countAccess]
		}

		// Windows and files: the counters with a request, or of all ranks together, follow the others.
		actions, bytes := k.Actions, k.Bytes
		switch {
		case c >= countSync:
			sum.Syncs += actions
		case c >= countFile && trace.FileKind(c-countFile)%trace.FileKind(trace.NumFileKinds) == trace.FileRead:
			sum.FileReads, sum.FileReadBytes = sum.FileReads+actions, sum.FileReadBytes+bytes
		case c >= countFile:
			sum.FileWrites, sum.FileWriteBytes = sum.FileWrites+actions, sum.FileWriteBytes+bytes
		case c >= countAccess:
			switch trace.AccessKind(c-countAccess) % trace.AccessKind(trace.NumAccesses) {
			case trace.AccessPut:
				sum.Puts, sum.PutBytes = sum.Puts+actions, sum.PutBytes+bytes
			case trace.AccessGet:
				sum.Gets, sum.GetBytes = sum.Gets+actions, sum.GetBytes+bytes
			default:
				sum.Accumulates, sum.AccumulateBytes = sum.Accumulates+actions, sum.AccumulateBytes+bytes
			}
		}
		if c == countFlops || c >= countCollective && c < countAccess {
			k.Flops = t.floats[c]
			sum.Flops += k.Flops
		}
		if k.Actions > 0 {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		sum.Actions += k.Actions
	}
	sum.Seconds = t.floats[countSleep]
	return sum, kinds, kernels
}
