package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// pajeEvents defines the events of a file. What is not of a format's own, the arguments, is a
// field more.
const pajeEvents = `%EventDef PajeDefineContainerType 0
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
%       Alias string
%       Type string
%       StartContainerType string
%       EndContainerType string
%       Name string
%EndEventDef
%EventDef PajeDefineEntityValue 3
%       Alias string
%       Type string
%       Name string
%       Color color
%EndEventDef
%EventDef PajeCreateContainer 4
%       Time date
%       Alias string
%       Type string
%       Container string
%       Name string
%EndEventDef
%EventDef PajePushState 5
%       Time date
%       Type string
%       Container string
%       Value string
%EndEventDef
%EventDef PajePushState 6
%       Time date
%       Type string
%       Container string
%       Value string
%       Arguments string
%EndEventDef
%EventDef PajePopState 7
%       Time date
%       Type string
%       Container string
%EndEventDef
%EventDef PajeStartLink 8
%       Time date
%       Type string
%       Container string
%       StartContainer string
%       Value string
%       Key string
%EndEventDef
%EventDef PajeEndLink 9
%       Time date
%       Type string
%       Container string
%       EndContainer string
%       Value string
%       Key string
%EndEventDef
0 H 0 host
0 R H rank
1 P R phase
1 A R action
2 M 0 R R message
`

// paje writes text whose events are in the order of time, as the format asks for. They come
// rank by rank, so they are kept, sorted and written at the end.
type paje struct {
	failing
	w     *bufio.Writer
	line  []byte // under way
	lines []timedLine
	texts []byte // of lines
}

type timedLine struct {
	time       float64
	begin, end int // in paje.texts
}

func newPaje(w io.Writer, run *Run) *paje {
	p := &paje{failing: failing{run: run}, w: bufio.NewWriterSize(w, 64<<10)}
	p.w.WriteString(pajeEvents)
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
	}
	hosts, of := hostsOf(run)
	for i, host := range hosts {
		fmt.Fprintf(p.w, "4 0 h%d H 0 %s\n", i, pajeText(host))
	}
	for i, host := range of {
		rank := run.Span.FirstRank + i
		fmt.Fprintf(p.w, "4 0 r%d R h%d %s\n", rank, host, pajeText(rankName(rank)))
	}
	return p
}

// pajeText quotes a text, which the format cannot do with quotes and ends of lines in it.
func pajeText(text string) string {
	b := []byte(text)
	clean(b)
	return `"` + string(b) + `"`
}

func clean(text []byte) {
	for i, c := range text {
		switch c {
		case '"':
			text[i] = '\''
		case '\n', '\r':
			text[i] = ' '
		}
	}
}

// PhaseBegins implements Sink.
func (p *paje) PhaseBegins(rank int32, phase int, at float64) {
	p.event("5", at).text(" P r").int(int64(rank)).text(" p").int(int64(phase)).end(at)
}

// PhaseEnds implements Sink.
func (p *paje) PhaseEnds(rank int32, at float64) {
	p.event("7", at).text(" P r").int(int64(rank)).end(at)
}

// Slice implements Sink.
func (p *paje) Slice(s *Slice) {
	p.event("6", s.Begin).text(" A r").int(int64(s.Rank)).text(" a").int(int64(s.Name)).text(` "`)
	from := len(p.line)
	p.line = appendArgs(p.line, s.Args)
	clean(p.line[from:])
	p.text(`"`).end(s.Begin)
	p.event("7", s.End).text(" A r").int(int64(s.Rank)).end(s.End)
}

// Message implements Sink.
func (p *paje) Message(m *Message) {
	p.event("8", m.Sent).text(" M 0 r").int(int64(m.Src)).text(" ").int(m.Bytes).text(" ").int(m.Number).end(m.Sent)
	p.event("9", m.Arrived).text(" M 0 r").int(int64(m.Dst)).text(" ").int(m.Bytes).text(" ").int(m.Number).end(m.Arrived)
}

// Label implements Sink: it is a comment before the events.
func (p *paje) Label(text string, _ float64) {
	comment := []byte(text)
	clean(comment)
	fmt.Fprintf(p.w, "# %s\n", comment)
}

// Close implements Sink.
func (p *paje) Close() error {
	// Those of one time stay as they came.
	slices.SortStableFunc(p.lines, func(a, b timedLine) int { return cmp.Compare(a.time, b.time) })
	for _, l := range p.lines {
		p.w.Write(p.texts[l.begin:l.end]) // Flush has the error
	}
	p.fail(p.w.Flush())
	return p.err
}

func (p *paje) event(kind string, at float64) *paje {
	p.line = append(append(p.line[:0], kind...), ' ')
	p.line = strconv.AppendFloat(p.line, at, 'f', -1, 64)
	return p
}

func (p *paje) text(s string) *paje {
	p.line = append(p.line, s...)
	return p
}

func (p *paje) int(v int64) *paje {
	p.line = strconv.AppendInt(p.line, v, 10)
	return p
}

// end ends an event of a time.
func (p *paje) end(at float64) {
	begin := len(p.texts)
	p.texts = append(append(p.texts, p.line...), '\n')
	p.lines = append(p.lines, timedLine{at, begin, len(p.texts)})
}
