package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads Paraver's traces, as Extrae writes them: a text (.prv) of all ranks, with a line for each state,
// event and message,
//
//	1:CPU:APPLICATION:TASK:THREAD:BEGIN:END:STATE
//	2:CPU:APPLICATION:TASK:THREAD:TIME:TYPE:VALUE[:TYPE:VALUE...]
//	3:CPU:APPLICATION:TASK:THREAD:LOGICAL:PHYSICAL:CPU:APPLICATION:TASK:THREAD:LOGICAL:PHYSICAL:BYTES:TAG
//
// and the names of the values of events beside it (.pcf). A call of MPI begins with an event whose value is its
// procedure, and ends with one of value 0. The logical times of a message are in the calls that send it and post its
// receive, the physical time of the receiver is in the call that ends the receive.

// Types of events.
const (
	prvFirst = 50000001 // calls of MPI, by kinds of procedures
	prvLast  = 50000005
	prvSizes = 50100001 // of a collective operation: bytes that are sent, and received; at the root; communicator
)

// Kinds of records of a rank, besides types of events.
const (
	prvSend = 1 + iota
	prvReceive
)

// prvMessage is one side of a message.
type prvMessage struct {
	peer, tag, bytes int64
	posted, ended    int64 // logical and physical time
}

// prvFile reads a file.
type prvFile struct {
	r       *recording
	raw     *recording // records of each rank, as calls
	name    string
	line    int
	rest    []byte // of the line
	scale   int64  // nanoseconds of its unit of time
	names   map[[2]int64]string
	comms   map[int64]int64
	threads []int64 // by rank, the one that calls MPI

	// Of the rank whose calls are handed on.
	k        *rank
	messages [2][]prvMessage // that no call has taken yet, in their order
	handle   int64           // of the last request
	pending  []prvRequest    // receives, in the order of their posting
	open     []int64         // requests of which the file does not say which call ends them, the oldest first
	call     prvCall
}

// prvRequest is a receive that has been posted.
type prvRequest struct{ handle, ended int64 }

// prvCall is a call of MPI that has begun.
type prvCall struct {
	name  string // without MPI_; "": none
	begin int64
	sizes [4]int64
}

// prvHeader is the begin of the header: the end, the nodes with their processors, the applications, and the tasks.
var prvHeader = regexp.MustCompile(`^#Paraver \([^)]*\):\d+(_\w+)?:\d+(?:\([\d,]*\))?:(\d+):(\d+)\(`)

// prv reads a file, and its names.
func prv(name string) *recording {
	p := &prvFile{name: name, scale: 1, comms: map[int64]int64{}, names: map[[2]int64]string{}}
	p.readNames(strings.TrimSuffix(name, filepath.Ext(name)) + ".pcf")
	f := textutil.Must(regular.Open(name))
	defer f.Close()
	place := func() string { return fmt.Sprintf("%s:%d", name, max(p.line, 1)) }
	defer placed(func() string { return place() })
	lines(f, &p.line, p.record)
	if p.raw == nil {
		textutil.Stop(errors.New("an empty file"))
	}
	defer p.raw.spool.Close()
	place = func() string { return name }
	for i, k := range p.r.ranks {
		p.rank(p.raw.ranks[i], k)
	}
	return p.r
}

// readNames reads the names of the values of events: blocks of types, with the values that they share.
func (p *prvFile) readNames(name string) {
	f, err := regular.Open(name)
	if err != nil {
		textutil.Stop(fmt.Errorf("%s: the names of its events: %w", p.name, err))
	}
	defer f.Close()
	line, field := 0, 0
	var types []int64
	defer placed(func() string { return fmt.Sprintf("%s:%d", name, line) })
	lines(f, &line, func(text []byte) {
		words := strings.Fields(string(text))
		switch {
		case len(words) == 0:
		case words[0] == "EVENT_TYPE":
			types, field = nil, 1
		case words[0] == "VALUES":
			field = 0
		case len(words) > 1:
			n, err := strconv.ParseInt(words[field], 10, 64)
			if err != nil {
				types = nil
			} else if field == 1 {
				types = append(types, n)
				break
			}
			for _, t := range types {
				p.names[[2]int64{t, n}] = words[1]
			}
		}
	})
}

