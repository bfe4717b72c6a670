// Package stat sums up a trace: actions, messages, bytes, kernel calls and flop, in all and by kind, kernel and phase.
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
// There is none: it is the sum over the actions that docs/trace-format.md defines, which the tests expand.
package stat

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Options says what Of counts.
type Options struct {
	// Late answers polls as the rule trace.Late does, with the most polls and chunks; without it, as trace.Hit.
	// Messages and bytes are the same with both rules, flop as well except for rounding.
	Late bool
	// Progress, if set, is called with the number of steps counted so far.
	Progress func(steps int)

	few int // if set, takes the place of fewItems
}

// Report is what a trace holds in all. Lists are empty rather than nil, as JSON tells them apart.
type Report struct {
	// What the header says.
	Program    string        `json:"program"`
	Tool       string        `json:"tool,omitempty"`
	Command    string        `json:"command,omitempty"`
	Hash       string        `json:"hash"`
	Parameters []trace.Param `json:"parameters"`
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

// KindCount counts the actions of a kind, by the verb that listings use, and the bytes that they send.
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

// Of counts what the trace holds, from its structure: a call of a block is counted once for all ranks that call
// it with the same arguments, and a loop once for all turns. So the cost grows with the number of different
// calls, not of actions, unless what ranks do depends on when their requests are complete: such a trace, which must be
// a file, is expanded. A stream is read to its end.
func Of(t *trace.Trace, o Options) (*Report, error) {
	h := t.Header()
	c := newRunner(t.Program(), o.Late)
	c.few = cmp.Or(o.few, fewItems)
	asks := false // and so was expanded
	t.Program().Visit(func(it *trace.Item) { asks = asks || it.Op.Relays() && !t.IsStream() })
	if asks {
		var err error
		if c.tally, err = expand(t, rules[o.Late]); err != nil {
			return nil, err
		}
	}
	// A step may have several units, also in different chunks.
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
				if asks {
					break
				}
				call := &unit.Calls[i]
				if err := c.unitCall(chunk, call); err != nil {
					return nil, fmt.Errorf("step %d call %d (%s): %w", unit.Step, i, h.CallSites[call.Site].Name, err)
				}
			}
		}
	}
	// All of the trace has been read, so that its hash and totals are known, even of a stream.
	hash, _ := t.Hash()
	s := &Report{Program: h.Program, Tool: h.Tool, Command: h.Command, Hash: hex.EncodeToString(hash[:]), Ranks: h.Ranks,
		Steps: steps, AllSteps: h.Steps, Polls: "hit", Parameters: append([]trace.Param{}, h.Params...), Phases: []PhaseCount{}}
	if o.Late {
		s.Polls = "late"
	}
	c.fill(s, h)
	totals, _ := t.Totals()
	s.File = FileStat{Chunks: totals.Chunks, Units: totals.Units, Blocks: t.Program().NumBlocks()}
	s.File.Bytes, s.File.ContentBytes = t.Sizes()
	if n := s.Totals.Messages; n > 0 {
		s.File.BytesPerMessage = float64(s.File.Bytes) / float64(n)
	}
	s.File.Compression = float64(s.File.ContentBytes) / float64(s.File.Bytes)
	return s, nil
}

// newRunner returns a runner for the calls of a program. All ranks begin in one state, with nothing pending and
// no phase open.
func newRunner(p *trace.Program, late bool) *runner {
	h := p.Header()
	r := &runner{tally: newTally(h), program: p, late: late, left: mostItems, few: fewItems,
		known: map[string][]amounts{}, slots: make([]operation, h.Pollables),
		groups: newGrouping(p), states: states{of: make([]int32, h.Ranks), byKey: map[string]int32{}}}
	r.states.add(nil, r.slots, int64(h.Ranks))
	return r
}

