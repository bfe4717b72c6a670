package timeline

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report/record"
	"reprise/report/typedarray"
	"reprise/trace"
)

// Collector is a Recorder that keeps what it sees for a page. It starts by keeping everything: where there is too much,
// short actions of a rank that follow one another are taken together, and small messages left out.
type Collector struct {
	*Recorder
	most     limits
	rows     [][]kept // by rank of the span: its own, then those of the queues of its device
	lanes    int      // rows of a rank
	count    int      // of slices in rows
	grain    float64  // length up to which actions are taken together, seconds; < 0: none are
	first    float64  // the earliest begin of a slice, seconds
	last     float64  // the latest end
	together int      // the name of what is taken together
	args     map[string]uint32
	noArgs   bool // some were left out
	text     []byte

	arrows      []Message
	numMessages int64 // of which these are
	smallest    int64 // bytes of an arrow that is kept
}

// NewWindow returns a Collector of what lies within a span of a run of h: of what somebody
// has asked for as much as MaxSlices holds, else less.
func NewWindow(h *trace.Header, span Span, asked bool) (*Collector, error) {
	if err := span.Check(h); err != nil {
		return nil, err
	}
	if n := span.ranks(h); n > MaxWindowRanks {
		return nil, fmt.Errorf("a window of %d ranks, at most %d fit on a page: name fewer", n, MaxWindowRanks)
	}
	// Numbers of names have 16 bits in a page.
	if n := len(h.Kernels); n > maxKernels {
		return nil, fmt.Errorf("a window of a trace with %d kernels, at most %d fit on a page", n, maxKernels)
	}
	most := limits{MaxSlices, MaxArrows, maxArgs}
	if !asked {
		most = limits{defaultSlices, defaultSlices / 4, maxArgs / 4}
	}
	return newCollector(h, span, most), nil
}

func newCollector(h *trace.Header, span Span, most limits) *Collector {
	c := &Collector{most: most, lanes: 1 + len(h.Queues), grain: -1, args: map[string]uint32{"": 0}}
	c.rows = make([][]kept, span.ranks(h)*c.lanes)
	c.Recorder = NewRecorder(h, span, collecting{c})
	c.together = len(c.names.list)
	return c
}

// Limits of a window of a page.
const (
	MaxSlices      = 200_000
	MaxArrows      = 50_000
	MaxWindowRanks = 10_000

	// defaultSlices are those of a window that nobody has asked for: some 0.3 MB of a page.
	defaultSlices = 10_000
	// maxArgs bounds the texts of arguments, which a page holds as they are.
	maxArgs = 20_000
	// maxKernels leaves room for the other names, which have 16 bits.
	maxKernels = 1<<16 - 256
)

// limits are how many slices, arrows and texts of arguments are kept at most.
type limits struct{ slices, arrows, args int }

// kept is a slice, or several of them that follow one another.
type kept struct {
	begin, end float64
	spent      [record.NumStates]float32 // by state, seconds
	number     uint32                    // how many slices it is
	arg        uint32
	name       uint16
	state      uint16 // of record.States
}

// collecting is the Sink of a Collector.
type collecting struct{ *Collector }

// PhaseBegins implements Sink: a page has none.
func (collecting) PhaseBegins(int32, int, float64) {}

// PhaseEnds implements Sink.
func (collecting) PhaseEnds(int32, float64) {}

// Close implements Sink.
func (collecting) Close() error { return nil }

// Label implements Sink: a page has its own.
func (collecting) Label(string, float64) {}