// number takes the next number of the line.
func (p *prvFile) number() int64 {
	field, rest, _ := bytes.Cut(p.rest, []byte(":"))
	n, err := strconv.ParseInt(string(field), 10, 64)
	if err != nil {
		textutil.Stop(fmt.Errorf("%s, want a number", textutil.Quote(string(field))))
	}
	p.rest = rest
	return n
}

// numbers takes some numbers.
func (p *prvFile) numbers(n int) (list [8]int64) {
	for i := range n {
		list[i] = p.number()
	}
	return list
}

// task takes the number of a processor, an application, a task and a thread, and returns rank and thread.
func (p *prvFile) task() (rank, thread int64) {
	n := p.numbers(4)
	if n[1] != 1 || n[2] < 1 || n[2] > int64(len(p.r.ranks)) {
		textutil.Stop(fmt.Errorf("task %d of application %d, of %d tasks of 1", n[2], n[1], len(p.r.ranks)))
	}
	return n[2] - 1, n[3]
}

// time takes a time, in nanoseconds.
func (p *prvFile) time() int64 {
	t := p.number()
	if t < 0 || t > maxNanoseconds/p.scale {
		textutil.Stop(fmt.Errorf("time %d", t))
	}
	return t * p.scale
}

// record reads a line, and keeps what it says of calls of MPI.
func (p *prvFile) record(line []byte) {
	line = bytes.TrimSpace(line)
	if p.r == nil {
		p.header(line)
		return
	}
	kind, rest, _ := bytes.Cut(line, []byte(":"))
	switch p.rest = rest; string(kind) {
	case "1", "": // a state
	case "2":
		rank, thread := p.task()
		for t := p.time(); len(p.rest) > 0; {
			n := p.numbers(2)
			switch {
			case n[0] >= prvFirst && n[0] <= prvLast:
				if before := p.threads[rank]; before != 0 && before != thread {
					textutil.Stop(fmt.Errorf("a call by thread %d, after calls by thread %d: a trace has one order of a rank's calls",
						thread, before))
				}
				p.threads[rank] = thread
			case n[0] < prvSizes || n[0] > prvSizes+3:
				continue
			}
			p.raw.ranks[rank].encode(&call{kind: n[0], ns: t, tag: n[1]})
		}
	case "3":
		from, _ := p.task()
		m := call{kind: prvSend, ns: p.time(), req: p.time()}
		to, _ := p.task()
		posted, ended := p.time(), p.time()
		m.peer, m.bytes, m.tag = to, p.number(), int64(int32(p.number()))
		p.raw.ranks[from].encode(&m)
		m.kind, m.peer, m.ns, m.req = prvReceive, from, posted, ended
		p.raw.ranks[to].encode(&m)
	case "c":
		n := p.numbers(3)
		var members []int64
		for len(p.rest) > 0 {
			members = append(members, p.number()-1)
		}
		if n[2] != int64(len(members)) {
			textutil.Stop(fmt.Errorf("communicator %d of %d tasks, which names %d", n[1], n[2], len(members)))
		}
		p.comms[n[1]] = p.r.group(n[1], members)
	case "i": // an intercommunicator, which no call can name
	default:
		if kind[0] != '#' {
			textutil.Stop(fmt.Errorf("record of kind %s, want 1 to 3 or c", textutil.Quote(string(kind))))
		}
	}
}

