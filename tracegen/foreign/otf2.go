package foreign

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads archives of OTF2, as Score-P writes them: NAME.otf2, which says how the archive is stored, the
// definitions of all locations (NAME.def), and for each location, a thread, its events (NAME/NUMBER.evt) and how its
// numbers map to those of the definitions (NAME/NUMBER.def). A file consists of chunks, which begin with
//
//	3, order of bytes, number of the first record (8 bytes), of the last (8)
//
// and end with zeros. A record has its kind (1), its length (1, or 255 and 8), and numbers, whose bytes without leading
// zeros stand behind their count; a count of 255 is for the number that has all bits. Before an event is its time, 5 and
// 8 bytes.

// Kinds of records: of all files, of definitions, of events, and of a location's definitions.
const (
	otf2Zero, otf2End, otf2EndOfFile, otf2Chunk, otf2Time = 0, 1, 2, 3, 5

	otf2Clock, otf2String, otf2Location, otf2Region, otf2Groups, otf2Comm = 5, 10, 14, 15, 18, 22

	otf2Flush, otf2OnOff, otf2Enter, otf2Leave, otf2Send, otf2Isend, otf2Sent, otf2Posted, otf2Recv, otf2Received,
	otf2Test, otf2Cancelled, otf2Collective = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23
	otf2Context, otf2Started, otf2Completed = 66, 85, 86

	otf2Mapping = 5
)

// otf2Singles are the events that are one number: it stands there without a length of the record.
const otf2Singles = "\x0c\x0d\x10\x11\x14\x15\x18\x1c\x1d\x1e"

// Other numbers of the format.
const (
	otf2MPI                                   = 4 // paradigm
	otf2Thread                                = 1 // location
	otf2Locations, otf2Members, otf2Self      = 4, 5, 6
	otf2MapRegions, otf2MapComms              = 3, 6
	otf2Handles                          byte = 17 // the first operation that makes handles
)

// otf2Collectives are the collective operations by their numbers, as MPI's procedures.
var otf2Collectives = strings.Fields(`Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv
	Alltoallw Allreduce Reduce Reduce_scatter Scan Exscan Reduce_scatter_block`)

// otf2File reads records of a file.
type otf2File struct {
	name  string
	r     *bufio.Reader
	size  int64
	at    int64 // of the record
	next  int64
	order binary.ByteOrder
	buf   []byte
	data  []byte // of the record, that are left
	time  uint64
}

// openOTF2 opens a file, and reads its records with f.
func openOTF2(name string, events bool, f func(o *otf2File, kind byte)) {
	file := textutil.Must(regular.Open(name))
	defer file.Close()
	o := &otf2File{name: name, r: bufio.NewReaderSize(file, 1<<16), size: textutil.Must(file.Stat()).Size()}
	defer placed(func() string { return fmt.Sprintf("%s: byte %d", name, o.at) })
	for chunks := 0; ; {
		o.at = o.next
		if o.next == o.size {
			textutil.Stop(errors.New("the file is cut"))
		}
		kind := o.raw(1)[0]
		switch {
		case kind == otf2Zero && chunks > 0:
			continue
		case kind == otf2Chunk:
			if order := o.raw(1)[0]; order != 'B' && order != '#' {
				textutil.Stop(fmt.Errorf("order of bytes %d, want %d or %d", order, 'B', '#'))
			} else if o.order = binary.LittleEndian; order == '#' {
				o.order = binary.BigEndian
			}
			o.raw(16)
			chunks++
			continue
		case chunks == 0:
			textutil.Stop(errors.New("no file of OTF2: it does not begin with 3"))
		case kind == otf2End || kind == otf2EndOfFile:
			return
		case kind == otf2Time && events:
			o.time = o.order.Uint64(o.raw(8))
			continue
		}
		if events && strings.IndexByte(otf2Singles, kind) >= 0 {
			n := textutil.Must(o.r.Peek(1))[0]
			o.data = o.raw(1 + int(n)%255)
			f(o, kind)
			continue
		}
		n := uint64(o.raw(1)[0])
		if n == 255 {
			n = o.order.Uint64(o.raw(8))
		}
		if n > uint64(o.size-o.next) {
			textutil.Stop(fmt.Errorf("a record of %d bytes, in a file of %d", n, o.size))
		}
		o.data = o.raw(int(n))
		f(o, kind)
	}
}