// Slice implements Sink.
func (c collecting) Slice(s *Slice) {
	if c.Slices() == 1 || s.Begin < c.first {
		c.first = s.Begin
	}
	c.last = max(c.last, s.End)
	// Texts of arguments have numbers.
	c.text = appendArgs(c.text[:0], s.Args)
	arg, known := c.args[string(c.text)]
	switch {
	case known:
	case len(c.args) < c.most.args:
		arg = uint32(len(c.args))
		c.args[string(c.text)] = arg
	default:
		c.noArgs = true
	}
	k := kept{begin: s.Begin, end: s.End, number: 1, arg: arg, name: uint16(s.Name),
		state: uint16(record.StateOf(s.State))}
	if s.Queue > 0 { // what the device computes, beside the rank
		k.state = uint16(record.StateOf(replay.TimeCompute))
	}
	k.spent[k.state] = float32(s.End - s.Begin)
	row := &c.rows[(int(s.Rank)-c.span.FirstRank)*c.lanes+s.Queue]
	// Slices of a row come in the order of time, so that only the last one may take this one in.
	before := len(*row)
	*row = c.append(*row, &k)
	if c.count += len(*row) - before; c.count <= c.most.slices {
		return
	}
	// More is taken together, until there is room for as much again.
	for c.count > c.most.slices/2 {
		// As long as each would be if they were all alike, but for the first time.
		fair := (c.last - c.first) * float64(len(c.rows)) / float64(c.most.slices)
		c.grain = max(2*c.grain, fair/4)
		c.count = 0
		for i, row := range c.rows {
			merged := row[:0]
			for j := range row {
				k := row[j] // as merged may overwrite it
				merged = c.append(merged, &k)
			}
			c.rows[i] = merged
			c.count += len(merged)
		}
		if c.count <= len(c.rows) {
			return // one for each row is the least
		}
	}
}

// Message implements Sink. Large messages are what people look for in a picture, so they are kept longest; smallest
// never falls, and a message that was left out once would be left out again.
func (c collecting) Message(m *Message) {
	if c.numMessages++; m.Bytes < c.smallest {
		return
	}
	c.arrows = append(c.arrows, *m)
	if len(c.arrows) <= c.most.arrows {
		return
	}
	// The smaller half is left out; of messages of one size, some all along the run.
	slices.SortFunc(c.arrows, func(a, b Message) int {
		spread := cmp.Compare(bits.Reverse64(uint64(a.Number)), bits.Reverse64(uint64(b.Number)))
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), spread)
	})
	half := len(c.arrows) / 2
	c.smallest = c.arrows[half-1].Bytes
	c.arrows = c.arrows[:half]
}

// append appends a slice to those of its row, or takes it together with the last one, if both are no longer than the
// grain together, pauses between them included. The state of the whole is that in which most of its time was spent.
func (c *Collector) append(row []kept, k *kept) []kept {
	if len(row) == 0 {
		return append(row, *k)
	}
	last := &row[len(row)-1]
	if k.end-last.begin > c.grain {
		return append(row, *k)
	}
	last.end = k.end
	last.number += k.number
	last.name, last.arg = uint16(c.together), 0
	for s, seconds := range k.spent {
		if last.spent[s] += seconds; last.spent[s] > last.spent[last.state] {
			last.state = uint16(s)
		}
	}
	return row
}

// Window is what ranks do between two times, as a page draws it. Times are in seconds.
type Window struct {
	Title string  `json:"title"` // such as "step 17"
	From  float64 `json:"from_s"`
	To    float64 `json:"to_s"`
	Note  string  `json:"note,omitempty"` // what was left out or taken together, in a sentence

	Ranks int `json:"ranks"` // [FirstRank, FirstRank+Ranks)
	First int `json:"first_rank"`
	// Queues of a rank's device, each of which has a row below that of the rank.
	Queues []string `json:"queues,omitempty"`

	Names  []string `json:"names"`  // of actions: verbs of trace cat, names of kernels
	States []string `json:"states"` // as in record.Data
	Args   []string `json:"args"`   // texts, the first is ""

	// Slices, in the order of row and begin; slices of a row do not overlap.
	Slices int              `json:"slices"`
	Rank   typedarray.Bytes `json:"rank"`  // uint32: the row, which is the rank where there are no queues
	Begin  typedarray.Bytes `json:"begin"` // float64, seconds
	End    typedarray.Bytes `json:"end"`   // float64, seconds
	Name   typedarray.Bytes `json:"name"`  // uint16, of Names
	State  typedarray.Bytes `json:"state"` // uint16, of States
	Arg    typedarray.Bytes `json:"arg"`   // uint32, of Args

	// Arrows, messages of which both sides are in the window, in the order of Sent.
	Arrows  int              `json:"arrows"`
	Source  typedarray.Bytes `json:"source"`  // uint32, ranks
	Target  typedarray.Bytes `json:"target"`  // uint32
	Sent    typedarray.Bytes `json:"sent"`    // float64, seconds: post of the send
	Arrived typedarray.Bytes `json:"arrived"` // float64, seconds: end of the transfer
	Bytes   typedarray.Bytes `json:"bytes"`   // float64
	Tag     typedarray.Bytes `json:"tag"`     // uint32, two's complement
}