// unitCall counts one call of a unit, once for each group of ranks that do the same.
//
// It has three parts. The plans of the call's blocks tell which columns the counts depend on. By those columns the
// ranks are put into groups. The first rank of each group then runs its items for all of the group.
func (r *runner) unitCall(chunk *trace.Chunk, c *trace.CallColumns) error {
	g, s := r.groups, &r.states
	t := &r.program.Header().CallSites[c.Site]
	r.used = append(r.used[:0], make([]bool, len(t.Params))...)
	// Of all blocks that the call names: idle if none has an item that counts, member if some count
	// depends on which rank calls, even if all leave phases and slots as they are.
	idle, member, even, last := true, false, true, int32(trace.NoBlock)
	for _, b := range c.Blocks {
		if b < 0 || b == last {
			continue
		}
		last = b
		p := r.plan(int(b))
		idle, even, member = idle && len(p.items) == 0, even && p.even, member || p.member
		for i, used := range p.used {
			r.used[i] = r.used[i] || used
		}
	}
	if idle {
		return r.err
	}
	// Where counts depend on the rank itself each rank is a group of its own.
	each := split{n: 1}
	if member || r.memberBodies && !even {
		each.n = len(g.all)
	}
	// Ranks in different states differ, too: open phases say which row counts, slots what a poll lets run.
	g.group(t, c, r.used, split{class: s.of, n: len(s.list)}, each)
	r.chunk, r.now = chunk, r.now[:0]
	// The first rank's state is copied, as the blocks change it.
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
			at := func(axis int) int {
				if axis == trace.PerItem {
					return item
				}
				return int(r.program.Class(axis, rank))
			}
			block := int(c.Blocks[at(t.Block)])
			if block < 0 {
				continue
			}
			r.args = r.args[:0]
			for i := range r.program.Block(block).Params {
				r.args = append(r.args, c.Args[i][at(t.Params[i].Axis)])
			}
			if r.enter(block, r.args, g.size[group]); r.err != nil {
				return fmt.Errorf("rank %d: block %d %q: %w", rank, block, r.program.Block(block).Name, r.err)
			}
		}
		// The group's ranks move to the state that the call has left behind.
		if !even {
			r.now = append(r.now, s.add(r.phases, r.slots, g.size[group]))
			old := &s.list[before]
			if old.ranks -= g.size[group]; old.ranks == 0 { // its number is free again
				delete(s.byKey, old.key)
				s.unused = append(s.unused, before)
			}
		}
	}
	// States change once all groups have run, as groups are looked up by them.
	for i, group := range g.of {
		if !even && group >= 0 {
			s.of[g.ranks[i]] = r.now[group]
		}
	}
	return nil
}

// fill turns the tally into tables. Rows of phases are added up to the totals. The row of what is in no phase is
// listed only if it counts something.
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

