package timeline

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/replay"
	"reprise/trace"
)

// This file says what a recorder hands to the writers of timelines: Sink. FormatOf chooses one by a file's name.

// Sink takes the actions, phases and messages that a Recorder has seen. Those of a rank come in the order of time,
// but not those of several ranks. Nothing that it is given may be kept.
type Sink interface {
	// PhaseBegins tells that a phase, by its number in the header, begins on a rank. Phases lie
	// within each other: one that ends before one that began after it is told as two.
	PhaseBegins(rank int32, phase int, at float64)
	// PhaseEnds tells that the phase of a rank that was told of last, of those that are open, ends.
	PhaseEnds(rank int32, at float64)
	// Slice tells of an action of a rank.
	Slice(s *Slice)
	// Message tells of a message both of whose sides are posted within the span.
	Message(m *Message)
	// Label names the contents of a file that is not of a whole run, and their end. It comes last.
	Label(text string, at float64)
	// Close ends it. It returns the first error.
	Close() error
}

// Slice is an action of a rank, or what runs in a queue of its device.
type Slice struct {
	Rank       int32
	Queue      int             // 1 + the number of the queue; 0: the rank itself
	Begin, End float64         // seconds
	Name       int             // of the list of Names
	Args       []Arg           // in the order of trace cat
	State      replay.TimeKind // of most of its time
	// Sends are the messages that it posts, Receives those that it has received in the end.
	// The other side of one that it sends may lie outside of the span.
	Sends    []Post
	Receives []int64
}

// Post is the beginning of a message.
type Post struct {
	Number int64   // of the message: 1, 2, ... in the order in which sends are told
	At     float64 // seconds
}

// Message is one from a rank to another.
type Message struct {
	Number   int64
	Src, Dst int32
	Tag      int32
	Bytes    int64
	Sent     float64 // seconds: post of the send
	Arrived  float64 // seconds: end of the transfer
}

// Run is the replay that a file shows.
type Run struct {
	Header *trace.Header
	Hosts  []string // of each rank
	Span   Span
	// Fail is told of the first error, if it is not nil.
	Fail func(error)
}

// Names returns what the actions of a trace are called, by Slice.Name.
func Names(h *trace.Header) []string { return newActionNames(h).list }

// Format is a form of file that other programs read: it returns a sink that writes such a file to w.
type Format func(w io.Writer, run *Run) Sink

// endings are those of file names, by which a format is chosen.
var endings = []struct {
	ending string
	format Format
}{{".pftrace", Perfetto}, {".perfetto-trace", Perfetto}, {".paje", Paje}, {".trace", Paje}}

// FormatOf returns the format that the ending of a file's name asks for, and whether it asks for gzip.
func FormatOf(name string) (f Format, zipped bool, err error) {
	plain, zipped := strings.CutSuffix(name, ".gz")
	// known lists the endings in the order of the message below: first Perfetto's two, then Pajé's.
	var known []string
	for _, e := range endings {
		if strings.HasSuffix(plain, e.ending) {
			return e.format, zipped, nil
		}
		known = append(known, e.ending)
	}
	if strings.HasSuffix(plain, ".json") {
		return nil, false, fmt.Errorf("%q: Chrome's JSON is not written; use a .pftrace file, which ui.perfetto.dev shows",
			name)
	}
	return nil, false, fmt.Errorf("%q, want a name that ends in %s (Perfetto) or %s (Pajé), or one of these and .gz",
		name, strings.Join(known[:2], " or "), strings.Join(known[2:], " or "))
}

// queues calls f for each queue of the device of a rank: 1 + its number, and its name.
func queues(run *Run, f func(queue int, name string)) {
	for i, name := range run.Header.Queues {
		f(1+i, "queue "+name)
	}
}

// rankName names a rank in all formats alike.
func rankName(rank int) string { return "rank " + strconv.Itoa(rank) }

// hostsOf numbers the hosts of the ranks of a span, in the order of their first ranks: their names, and for each rank
// the number of its own.
func hostsOf(run *Run) (names []string, of []int) {
	first := run.Span.FirstRank
	var numbers numbering
	for _, host := range run.Hosts[first : first+run.Span.ranks(run.Header)] {
		of = append(of, int(numbers.of(host)))
	}
	return numbers.list, of
}

// failing keeps the first error of a sink: later ones follow from it, and bufio repeats it.
type failing struct {
	run *Run
	err error
}

// fail notes an error, and tells Run.Fail if it is the first.
func (f *failing) fail(err error) {
	if f.err != nil || err == nil {
		return
	}
	f.err = err
	if f.run.Fail != nil {
		f.run.Fail(err)
	}
}
