package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Paje is the [Format] of text that Pajé reads. A file begins with its definitions: its events, phases, actions, hosts
// and ranks.
func Paje(w io.Writer, run *Run) Sink {
	p := &paje{failing: failing{run: run}, w: bufio.NewWriterSize(w, 64<<10)}
	for i, e := range pajeEvents {
		fmt.Fprintf(p.w, "%%EventDef %s %d\n%%       %s\n%%EndEventDef\n", e.name, i,
			strings.ReplaceAll(e.fields, ", ", "\n%       "))
	}
	p.w.WriteString(pajeTypes)
	if len(run.Header.Queues) > 0 {
		p.w.WriteString("0 Q R queue\n1 K Q kernel\n")
	}
	for i, name := range run.Header.Phases {
		fmt.Fprintf(p.w, "3 p%d P %s \"0.8 0.8 0.8\"\n", i, pajeText(name))
	}
	kernels := len(run.Header.Kernels)
	for i, name := range Names(run.Header) {
		color := "0.9 0.6 0.0" // waits, and what messages cost
		if i < kernels || name == "flops" {
			color = "0.0 0.6 0.5"
		}
		fmt.Fprintf(p.w, "3 a%d A %s \"%s\"\n", i, pajeText(name), color)
		if i < kernels && len(run.Header.Queues) > 0 {
			fmt.Fprintf(p.w, "3 k%d K %s \"%s\"\n", i, pajeText(name), color)
		}
	}
	hosts, of := hostsOf(run)
	for i, host := range hosts {
		fmt.Fprintf(p.w, "4 0 h%d H 0 %s\n", i, pajeText(host))
	}
	for i, host := range of {
		rank := run.Span.FirstRank + i
		fmt.Fprintf(p.w, "4 0 r%d R h%d %s\n", rank, host, pajeText(rankName(rank)))
		queues(run, func(queue int, name string) {
			fmt.Fprintf(p.w, "4 0 r%dq%d Q r%d %s\n", rank, queue, rank, pajeText(name))
		})
	}
	return p
}

// paje writes text whose events are in the order of time, as the format asks for. They come
// rank by rank, so they are kept, sorted and written at the end: each action takes more than a
// hundred bytes of memory until then. Definitions, which have no time, are written at once.
type paje struct {
	failing
	w     *bufio.Writer
	lines []timedLine
	texts []byte // of lines, one behind the other
	args  []byte // scratch: of a slice
}

// pajeEvents defines the events of a file, by number: names, and fields with their types. The arguments of a slice are
// the one field that is not of the format itself.
var pajeEvents = [...]struct{ name, fields string }{
	0: {"PajeDefineContainerType", "Alias string, Type string, Name string"},
	1: {"PajeDefineStateType", "Alias string, Type string, Name string"},
	2: {"PajeDefineLinkType",
		"Alias string, Type string, StartContainerType string, EndContainerType string, Name string"},
	3: {"PajeDefineEntityValue", "Alias string, Type string, Name string, Color color"},
	4: {"PajeCreateContainer", "Time date, Alias string, Type string, Container string, Name string"},
	5: {"PajePushState", "Time date, Type string, Container string, Value string"},
	6: {"PajePushState", "Time date, Type string, Container string, Value string, Arguments string"},
	7: {"PajePopState", "Time date, Type string, Container string"},
	8: {"PajeStartLink", "Time date, Type string, Container string, StartContainer string, Value string, Key string"},
	9: {"PajeEndLink", "Time date, Type string, Container string, EndContainer string, Value string, Key string"},
}

// pajeTypes are the types of a file: hosts, which contain ranks, with the states and the messages of these.
const pajeTypes = `0 H 0 host
0 R H rank
1 P R phase
1 A R action
2 M 0 R R message
`

// timedLine is the line of an event.
type timedLine struct {
	time       float64
	begin, end int // in paje.texts
}

// pajeCleaner replaces the characters that end a text or a line: the format cannot quote them.
var pajeCleaner = strings.NewReplacer(`"`, "'", "\n", " ", "\r", " ")

// pajeText quotes a text.
func pajeText(text string) string { return `"` + pajeCleaner.Replace(text) + `"` }

// PhaseBegins implements Sink.
func (p *paje) PhaseBegins(rank int32, phase int, at float64) {
	p.event("5", at, " P r%d p%d", rank, phase)
}

// PhaseEnds implements Sink.
func (p *paje) PhaseEnds(rank int32, at float64) { p.event("7", at, " P r%d", rank) }

// Slice implements Sink.
func (p *paje) Slice(s *Slice) {
	p.args = appendArgs(p.args[:0], s.Args)
	if s.Queue > 0 {
		p.event("6", s.Begin, " K r%dq%d k%d %s", s.Rank, s.Queue, s.Name, pajeText(string(p.args)))
		p.event("7", s.End, " K r%dq%d", s.Rank, s.Queue)
		return
	}
	p.event("6", s.Begin, " A r%d a%d %s", s.Rank, s.Name, pajeText(string(p.args)))
	p.event("7", s.End, " A r%d", s.Rank)
}

// Message implements Sink.
func (p *paje) Message(m *Message) {
	p.event("8", m.Sent, " M 0 r%d %d %d", m.Src, m.Bytes, m.Number)
	p.event("9", m.Arrived, " M 0 r%d %d %d", m.Dst, m.Bytes, m.Number)
}

// Label implements Sink: it is a comment before the events, which are written when the sink is closed.
func (p *paje) Label(text string, _ float64) { fmt.Fprintf(p.w, "# %s\n", pajeCleaner.Replace(text)) }

// Close implements Sink.
func (p *paje) Close() error {
	// Those of one time stay as they came: a state that ends does so before the next one of its rank begins.
	slices.SortStableFunc(p.lines, func(a, b timedLine) int { return cmp.Compare(a.time, b.time) })
	for _, l := range p.lines {
		p.w.Write(p.texts[l.begin:l.end]) // Flush has the error
	}
	p.fail(p.w.Flush())
	return p.err
}

// event keeps the line of an event: its kind, by number, its time with all digits, and the other fields.
func (p *paje) event(kind string, at float64, format string, fields ...any) {
	begin := len(p.texts)
	p.texts = append(append(p.texts, kind...), ' ')
	p.texts = strconv.AppendFloat(p.texts, at, 'f', -1, 64)
	p.texts = append(fmt.Appendf(p.texts, format, fields...), '\n')
	p.lines = append(p.lines, timedLine{at, begin, len(p.texts)})
}