// raw reads bytes of the file.
func (o *otf2File) raw(n int) []byte {
	o.buf = slices.Grow(o.buf[:0], n)[:n]
	if _, err := io.ReadFull(o.r, o.buf); err != nil {
		textutil.Stop(errors.New("the record is cut"))
	}
	o.next += int64(n)
	return o.buf
}

// bytes takes bytes of the record.
func (o *otf2File) bytes(n int) []byte {
	if n > len(o.data) {
		textutil.Stop(errors.New("the record is shorter than what it has"))
	}
	b := o.data[:n]
	o.data = o.data[n:]
	return b
}

// byte takes a byte of the record.
func (o *otf2File) byte() byte { return o.bytes(1)[0] }

// number takes a number of the record; all bits are -1.
func (o *otf2File) number() int64 {
	n := int(o.byte())
	if n == 255 {
		return -1
	}
	var b [8]byte
	if n > len(b) {
		textutil.Stop(fmt.Errorf("a number of %d bytes", n))
	}
	if o.order == binary.BigEndian {
		copy(b[8-n:], o.bytes(n))
		return int64(binary.BigEndian.Uint64(b[:]))
	}
	copy(b[:], o.bytes(n))
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// text takes a text of the record.
func (o *otf2File) text() string {
	text, rest, ok := bytes.Cut(o.data, []byte{0})
	if !ok {
		textutil.Stop(errors.New("a text without an end"))
	}
	o.data = rest
	return string(text)
}

// otf2Area is a region: a procedure of MPI, or a phase.
type otf2Area struct {
	text    int64  // its name
	name    string // without MPI_
	mpi     bool
	checked bool // that a trace has a counterpart
}

// otf2Archive reads an archive.
type otf2Archive struct {
	r          *recording
	name       string
	resolution uint64 // ticks of a second
	texts      map[int64]string
	locations  []int64 // threads
	regions    map[int64]*otf2Area
	groups     map[int64]otf2Group
	comms      map[int64]int64 // their groups
	known      map[int64]int64 // of comms those in use
	phases     map[string]int

	otf2Place
}

// otf2Place is the state of the location that is read.
type otf2Place struct {
	k       *rank // nil: a thread that is no rank
	maps    map[byte]map[int64]int64
	open    []*otf2Area // phases
	called  *otf2Area   // procedure of MPI; nil: none
	depth   int         // of regions in it
	out, in *call       // of a sendrecv
	ended   []int64     // requests that the call has ended
}

// otf2Group is a group of locations or of ranks.
type otf2Group struct {
	kind, paradigm byte
	members        []int64
}

// otf2 reads an archive by its anchor.
func otf2(name string) *recording {
	otf2Anchor(name)
	base := strings.TrimSuffix(name, filepath.Ext(name))
	a := &otf2Archive{name: name, texts: map[int64]string{}, regions: map[int64]*otf2Area{},
		groups: map[int64]otf2Group{}, comms: map[int64]int64{}, known: map[int64]int64{}, phases: map[string]int{}}
	openOTF2(base+".def", false, a.define)
	for _, area := range a.regions {
		name := textutil.Visible(strings.ToValidUTF8(a.texts[area.text], "?"))
		area.name, area.mpi = strings.CutPrefix(strings.TrimSuffix(name, "()"), "MPI_")
	}
	var ranks []int64
	for _, g := range a.groups {
		if g.kind == otf2Locations && g.paradigm == otf2MPI {
			ranks = g.members
		}
	}
	if a.resolution == 0 || len(ranks) == 0 {
		textutil.Stop(fmt.Errorf("%s.def: no clock, or no group of the locations that are ranks of MPI", base))
	}
	a.r = newRecording(name, len(ranks))
	for i, l := range ranks {
		a.read(base, l, a.r.ranks[i])
	}
	for _, l := range a.locations { // other threads may only compute
		if !slices.Contains(ranks, l) {
			a.read(base, l, nil)
		}
	}
	return a.r
}

// otf2Anchor reads how an archive is stored.
func otf2Anchor(name string) {
	f := textutil.Must(regular.Open(name))
	defer f.Close()
	defer placed(func() string { return name })
	// OTF2, format, of the trace, version (3 bytes), sizes of chunks (8 each), how files are stored, and packed.
	head := make([]byte, 30)
	if n, _ := io.ReadFull(f, head); n < len(head) || head[0] != otf2Chunk || string(head[2:7]) != "OTF2\x00" {
		textutil.Stop(errors.New("no anchor of an OTF2 archive"))
	}
	if head[28] != 1 || head[29] != 1 {
		textutil.Stop(errors.New("an archive in SION files, or compressed, want plain files"))
	}
}

// define reads a definition.
func (a *otf2Archive) define(o *otf2File, kind byte) {
	switch kind {
	case otf2Clock:
		a.resolution = uint64(o.number())
	case otf2String:
		n := o.number()
		a.texts[n] = o.text()
	case otf2Location:
		n, _, kind := o.number(), o.number(), o.byte()
		if kind == otf2Thread {
			a.locations = append(a.locations, n)
		}
	case otf2Region:
		n := o.number()
		a.regions[n] = &otf2Area{text: o.number()}
	case otf2Groups:
		n := o.number()
		o.number()
		o.byte() // the kind in older versions
		g := otf2Group{}
		for range o.number() {
			g.members = append(g.members, o.number())
		}
		g.kind, g.paradigm = o.byte(), o.byte()
		a.groups[n] = g
	case otf2Comm:
		n := o.number()
		o.number()
		a.comms[n] = o.number()
	}
}

// read reads the events of a location: of a rank, or, with nil, of a thread that may not call MPI.
func (a *otf2Archive) read(base string, location int64, k *rank) {
	a.otf2Place = otf2Place{k: k, maps: map[byte]map[int64]int64{}}
	name := filepath.Join(base, fmt.Sprint(uint64(location)))
	exists := func(name string) bool { _, err := os.Stat(name); return err == nil }
	if exists(name + ".def") {
		openOTF2(name+".def", false, a.mapping)
	}
	if k != nil || exists(name+".evt") {
		openOTF2(name+".evt", true, a.event)
	}
	if k == nil {
		return
	}
	for len(a.open) > 0 {
		a.leave(a.open[len(a.open)-1])
	}
	for handle, q := range k.requests {
		if q.place >= 0 {
			k.of.odd(a.name, 0, "receives that no call has ended are from nobody (MPI_PROC_NULL)")
			k.learn(handle, a.nobody)
		}
	}
}

// nobody makes a message one that nobody sends.
func (a *otf2Archive) nobody(m *call) {
	a.r.nobody = true
	*m = call{kind: int64(trace.KindIrecv), req: m.req, peer: trace.ProcNull}
}

// mapping reads a definition of a location.
func (a *otf2Archive) mapping(o *otf2File, kind byte) {
	if kind != otf2Mapping {
		return
	}
	m := map[int64]int64{}
	which, n, sparse := o.byte(), o.number(), o.byte() != 0
	for i := range n {
		if sparse {
			i = o.number()
		}
		m[i] = o.number()
	}
	a.maps[which] = m
}

// global returns the number in the definitions of a number of the location.
func (a *otf2Archive) global(which byte, n int64) int64 {
	if g, ok := a.maps[which][n]; ok {
		return g
	}
	return n
}

// comm returns a communicator.
func (a *otf2Archive) comm(n int64) int64 {
	id := a.global(otf2MapComms, n)
	comm, ok := a.known[id]
	if ok {
		return comm
	}
	group, ok := a.comms[id]
	switch g := a.groups[group]; {
	case ok && g.kind == otf2Self:
		comm = self
	case ok && g.kind == otf2Members:
		comm = a.r.group(id, g.members)
	default:
		textutil.Stop(fmt.Errorf("communicator %d is not defined, or joins two groups", id))
	}
	a.known[id] = comm
	return comm
}

// nanoseconds returns a time.
func (a *otf2Archive) nanoseconds(ticks uint64) int64 {
	high, low := bits.Mul64(ticks, 1e9)
	if high >= a.resolution/4 {
		textutil.Stop(fmt.Errorf("time of %d ticks, of which a second has %d", ticks, a.resolution))
	}
	ns, _ := bits.Div64(high, low, a.resolution)
	return int64(ns)
}

// event reads an event.
func (a *otf2Archive) event(o *otf2File, kind byte) {
	k := a.k
	calls := kind >= otf2Send && kind <= otf2Collective || kind == otf2Started || kind == otf2Completed
	if k == nil {
		if calls {
			textutil.Stop(errors.New("a call of MPI by a thread that is no rank: a trace has one order of calls"))
		}
		return
	}
	now := a.nanoseconds(o.time)
	if calls && a.called == nil {
		k.took("", now, now, o.name, 0)
	}
	odd := func(text string) { k.of.odd(o.name, 0, text) }
	switch kind {
	case otf2Flush: // of the tool's memory
		k.took("", now, a.nanoseconds(o.order.Uint64(o.bytes(8))), o.name, 0)
	case otf2OnOff:
		odd("the recording was off for a while: what ranks did then is not in the file")
		k.ended = -1
	case otf2Context:
		textutil.Stop(errors.New("an archive of samples, which has no begins and ends of calls"))
	case otf2Enter, otf2Leave:
		n := a.global(otf2MapRegions, o.number())
		area := a.regions[n]
		if area == nil {
			textutil.Stop(fmt.Errorf("region %d is not defined", n))
		}
		a.region(o, area, kind == otf2Enter, now)
	case otf2Send, otf2Isend, otf2Recv, otf2Received:
		peer, comm, tag, size := o.number(), a.comm(o.number()), o.number(), o.number()
		kinds := [...]trace.Kind{otf2Send: trace.KindSend, otf2Isend: trace.KindIsend, otf2Recv: trace.KindRecv,
			otf2Received: trace.KindIrecv}
		m := message(kinds[kind], comm, peer, int64(int32(tag)), size)
		if a.called != nil && strings.HasSuffix(a.called.name, "ssend") || a.called != nil && a.called.name == "Ssend" {
			m.kind = int64(messageKinds[a.called.name])
		}
		both := a.called != nil && strings.HasPrefix(a.called.name, "Sendrecv")
		switch {
		case kind == otf2Isend:
			k.post(o.number(), m, false)
		case kind == otf2Received:
			handle := o.number()
			k.learn(handle, func(posted *call) { m.req = posted.req; *posted = m })
			a.ended = append(a.ended, handle)
		case both && kind == otf2Send:
			a.out = &m
		case both:
			a.in = &m
		default:
			k.add(m)
		}
	case otf2Posted:
		k.post(o.number(), message(trace.KindIrecv, world, trace.AnySource, trace.AnyTag, 0), true)
	case otf2Sent:
		a.ended = append(a.ended, o.number())
	case otf2Test:
		odd("tests that found nothing are left out")
	case otf2Cancelled:
		handle := o.number()
		odd("requests that are cancelled have nobody as their partner (MPI_PROC_NULL)")
		k.learn(handle, a.nobody)
		a.ended = append(a.ended, handle)
	case otf2Started:
		k.post(o.number(), call{kind: int64(trace.KindIcollective), comm: world}, true)
	case otf2Collective, otf2Completed:
		op, comm, root, sent, received := o.byte(), o.number(), o.number(), o.number(), o.number()
		c := call{}
		if op < otf2Handles {
			c = a.collective(otf2Collectives[op], a.comm(comm), root, sent, received)
		}
		if kind == otf2Collective {
			if op < otf2Handles { // others make handles, and windows
				k.add(c)
			}
			break
		}
		handle := o.number()
		k.learn(handle, func(started *call) {
			if a.nobody(started); op < otf2Handles {
				c.kind, c.req = int64(trace.KindIcollective), started.req
				*started = c
			}
		})
		a.ended = append(a.ended, handle)
	}
	if calls && a.called == nil {
		a.end()
	}
}

// region enters or leaves a region.
func (a *otf2Archive) region(o *otf2File, area *otf2Area, enter bool, now int64) {
	switch {
	case a.called != nil && enter:
		a.depth++
	case a.called != nil && a.depth > 0:
		a.depth--
	case a.called != nil:
		a.end()
		a.k.took(a.called.name, -1, now, o.name, 0)
		a.called = nil
	case area.mpi && enter:
		if !area.checked && !definedCalls.MatchString(area.name) {
			argumentsOf(area.name)
		}
		if area.checked = true; strings.HasSuffix(area.name, "robe") {
			a.r.odd(o.name, 0, "MPI_"+area.name+" is left out: the file does not say for which message")
		}
		a.k.took(area.name, now, now, o.name, 0)
		a.called = area
	case area.mpi:
		a.r.odd(o.name, 0, "a call that ends and has not begun is left out")
	case enter:
		a.k.took("", now, now, o.name, 0)
		a.open = append(a.open, area)
		n, ok := a.phases[area.name]
		if !ok {
			n = len(a.r.phases)
			a.phases[area.name] = n
			a.r.phases = append(a.r.phases, area.name)
		}
		a.k.add(call{kind: int64(trace.KindPhase), tag: int64(n)})
	default:
		a.k.took("", now, now, o.name, 0)
		a.leave(area)
	}
}

// leave leaves a phase, and those in it.
func (a *otf2Archive) leave(area *otf2Area) {
	if !slices.Contains(a.open, area) {
		return
	}
	for last := (*otf2Area)(nil); last != area; {
		last = a.open[len(a.open)-1]
		a.open = a.open[:len(a.open)-1]
		a.k.add(call{kind: int64(trace.KindPhase), tag: int64(a.phases[last.name]), bytes: 1})
	}
}

// end hands on what a call has done in all.
func (a *otf2Archive) end() {
	switch {
	case a.out != nil && a.in != nil:
		a.out.kind, a.out.source, a.out.sourceTag = int64(trace.KindSendrecv), a.in.peer, a.in.tag
		a.out.received = a.in.bytes
		a.k.add(*a.out)
	case a.out != nil:
		a.k.add(*a.out)
	case a.in != nil:
		a.k.add(*a.in)
	}
	a.k.complete(a.ended...)
	a.out, a.in, a.ended = nil, nil, a.ended[:0]
}

// collective returns a collective operation of a rank, by the bytes that Score-P counts of it: with each rank of the
// communicator, itself among them unless it works in place.
func (a *otf2Archive) collective(name string, comm, root, sent, received int64) call {
	kind, _, ok := collectiveOf(name)
	if !ok {
		textutil.Stop(fmt.Errorf("MPI_%s has no counterpart in a trace that is converted", name))
	}
	ranks := int64(len(a.k.members(int(comm))))
	part := func(bytes, parts int64) int64 {
		if bytes%parts != 0 {
			parts-- // more than one, as bytes are no multiple of it
		}
		return bytes / max(parts, 1)
	}
	x := exchanged{root: -1, sent: sent, received: received}
	if kind.Rooted() {
		x.root = root
	}
	switch kind {
	case trace.CollBcast, trace.CollScatterv:
		x.sent = received
	case trace.CollReduce, trace.CollGather:
		if sent == 0 {
			x.sent = part(received, max(ranks-1, 1))
		}
	case trace.CollScatter:
		if x.sent = received; received == 0 {
			x.sent = part(sent, max(ranks-1, 1))
		}
	case trace.CollAllreduce, trace.CollAllgather, trace.CollAllgatherv, trace.CollAlltoall:
		x.sent = part(sent, ranks)
	case trace.CollReduceScatter:
		x.sent = part(received, ranks)
	case trace.CollScan:
		if x.sent = (sent + received) / (ranks + 1); (sent+received)%(ranks+1) != 0 {
			x.sent = (sent + received) / max(ranks-1, 1)
		}
	case trace.CollExscan:
		x.sent = (sent + received) / max(ranks-1, 1)
	}
	return a.k.exchange(kind, comm, x)
}