// tables sums up one row. Flop of a kernel are added up here, term by term, from the sums over its calls.
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
	// Actions and their bytes, in the order of the counters, which is that of the report.
	for c := countSend; c < countBytes; c++ {
		k := KindCount{Kind: counterNames[c], Actions: t.ints[c]}
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
		case c >= countQueue:
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

// WriteText prints the tables for people. Integers are exact; flop of 1e15 and more are rounded.
func (s *Report) WriteText(w io.Writer) error {
	// The lines above the tables.
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("program", "%s", s.Program)
	if s.Command != "" {
		line("command", "%s", s.Command)
	}
	if s.Tool != "" {
		line("written by", "%s", s.Tool)
	}
	line("hash", "%s", s.Hash)
	params := make([]string, len(s.Parameters))
	for i, p := range s.Parameters {
		params[i] = p.Name + "=" + p.Value
	}
	if len(params) > 0 {
		line("parameters", "%s", strings.Join(params, " "))
	}
	line("ranks", "%s", textutil.Thousands(int64(s.Ranks)))
	line("steps", "%s of %s", textutil.Thousands(int64(s.Steps)), textutil.Thousands(int64(s.AllSteps)))
	line("polls", "%s", pollsText[s.Polls])
	f, each := &s.File, ""
	if s.Totals.Messages > 0 {
		each = fmt.Sprintf(", %.6f per message", f.BytesPerMessage)
	}
	counted, t := textutil.Counted, &s.Totals
	line("file", "%s%s; %s before compression (%.1f x); %s, %s, %s", counted(f.Bytes, "byte"), each,
		textutil.Thousands(f.ContentBytes), f.Compression, counted(int64(f.Blocks), "block"),
		counted(int64(f.Chunks), "chunk"), counted(f.Units, "unit"))
	line("totals", "%s, %s, %s, %s, %s flop", counted(t.Actions, "action"), counted(t.Messages, "message"),
		counted(t.Bytes, "byte"), counted(t.KernelCalls, "kernel call"), textutil.Flop(t.Flops))
	if t.Puts+t.Gets+t.Accumulates+t.Syncs > 0 {
		line("windows", "%s of %s, %s of %s, %s of %s, %s", counted(t.Puts, "put"), counted(t.PutBytes, "byte"),
			counted(t.Gets, "get"), counted(t.GetBytes, "byte"), counted(t.Accumulates, "accumulate"),
			counted(t.AccumulateBytes, "byte"), counted(t.Syncs, "synchronisation"))
	}
	if t.FileReads+t.FileWrites > 0 {
		line("files", "%s of %s, %s of %s", counted(t.FileReads, "read"), counted(t.FileReadBytes, "byte"),
			counted(t.FileWrites, "write"), counted(t.FileWriteBytes, "byte"))
	}
	if s.Totals.Seconds > 0 {
		line("sleeps", "%g s", s.Totals.Seconds)
	}

	// The tables, of which those without a row are left out.
	var kinds, kernels, phases textutil.Table
	kinds.Row("kind", "actions", "bytes", "flop")
	for _, k := range s.Kinds {
		kinds.Row(k.Kind, textutil.Thousands(k.Actions), textutil.Thousands(k.Bytes), textutil.Flop(k.Flops))
	}
	kernels.Row("kernel", "calls", "flop")
	for _, k := range s.Kernels {
		kernels.Row(k.Kernel, textutil.Thousands(k.Calls), textutil.Flop(k.Flops))
	}
	phases.Row("phase", "actions", "messages", "bytes", "kernel calls", "flop")
	for i := range s.Phases {
		p := &s.Phases[i].Totals
		phases.Row(s.Phases[i].Phase, textutil.Thousands(p.Actions), textutil.Thousands(p.Messages),
			textutil.Thousands(p.Bytes), textutil.Thousands(p.KernelCalls), textutil.Flop(p.Flops))
	}
	for _, t := range []*textutil.Table{&kinds, &kernels, &phases} {
		if t.Len() > 1 {
			b.WriteString("\n")
			_ = t.Write(&b) // memory takes all
		}
	}
	return textutil.Write(w, b.String())
}

// pollsText says how polls were answered, for people.
var pollsText = map[string]string{
	"hit":  "hit: each finds its message, the fewest actions",
	"late": "late: they find it when there is nothing else to do, the most actions",
}

// counter numbers what is counted for each phase: actions by kind, bytes of those that send, and calls of each kernel.
// A counter holds an integer and, beside it, an amount: the flop of countFlops and of collectives, the seconds of
// countSleep. A kernel's counter is followed by one for each term of its flop count, which holds the sum over the calls
// as an amount. Counters of a kind of action are consecutive in the order of the enumeration that they count, so that a
// counter is found by adding the number of the kind to the first one.
type counter int32

// Counters of single kinds of actions, and the first ones of Completion and CollectiveKind.
const (
	countSend counter = iota // the kinds that send come first
	countSsend
	countIsend
	countIssend
	countStart
	countSendrecv
	countRecv
	countIrecv
	countWait
	countTest
	countWaitAll
	countFree
	countProbe  // recorded probes that decide nothing
	countIprobe // polls that find their message
	countMiss   // polls that do not
	countFlops
	countSleep
	countNull                                                       // messages to or from nobody
	countBlocked                                                    // probes that wait for their message
	countAfter                                                      // what actions beside ranks wait for
	countBeside                                                     // actions beside ranks, which are counted by their own kind as well
	countComplete                                                   // and more: one for each Completion
	countCollective = countComplete + counter(trace.NumCompletions) // and more: one for each CollectiveKind
)

// The first counters of the other enumerations, of bytes, and of kernels.
const (
	numSenders       = int(countSendrecv) + 1
	countIcollective = countCollective + counter(trace.NumCollectives)  // nonblocking ones, likewise
	countAccess      = countIcollective + counter(trace.NumCollectives) // and more: one for each AccessKind
	countIaccess     = countAccess + counter(trace.NumAccesses)         // with a request, likewise
	countFile        = countIaccess + counter(trace.NumAccesses)        // and more: one for each FileKind
	countFileAll     = countFile + counter(trace.NumFileKinds)          // collective ones, likewise
	countSync        = countFileAll + counter(trace.NumFileKinds)       // and more: one for each SyncKind
	countQueue       = countSync + counter(trace.NumSyncs)              // and more: one for each QueueVerb
	countBytes       = countQueue + counter(trace.NumQueueVerbs)        // and more: bytes of countSend to countSendrecv
	countMoved       = countBytes + counter(numSenders)                 // and more: bytes of countAccess up to countSync
	firstKernel      = countMoved + (countSync - countAccess)
)

// counterNames are the verbs of the counters of actions.
var counterNames = slices.Concat(
	[]string{"send", "ssend", "isend", "issend", "start", "sendrecv", "recv", "irecv", "wait", "test", "waitall", "free",
		"probe", "iprobe", "miss", "flops", "sleep", "null", "probewait", "after", "beside"},
	verbs[trace.Completion]("", trace.NumCompletions, ""),
	verbs[trace.CollectiveKind]("", trace.NumCollectives, ""),
	verbs[trace.CollectiveKind]("i", trace.NumCollectives, ""),
	verbs[trace.AccessKind]("", trace.NumAccesses, ""),
	verbs[trace.AccessKind]("r", trace.NumAccesses, ""),
	verbs[trace.FileKind]("", trace.NumFileKinds, ""),
	verbs[trace.FileKind]("", trace.NumFileKinds, "_all"),
	verbs[trace.SyncKind]("win_", trace.NumSyncs, ""),
	verbs[trace.QueueVerb]("", trace.NumQueueVerbs, ""),
)

// verbs returns the names of the first n values of an enumeration, each with a text before and a text behind.
func verbs[K interface {
	~uint8
	String() string
}](before string, n int, behind string) (list []string) {
	for k := range n {
		list = append(list, before+K(k).String()+behind)
	}
	return list
}

// opCounts are the counters of operations that are one action each.
var opCounts = [...]counter{trace.OpSend: countSend, trace.OpSsend: countSsend, trace.OpIsend: countIsend,
	trace.OpIssend:   countIssend,
	trace.OpSendrecv: countSendrecv, trace.OpRecv: countRecv, trace.OpIrecv: countIrecv, trace.OpWait: countWait, trace.OpTest: countTest,
	trace.OpWaitAll: countWaitAll, trace.OpFree: countFree, trace.OpIprobe: countProbe,
	trace.OpStart: countStart, trace.OpProbe: countBlocked, trace.OpFlops: countFlops, trace.OpSleep: countSleep,
	trace.OpAfter: countAfter, trace.OpBeside: countBeside}

// tally holds totals: a row of counters for each phase, row 0 for what is in none. Rows have the same
// counters, so that rows can be added.
type tally struct {
	kernels []counter // by kernel: its calls; its terms follow
	width   int       // counters in a row
	// The cells, at row * width + counter: see at.
	ints   []int64
	floats []float64 // amounts
	exact  []int64   // amounts of kernels as far as they are integers that fit, not added yet
}

// newTally returns a tally of nothing. Kernels have as many counters as their flop counts have terms.
func newTally(h *trace.Header) *tally {
	t, next := &tally{}, firstKernel
	for i := range h.Kernels {
		t.kernels = append(t.kernels, next)
		next += counter(1 + len(h.Kernels[i].Flops))
	}
	t.width = int(next)
	n := (1 + len(h.Phases)) * t.width
	t.ints, t.floats, t.exact = make([]int64, n), make([]float64, n), make([]int64, n)
	return t
}

// at returns the index of a counter of a phase (-1: none).
func (t *tally) at(phase int32, c counter) int { return (1+int(phase))*t.width + int(c) }