// header reads the first line.
func (p *prvFile) header(line []byte) {
	m := prvHeader.FindSubmatch(line)
	if m == nil {
		textutil.Stop(fmt.Errorf("%s, want #Paraver (DATE):END_ns:NODES(PROCESSORS):APPLICATIONS:TASKS(THREADS:NODE,...)",
			textutil.Quote(string(line))))
	}
	switch string(m[1]) {
	case "_ns":
	case "_us", "":
		p.scale = 1000
	default:
		textutil.Stop(fmt.Errorf("times in %s, want ns or us", m[1][1:]))
	}
	if string(m[2]) != "1" {
		textutil.Stop(fmt.Errorf("%s applications, and a trace has the ranks of one", m[2]))
	}
	tasks, err := strconv.Atoi(string(m[3]))
	if err != nil || tasks > len(line) { // each has its threads there
		textutil.Stop(fmt.Errorf("%s tasks in a header of %d bytes", m[3], len(line)))
	}
	p.r, p.raw = newRecording(p.name, tasks), newRecording(p.name, tasks)
	p.threads = make([]int64, tasks)
}

// rank hands on the calls of a rank, of its records.
func (p *prvFile) rank(raw, k *rank) {
	p.k, p.messages, p.handle, p.pending, p.open, p.call = k, [2][]prvMessage{}, 0, nil, nil, prvCall{}
	var c call
	for r := (replayed{k: raw}); r.read(&c); {
		if c.kind <= prvReceive {
			side := c.kind - prvSend
			p.messages[side] = append(p.messages[side], prvMessage{c.peer, c.tag, c.bytes, c.ns, c.req})
		}
	}
	for _, list := range p.messages {
		slices.SortStableFunc(list, func(a, b prvMessage) int { return int(min(1, max(-1, a.posted-b.posted))) })
	}
	defer placed(func() string { return fmt.Sprintf("task %d at %d ns", k.number+1, max(c.ns, p.call.begin)) })
	for r := (replayed{k: raw}); r.read(&c); {
		switch {
		case c.kind <= prvReceive:
		case c.kind >= prvSizes:
			p.call.sizes[c.kind-prvSizes] = c.tag
		default:
			p.end(c.ns)
			if c.tag == 0 {
				break
			}
			name, ok := p.names[[2]int64{c.kind, c.tag}]
			if !ok {
				textutil.Stop(fmt.Errorf("value %d of type %d has no name in the .pcf", c.tag, c.kind))
			}
			p.call = prvCall{name: strings.TrimPrefix(name, "MPI_"), begin: c.ns}
		}
	}
	if p.call.name != "" {
		k.of.odd(p.name, 0, "the last call of a task has no end: left out")
	}
	if n := len(p.messages[sends]) + len(p.messages[receives]); n > 0 {
		k.of.odd(p.name, 0, "messages outside of calls that send or receive are left out")
	}
}

// end ends the call that has begun, and hands it on.
func (p *prvFile) end(end int64) {
	c := &p.call
	if c.name == "" {
		return
	}
	p.k.took(c.name, c.begin, end, p.name, 0)
	for side := range p.messages {
		for p.take(side, c.begin-1) != nil {
			p.k.of.odd(p.name, 0, "messages outside of calls that send or receive are left out")
		}
	}
	p.act(c, end)
	p.call = prvCall{}
}

// take takes the next message of a side whose logical time is not behind a time; nil: there is none.
func (p *prvFile) take(side int, until int64) *prvMessage {
	list := p.messages[side]
	if len(list) == 0 || list[0].posted > until {
		return nil
	}
	p.messages[side] = list[1:]
	return &list[0]
}

// post adds a request for a message.
func (p *prvFile) post(kind trace.Kind, m *prvMessage) {
	p.handle++
	if p.k.post(p.handle, message(kind, world, m.peer, m.tag, m.bytes), false); kind == trace.KindIrecv {
		p.pending = append(p.pending, prvRequest{p.handle, m.ended})
	} else {
		p.open = append(p.open, p.handle)
	}
}

