package stat

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"

	"reprise/trace"
)

// Options says what Of counts.
type Options struct {
	// Late answers polls as the rule Late does: the most polls and chunks. Without
	// it, as Hit. Messages and bytes are the same, and flop but for rounding.
	Late bool
	// Progress, if set, is called with the number of steps counted so far.
	Progress func(steps int)
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

// Of counts what the trace holds, from its structure: each block is counted
// once as a formula in its arguments, which is evaluated once for all ranks that
// call it with the same. The cost does not depend on the number of actions. Where that fails, the actions
// are counted one by one, which takes as long as verifying the trace. Of
// a stream it reads all.
func Of(t *trace.Trace, o Options) (*Report, error) {
	h := t.Header()
	sum, steps, err := structure(t, o)
	if failed := (*uncounted)(nil); errors.As(err, &failed) && (failed.first != nil || !t.IsStream()) {
		sum, steps, err = expand(t, o, mostActions)
		runtime.KeepAlive(failed.first)
	}
	if err != nil {
		return nil, err
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
	sum.fill(s, h)
	totals, _ := t.Totals()
	s.File = FileStat{Chunks: totals.Chunks, Units: totals.Units, Blocks: t.Program().NumBlocks()}
	return s, s.File.measure(t, s.Totals.Messages)
}

// uncounted is the error of a trace whose structure cannot be counted.
type uncounted struct {
	err   error
	first *trace.Chunk // of a stream, whose chunks follow it as long as it is held
}

func (u *uncounted) Error() string { return u.err.Error() }
func (u *uncounted) Unwrap() error { return u.err }

// heldChunks is how many chunks of a stream are held to be read once more.
const heldChunks = 64

// structure counts by formulas, and returns the number of steps, too.
func structure(t *trace.Trace, o Options) (*tally, int, error) {
	u := newUnitCounter(t.Program(), o.Late)
	steps, last := 0, -1
	var first *trace.Chunk
	for chunk, err := range t.Chunks(0, 0) {
		if err != nil {
			return nil, 0, err
		}
		switch {
		case !t.IsStream():
		case chunk.Number() == 0:
			first = chunk
		case chunk.Number() == heldChunks:
			first = nil
		}
		for i := range chunk.Units() {
			unit := &chunk.Units()[i]
			if unit.Step != last {
				if last = unit.Step; o.Progress != nil {
					o.Progress(steps)
				}
				steps++
			}
			if err := u.unit(chunk, unit); err != nil {
				if t.IsStream() && first == nil {
					err = fmt.Errorf("%w; the actions of a stream can be counted one by one in its first %d chunks only: give a file", err, heldChunks)
				}
				return nil, 0, &uncounted{err, first}
			}
		}
	}
	if err := u.finish(); err != nil {
		return nil, 0, &uncounted{err, first}
	}
	return u.tally, steps, nil
}

func (u *unitCounter) unit(chunk *trace.Chunk, unit *trace.Unit) error {
	for i := range unit.Calls {
		c := &unit.Calls[i]
		if err := u.call(chunk, c); err != nil {
			return fmt.Errorf("step %d call %d (%s): %w", unit.Step, i, u.program.Header().CallSites[c.Site].Name, err)
		}
	}
	return nil
}

// measure fills in sizes.
func (f *FileStat) measure(t *trace.Trace, messages int64) error {
	var err error
	if f.Bytes, f.ContentBytes, err = t.Sizes(); err != nil {
		return err
	}
	if messages > 0 {
		f.BytesPerMessage = float64(f.Bytes) / float64(messages)
	}
	f.Compression = float64(f.ContentBytes) / float64(f.Bytes)
	return nil
}

// fill turns the tally into tables.
func (t *tally) fill(s *Report, h *trace.Header) {
	all := &tally{t.counters, make([]int64, t.counters.n), make([]float64, t.counters.n)}
	for p := -1; p < len(h.Phases); p++ {
		row := t.row(p)
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

// row returns the tally of one phase, -1 for none.
func (t *tally) row(phase int) *tally {
	from, to := t.at(int32(phase), 0), t.at(int32(phase+1), 0)
	return &tally{t.counters, t.ints[from:to], t.floats[from:to]}
}

// tables sums up one row.
func (t *tally) tables(h *trace.Header) (sum Counts, kinds []KindCount, kernels []KernelCount) {
	kinds, kernels = []KindCount{}, []KernelCount{}
	for k := range h.Kernels {
		if c := t.kernel(&h.Kernels[k], k); c.Calls > 0 {
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
		sum.add(c, k.Actions, k.Bytes)
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

// add adds accesses and synchronisations of windows, and accesses to files, of a counter.
func (s *Counts) add(c counter, actions, bytes int64) {
	switch {
	case c >= countSync:
		s.Syncs += actions
	case c >= countFile:
		if trace.FileKind(c-countFile)%trace.FileKind(trace.NumFileKinds) == trace.FileRead {
			s.FileReads += actions
			s.FileReadBytes += bytes
		} else {
			s.FileWrites += actions
			s.FileWriteBytes += bytes
		}
	case c >= countAccess:
		switch trace.AccessKind(c-countAccess) % trace.AccessKind(trace.NumAccesses) {
		case trace.AccessPut:
			s.Puts += actions
			s.PutBytes += bytes
		case trace.AccessGet:
			s.Gets += actions
			s.GetBytes += bytes
		default:
			s.Accumulates += actions
			s.AccumulateBytes += bytes
		}
	}
}

// kernel returns the calls of kernel i and their flop.
func (t *tally) kernel(k *trace.Kernel, i int) KernelCount {
	at := t.counters.calls[i]
	c := KernelCount{Kernel: k.FullName(), Calls: t.ints[at]}
	for j, term := range k.Flops {
		c.Flops += float64(term.Coef * t.floats[int(at)+1+j])
	}
	return c
}
