package timeline

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
)

// chrome writes the JSON object form of the Trace Event Format: a process for each host and
// a thread for each rank. Phases are pairs of B and E, actions X, messages s and f, which
// follow the slices that they belong to.
type chrome struct {
	failing
	w       *bufio.Writer
	out     []byte   // the event under way
	process []int    // of each rank of the span, from 1 on
	names   []string // of actions, as JSON
	phases  []string // as JSON
	states  []string // as JSON
	began   bool
}

func newChrome(w io.Writer, run *Run) *chrome {
	c := &chrome{
		failing: failing{run: run}, w: bufio.NewWriterSize(w, 64<<10),
		names: quoted(Names(run.Header)), phases: quoted(run.Header.Phases), states: quoted(States()),
	}
	hosts, of := hostsOf(run)
	c.out = append(c.out, `{"displayTimeUnit":"ns","traceEvents":[`...)
	for i, host := range quoted(hosts) {
		c.metadata("process_name", i+1, 0, `"name":`+host)
		c.metadata("process_sort_index", i+1, 0, `"sort_index":`+strconv.Itoa(i))
	}
	for i, host := range of {
		c.process = append(c.process, host+1)
		rank := run.Span.FirstRank + i
		c.metadata("thread_name", host+1, threadOf(rank), `"name":`+quote(rankName(rank)))
		c.metadata("thread_sort_index", host+1, threadOf(rank), `"sort_index":`+strconv.Itoa(rank))
	}
	return c
}

func rankName(rank int) string { return "rank " + strconv.Itoa(rank) }

// threadOf numbers threads from 1 on, as 0 is the idle one of some viewers.
func threadOf(rank int) int { return rank + 1 }

func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic("timeline: " + err.Error()) // a text always has a form
	}
	return string(b)
}

func quoted(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = quote(text)
	}
	return list
}

// metadata writes an event that describes a process or a thread.
func (c *chrome) metadata(name string, process, thread int, args string) {
	c.begin("M").text(`,"name":`).text(quote(name))
	c.text(`,"pid":`).int(int64(process)).text(`,"tid":`).int(int64(thread))
	c.text(`,"args":{`).text(args).text("}")
	c.end()
}

// PhaseBegins implements Sink.
func (c *chrome) PhaseBegins(rank int32, phase int, at float64) {
	c.begin("B").text(`,"name":`).text(c.phases[phase]).text(`,"cat":"phase"`)
	c.at(rank, c.nanoseconds(at)).end()
}

// PhaseEnds implements Sink.
func (c *chrome) PhaseEnds(rank int32, at float64) {
	c.begin("E").at(rank, c.nanoseconds(at)).end()
}

// Slice implements Sink.
func (c *chrome) Slice(s *Slice) {
	begin, end := c.nanoseconds(s.Begin), c.nanoseconds(s.End)
	c.begin("X").text(`,"name":`).text(c.names[s.Name]).text(`,"cat":`).text(c.states[s.State])
	c.at(s.Rank, begin).text(`,"dur":`).micro(end - begin)
	if len(s.Args) > 0 {
		c.text(`,"args":{`)
		for i := range s.Args {
			if i > 0 {
				c.text(",")
			}
			c.arg(&s.Args[i])
		}
		c.text("}")
	}
	c.end()
	last := max(begin, end-1) // within the slice, whose end is not
	for _, m := range s.Sends {
		c.flow("s", m.Number, s.Rank, min(max(begin, c.nanoseconds(m.At)), last))
	}
	for _, m := range s.Receives {
		c.flow("f", m, s.Rank, last)
	}
}

func (c *chrome) arg(a *Arg) {
	c.text(quote(a.Name)).text(":")
	if a.Kind == TextArg {
		c.text(quote(a.Text))
		return
	}
	c.out = a.append(c.out)
}

// flow writes the beginning or the end of an arrow, which binds to the slice around it.
func (c *chrome) flow(phase string, message int64, rank int32, ns int64) {
	c.begin(phase).text(`,"name":"message","cat":"message","id":`).int(message)
	if c.at(rank, ns); phase == "f" {
		c.text(`,"bp":"e"`)
	}
	c.end()
}

// Message implements Sink: slices have the arrows.
func (c *chrome) Message(*Message) {}

// Label implements Sink: it is an instant over all processes.
func (c *chrome) Label(text string, at float64) {
	c.begin("i").text(`,"s":"g","cat":"label","name":`).text(quote(text))
	c.at(int32(c.run.Span.FirstRank), c.nanoseconds(at)).end()
}

// Close implements Sink.
func (c *chrome) Close() error {
	c.text("\n]}\n")
	c.flush()
	c.fail(c.w.Flush())
	return c.err
}

// begin begins an event, on a line of its own.
func (c *chrome) begin(phase string) *chrome {
	if c.began {
		c.text(",")
	}
	c.began = true
	return c.text("\n{\"ph\":\"").text(phase).text(`"`)
}

func (c *chrome) end() {
	c.text("}")
	c.flush()
}

func (c *chrome) flush() {
	_, err := c.w.Write(c.out)
	c.fail(err)
	c.out = c.out[:0]
}

// at appends where and when something is.
func (c *chrome) at(rank int32, ns int64) *chrome {
	process := c.process[int(rank)-c.run.Span.FirstRank]
	c.text(`,"pid":`).int(int64(process)).text(`,"tid":`).int(int64(threadOf(int(rank))))
	return c.text(`,"ts":`).micro(ns)
}

func (c *chrome) text(s string) *chrome {
	c.out = append(c.out, s...)
	return c
}

func (c *chrome) int(v int64) *chrome {
	c.out = strconv.AppendInt(c.out, v, 10)
	return c
}

// micro appends nanoseconds as microseconds with three decimals.
func (c *chrome) micro(ns int64) *chrome {
	c.int(ns / 1000)
	part := ns % 1000
	c.out = append(c.out, '.', byte('0'+part/100), byte('0'+part/10%10), byte('0'+part%10))
	return c
}