// act hands a call on.
func (p *prvFile) act(c *prvCall, end int64) {
	k, name := p.k, c.name
	odd := func(text string) { k.of.odd(p.name, 0, "MPI_"+name+" "+text) }
	if kind, ok := messageKinds[name]; ok {
		side := sends
		if kind == trace.KindRecv || kind == trace.KindIrecv {
			side = receives
		}
		switch m := p.take(side, end); {
		case m == nil:
			odd("without a message is left out: its partner is nobody (MPI_PROC_NULL), or the message was not matched")
		case name[0] == 'I':
			p.post(kind, m)
		default:
			k.add(message(kind, world, m.peer, m.tag, m.bytes))
		}
		return
	}
	switch {
	case strings.HasPrefix(name, "Sendrecv"):
		out, in := p.take(sends, end), p.take(receives, end)
		nobody := &prvMessage{peer: trace.ProcNull}
		if out == nil {
			out = nobody
		}
		if in == nil {
			in = nobody
		}
		m := message(trace.KindSendrecv, world, out.peer, out.tag, out.bytes)
		m.source, m.sourceTag, m.received = in.peer, in.tag, in.bytes
		k.add(m)
	case strings.HasPrefix(name, "Start"):
		for m := p.take(sends, end); m != nil; m = p.take(sends, end) {
			p.post(trace.KindIsend, m)
		}
		for m := p.take(receives, end); m != nil; m = p.take(receives, end) {
			p.post(trace.KindIrecv, m)
		}
	case strings.HasPrefix(name, "Wait"), strings.HasPrefix(name, "Test") && name != "Test_cancelled":
		p.wait(name, end, odd)
	case strings.HasSuffix(strings.ToLower(name), "probe"):
		odd("is left out: the file does not say for which message")
	default:
		kind, nonblocking, ok := collectiveOf(name)
		if !ok {
			if !definedCalls.MatchString(name) {
				argumentsOf(name)
			}
			return
		}
		comm, ok := p.comms[c.sizes[3]]
		if !ok {
			textutil.Stop(fmt.Errorf("MPI_%s on communicator %d, whose members the file does not name", name, c.sizes[3]))
		}
		m := k.exchange(kind, comm, p.part(kind, comm, c.sizes[0], c.sizes[1], c.sizes[2] != 0))
		if !nonblocking {
			k.add(m)
			return
		}
		m.kind = int64(trace.KindIcollective)
		p.handle++
		p.open = append(p.open, p.handle)
		k.post(p.handle, m, false)
	}
}

// wait ends receives whose message came up to the end of a call. Which other requests it ends the file does not say.
func (p *prvFile) wait(name string, end int64, odd func(string)) {
	var ended []int64
	p.pending = slices.DeleteFunc(p.pending, func(q prvRequest) bool {
		if q.ended <= end {
			ended = append(ended, q.handle)
		}
		return q.ended <= end
	})
	switch {
	case len(p.open) == 0:
	case name == "Waitall":
		odd("may be for sends and collective operations, which the file does not name: for all that are pending")
		ended, p.open = append(ended, p.open...), nil
	case name == "Wait" && len(ended) == 0:
		odd("that ends no receive is for the oldest other request: the file does not name it")
		ended, p.open = p.open[:1], p.open[1:]
	}
	if len(ended) == 0 {
		odd("that ends no known request is left out")
	}
	slices.Sort(ended)
	p.k.complete(ended...)
}

// part returns what a rank has of a collective operation, by the bytes that Extrae counts of it.
func (p *prvFile) part(kind trace.CollectiveKind, comm, sent, received int64, root bool) exchanged {
	ranks := int64(len(p.k.members(int(comm))))
	x := exchanged{root: -1, sent: sent, received: received}
	switch kind {
	case trace.CollBcast, trace.CollReduce, trace.CollAllreduce, trace.CollScan, trace.CollExscan:
		x.sent = max(sent, received)
	case trace.CollAlltoall:
		x.sent = received / ranks
	case trace.CollGather, trace.CollGatherv: // Extrae finds the root wrongly in communicators that are not the world
		root = received > 0
	case trace.CollScatter, trace.CollScatterv:
		root = sent > 0
		x.sent = received
	case trace.CollReduceScatter:
		x.sent = received
	}
	if root {
		x.root = int64(slices.Index(p.k.members(int(comm)), p.k.number))
	}
	return x
}