// Window returns what was seen, once the replay has ended.
// There are columns in place of a list of structs: they take fewer bytes in a page, and are typed arrays there.
func (c *Collector) Window() *Window {
	c.End()
	// The title names the time that there is. Where all ranks are looked at, a window that goes beyond the end of the
	// run is one up to the end.
	span := c.span
	if c.count > 0 && span.Ranks == 0 && span.To > c.end { // behind the end of the run; other ranks may go on
		span.To = 0
	}
	w := &Window{
		Title: span.String(), From: max(c.first, c.span.From), To: c.last, Note: c.note(),
		Ranks: len(c.rows) / c.lanes, First: c.span.FirstRank, Queues: c.names.header.Queues,
		States: record.StatesOf(c.names.header), Slices: c.count, Arrows: len(c.arrows),
	}
	if c.span.To > 0 {
		w.To = min(w.To, c.span.To)
	}

	// Columns of slices, with the names and arguments that occur: numbers of texts are given anew, in the order of the
	// slices, so that a window does not depend on what was taken together meanwhile.
	var rank, arg []uint32
	var begin, end []float64
	var name, state []uint16
	texts := make([]string, len(c.args))
	for text, n := range c.args {
		texts[n] = text
	}
	names := append(slices.Clone(c.names.list), "several actions")
	var nameNumbers, argNumbers numbering
	argNumbers.of("")
	for i, row := range c.rows {
		for j := range row {
			k := &row[j]
			text := texts[k.arg]
			if k.number > 1 {
				text = textutil.Count(int64(k.number), "action")
			}
			rank, arg = append(rank, uint32(c.span.FirstRank*c.lanes+i)), append(arg, argNumbers.of(text))
			begin, end = append(begin, k.begin), append(end, k.end)
			name, state = append(name, uint16(nameNumbers.of(names[k.name]))), append(state, k.state)
		}
	}
	w.Names, w.Args = nameNumbers.list, argNumbers.list
	w.Rank, w.Arg = typedarray.Of(rank), typedarray.Of(arg)
	w.Begin, w.End = typedarray.Of(begin), typedarray.Of(end)
	w.Name, w.State = typedarray.Of(name), typedarray.Of(state)

	// Columns of arrows.
	slices.SortFunc(c.arrows, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Number, b.Number))
	})
	var source, target, tag []uint32
	var sent, arrived, bytes []float64
	for i := range c.arrows {
		m := &c.arrows[i]
		source, target, tag = append(source, uint32(m.Src)), append(target, uint32(m.Dst)), append(tag, uint32(m.Tag))
		sent, arrived, bytes = append(sent, m.Sent), append(arrived, m.Arrived), append(bytes, float64(m.Bytes))
	}
	w.Source, w.Target, w.Tag = typedarray.Of(source), typedarray.Of(target), typedarray.Of(tag)
	w.Sent, w.Arrived, w.Bytes = typedarray.Of(sent), typedarray.Of(arrived), typedarray.Of(bytes)
	return w
}

// note tells which slices and messages were left out or taken together, or that there are none.
func (c *Collector) note() string {
	if err := c.CheckSeen(); err != nil {
		return strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + "."
	}
	note := ""
	if c.grain >= 0 {
		note = fmt.Sprintf("Of %s actions, those that follow one another within %.3g s are taken together.",
			textutil.Thousands(c.Slices()), c.grain)
	}
	if n := int64(len(c.arrows)); n < c.numMessages {
		note += fmt.Sprintf(" Of %s messages, %s of the largest have arrows.", textutil.Thousands(c.numMessages),
			textutil.Thousands(n))
	}
	if c.noArgs {
		note += fmt.Sprintf(" Arguments beyond the first %s different ones are left out.", textutil.Thousands(c.most.args))
	}
	return strings.TrimSpace(note)
}

// numbering numbers texts in the order in which they come, from 0 on.
type numbering struct {
	list    []string
	numbers map[string]uint32
}

func (n *numbering) of(text string) uint32 {
	i, ok := n.numbers[text]
	if !ok {
		if n.numbers == nil {
			n.numbers = map[string]uint32{}
		}
		i = uint32(len(n.list))
		n.numbers[text] = i
		n.list = append(n.list, text)
	}
	return i
}
