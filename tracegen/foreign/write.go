package foreign

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes a recording as a trace (recording.write). Before, it finds the communicators that ranks have made
// (resolve), which of them are used, and the sizes of messages of which the receiver knows less (survey).

// creation is a call by which a rank makes a communicator.
type creation struct {
	parent int64
	place  string // of the call, for errors
	// part says of a rank of the parent which of the new communicators it goes to, and by which key the members are
	// sorted; it is false for a rank that goes to none.
	part         func(rank, size int) (color, key int64, member bool)
	begun, freed int64 // calls of the rank before, and before it was freed; 0: never
	of           int   // the communicator; -1: not known yet, or none
	done         bool  // it is known
	// Of a name without a call: the rank and size by which the call is found among those before, which have no name yet.
	named      bool
	rank, size int
	linked     bool // a name has been found for the call
}

// name returns the number of a communicator that a file names by what it makes for the rank: its rank and its size.
func (k *rank) name(place string, rank, size int) int64 {
	k.made = append(k.made, creation{place: place, named: true, rank: rank, size: size, begun: k.calls, of: -1})
	return -int64(len(k.made))
}

// find finds the call that made a communicator with a name, among the first of a rank.
func (k *rank) find(n int) {
	c := &k.made[n]
	fits := -1
	for i := range k.made[:n] {
		m := &k.made[i]
		if m.named || m.linked || m.of < 0 {
			continue
		}
		members := k.members(m.of)
		switch {
		case len(members) != c.size || members[c.rank] != k.number:
		case fits < 0:
			fits = i
		case !slices.Equal(members, k.members(k.made[fits].of)):
			k.of.odd(c.place, 0, "several communicators of the rank may be meant: it is taken for the first of them that has no name yet")
		}
	}
	if fits < 0 {
		textutil.Stop(fmt.Errorf("%s: rank %d uses a communicator of %d ranks, of which it is rank %d: the file does not say which ranks are its members",
			c.place, k.number, c.size, c.rank))
	}
	c.of, k.made[fits].linked = k.made[fits].of, true
}

// create adds the call by which a rank makes a communicator, and returns its number.
func (k *rank) create(parent int64, place string, part func(rank, size int) (color, key int64, member bool)) int64 {
	k.made = append(k.made, creation{parent: parent, place: place, part: part, begun: k.calls, of: -1})
	return -int64(len(k.made))
}

// freeComm notes that a rank frees a communicator that it has made.
func (k *rank) freeComm(comm int64) {
	if comm < 0 {
		k.made[-1-comm].freed = k.calls
	}
}

// commOf returns the communicator of a number of a rank; -1: not known.
func (k *rank) commOf(comm int64) int {
	if comm < 0 {
		return k.made[-1-comm].of
	}
	return int(comm)
}

// members returns the world ranks of a communicator of a rank.
func (k *rank) members(comm int) []int32 {
	if comm == self {
		return []int32{k.number}
	}
	return k.of.comms[comm].members
}

// resolve finds the communicators that ranks have made. All members of the parent make the calls on it in one order
// (MPI 4.1, section 7.4.2), so that the nth call of one rank belongs to the nth call of each other rank.
func (r *recording) resolve() {
	type meeting struct{ parent, nth int }
	arrived := map[meeting]map[int32]*creation{}
	next := make([]int, len(r.ranks))
	for moved := true; moved; {
		moved = false
		for i, k := range r.ranks {
			for ; next[i] < len(k.made); next[i]++ {
				// A name waits for all calls before it, a call for its parent alone.
				c := &k.made[next[i]]
				if c.named {
					if slices.ContainsFunc(k.made[:next[i]], func(c creation) bool { return !c.done }) {
						break
					}
					k.find(next[i])
					c.done, moved = true, true
					continue
				}
				parent := k.commOf(c.parent)
				if parent < 0 {
					break
				}
				moved = true
				members := k.members(parent)
				if parent == self {
					c.of, c.done = int(r.define(members)), true
					continue
				}
				m := meeting{parent, k.met[[2]int{parent}]}
				k.met[[2]int{parent}]++
				if arrived[m] == nil {
					arrived[m] = map[int32]*creation{}
				}
				if arrived[m][k.number] = c; len(arrived[m]) == len(members) {
					r.part(members, arrived[m])
					delete(arrived, m)
				}
			}
		}
	}
	for i, k := range r.ranks { // an error names the first rank that waits
		clear(k.met)
		for j := range k.made {
			c := &k.made[j]
			if c.done || c.named {
				continue
			}
			parent := k.commOf(c.parent)
			if parent < 0 {
				textutil.Stop(fmt.Errorf("%s: rank %d makes a communicator from one that it is no member of", c.place, i))
			}
			for m, by := range arrived {
				if m.parent != parent || by[k.number] != c {
					continue
				}
				missing := slices.IndexFunc(r.comms[parent].members, func(other int32) bool { return by[other] == nil })
				textutil.Stop(fmt.Errorf("%s: rank %d makes a communicator together with rank %d, which does not make it", c.place, i,
					r.comms[parent].members[missing]))
			}
		}
	}
}

// part divides the members of a communicator.
func (r *recording) part(members []int32, calls map[int32]*creation) {
	type place struct {
		color, key int64
		rank       int32
	}
	var places []place
	for i, m := range members {
		calls[m].done = true
		if color, key, member := calls[m].part(i, len(members)); member {
			places = append(places, place{color, key, m})
		}
	}
	// Ranks of equal keys keep their order in the parent.
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.color, b.color), cmp.Compare(a.key, b.key))
	})
	for begin := 0; begin < len(places); {
		end := begin
		var list []int32
		for ; end < len(places) && places[end].color == places[begin].color; end++ {
			list = append(list, places[end].rank)
		}
		n := r.define(list)
		for _, p := range places[begin:end] {
			calls[p.rank].of = int(n)
		}
		begin = end
	}
}

// channel is what messages are matched by.
type channel struct {
	comm              int
	source, dest, tag int32
}

// sizes are the sizes of the messages of a channel in their order: runs of equal ones.
type sizes []struct{ bytes, count int64 }

func (s *sizes) add(bytes int64) {
	if n := len(*s); n > 0 && (*s)[n-1].bytes == bytes {
		(*s)[n-1].count++
		return
	}
	*s = append(*s, struct{ bytes, count int64 }{bytes, 1})
}

// take returns the size of the next message, or -1.
func (s *sizes) take() int64 {
	if len(*s) == 0 {
		return -1
	}
	bytes := (*s)[0].bytes
	if (*s)[0].count--; (*s)[0].count == 0 {
		*s = (*s)[1:]
	}
	return bytes
}

// survey reads all calls once: it finds the communicators in use, where messages are received with wildcards, and the sizes of messages.
func (r *recording) survey() (used map[int]bool, wild map[channel]bool, sent map[channel]*sizes) {
	used, wild, sent = map[int]bool{}, map[channel]bool{}, map[channel]*sizes{}
	for _, k := range r.ranks {
		var c call
		for p := (replayed{k: k}); p.read(&c); {
			comm := k.commOf(c.comm)
			used[comm] = true
			switch trace.Kind(c.kind) {
			case trace.KindRecv, trace.KindIrecv:
				if c.peer == trace.AnySource || c.tag == trace.AnyTag {
					wild[channel{comm: comm, dest: k.number}] = true
				}
			case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindSendrecv:
				to, ok := k.world(comm, c.peer)
				if !ok || to == trace.ProcNull {
					continue // an error of the writing
				}
				ch := channel{comm, k.number, to, int32(c.tag)}
				if sent[ch] == nil {
					sent[ch] = &sizes{}
				}
				sent[ch].add(c.bytes)
			case trace.KindCollective, trace.KindIcollective:
				if c.room == exchangeRoom && comm >= 0 {
					k.meet(comm, c.collective).gather(k, comm, &c)
				}
			}
		}
		clear(k.met)
	}
	return used, wild, sent
}

// world returns the world rank of a rank of a communicator. Wildcards and nobody stay.
func (k *rank) world(comm int, peer int64) (int32, bool) {
	if peer == trace.AnySource || peer == trace.ProcNull {
		return int32(peer), true
	}
	if comm < 0 {
		return 0, false
	}
	members := k.members(comm)
	if peer < 0 || peer >= int64(len(members)) {
		return 0, false
	}
	return members[peer], true
}

// families gives the communicators in use their families of the trace, as few as hold them side by side.
func (r *recording) families(h *trace.Header, used map[int]bool) {
	families := trace.NewFamilies(len(r.ranks))
	last := map[string]int{} // by members: the communicator that had them last
	for n := firstComm; n < len(r.comms); n++ {
		c := &r.comms[n]
		if !used[n] {
			continue
		}
		// A program that makes and frees a communicator in each of its steps needs one family for all of them.
		key := fmt.Sprint(c.members)
		before, again := last[key]
		last[key] = n
		for _, m := range c.members {
			again = again && r.ranks[m].freedBefore(before, n)
		}
		if again {
			c.family = r.comms[before].family
			continue
		}
		c.family = int(families.Place(c.members))
	}
	if used[self] {
		r.comms[self].family = int(families.Selves())
	}
	h.CommFamilies, h.Communicators = families.List(), families.Any() || r.nobody
}

// freedBefore reports whether a rank had freed one communicator when it made another.
func (k *rank) freedBefore(one, other int) bool {
	free, made := int64(0), int64(0)
	for i := range k.made {
		if k.made[i].of == one {
			free = k.made[i].freed
		}
		if k.made[i].of == other {
			made = k.made[i].begun
		}
	}
	return free > 0 && free <= made
}

// write writes the recording as a trace.
func (r *recording) write(w io.Writer, program string, o *Options) (err error) {
	defer textutil.Stopped(&err)
	for _, k := range r.ranks {
		k.finish()
	}
	r.resolve()
	used, wild, sent := r.survey()
	h := trace.FlatHeader(program, len(r.ranks))
	h.Tool, h.Command = o.Tool, o.Command
	h.Params = []trace.Param{{Name: trace.ParamRate, Value: "1e+09"}}
	h.Phases = r.phases
	h.Flatten()
	r.families(h, used)
	tw := textutil.Must(trace.NewWriter(w, h, trace.WriterOptions{}))
	flat := trace.NewFlat(tw)
	type source struct {
		replayed
		c  call
		ok bool
	}
	sources := make([]source, len(r.ranks))
	for i, k := range r.ranks {
		sources[i].k = k
		sources[i].ok = sources[i].read(&sources[i].c)
	}
	for done := 0; ; {
		flat.Begin()
		lists := map[string][]int64{} // running sums of the unit, by counts
		for i := range sources {
			s := &sources[i]
			for s.ok && flat.Takes(int32(i), &trace.Action{Kind: trace.Kind(s.c.kind), Sym: uint16(s.c.collective)}) {
				var a trace.Action
				err := s.k.action(&s.c, &a, wild, sent)
				if err == nil {
					err = flat.Add(int32(i), &a, running(lists, s.c.sends), running(lists, s.c.receives))
					done++
				}
				if err != nil {
					return fmt.Errorf("%s: rank %d: %w", r.name, i, err)
				}
				s.ok = s.read(&s.c)
			}
		}
		some := !flat.Empty()
		if some {
			textutil.Check(flat.End(0))
		}
		if o.Progress != nil {
			o.Progress(done)
		}
		if !some && !slices.ContainsFunc(sources, func(s source) bool { return s.ok }) {
			return tw.Close()
		}
	}
}

// running returns the running sums of counts, the same slice for the same counts.
func running(lists map[string][]int64, counts []int64) []int64 {
	if counts == nil {
		return nil
	}
	var key []byte
	for _, n := range counts {
		key = binary.AppendVarint(key, n)
	}
	s, ok := lists[string(key)]
	if !ok {
		s = append(s, 0)
		for i, n := range counts {
			s = append(s, s[i]+n)
		}
		lists[string(key)] = s
	}
	return s
}

// action turns a call into an action.
func (k *rank) action(c *call, a *trace.Action, wild map[channel]bool, sent map[channel]*sizes) error {
	kind := trace.Kind(c.kind)
	comm := k.commOf(c.comm)
	*a = trace.Action{Kind: kind, Req: int32(c.req)}
	var ok bool
	switch kind {
	case trace.KindWait, trace.KindFree, trace.KindWaitAll:
		return nil
	case trace.KindAfter, trace.KindBeside:
		a.Tag, a.X[0] = int32(c.tag), c.bytes
		return nil
	case trace.KindFlops:
		a.X[0] = c.ns
		return nil
	case trace.KindPhase:
		a.Sym, a.Flags = uint16(c.tag), uint8(c.bytes)*trace.FlagEnd
		return nil
	}
	if comm < 0 {
		return fmt.Errorf("%v on a communicator that the rank is no member of", kind)
	}
	switch family := k.of.comms[comm].family; kind {
	case trace.KindCollective, trace.KindIcollective:
		// Of operations with a root, only the root's numbers of the other ranks' side have a meaning.
		op, members := trace.CollectiveKind(c.collective), k.members(comm)
		if c.room == exchangeRoom {
			k.meet(comm, c.collective).complete(k, comm, c)
		}
		root := c.peer >= 0 && c.peer < int64(len(members)) && members[c.peer] == k.number
		if op.RecvsPerRank() && (c.receives == nil || op.Rooted() && !root) {
			c.receives = make([]int64, len(members))
		}
		if op.SendsPerRank() && (c.sends == nil || op.Rooted() && !root) {
			c.sends = make([]int64, len(members))
		}
		// A trace has elements of at least a byte and not too many; others are counted in bytes.
		for _, side := range []struct {
			count, size *int64
			list        []int64
		}{{&c.bytes, &c.sendSize, c.sends}, {&c.received, &c.recvSize, c.receives}} {
			if *side.size >= 1 && *side.size <= trace.MaxElementSize {
				continue
			}
			*side.count *= *side.size
			for i := range side.list {
				side.list[i] *= *side.size
			}
			*side.size = 1
		}
		call := trace.Collective{Kind: trace.CollectiveKind(c.collective), Root: int32(c.peer), Send: c.bytes, Recv: c.received,
			SendSize: c.sendSize, RecvSize: c.recvSize, Span: c.span, Operator: trace.Operator(c.operator),
			Nonblocking: kind == trace.KindIcollective}
		if comm != world {
			call.Comm = int32(trace.Communicator(family))
		}
		a.SetCollective(&call)
		for _, list := range [][]int64{c.sends, c.receives} {
			for _, n := range list {
				if n < 0 || n > trace.MaxCount {
					return fmt.Errorf("%v of %d elements, want 0 to %d", call.Kind, n, int64(trace.MaxCount))
				}
			}
		}
		if call.Kind.SendsPerRank() {
			call.SendSums = make([]int64, len(c.sends)+1)
		}
		if call.Kind.RecvsPerRank() {
			call.RecvSums = make([]int64, len(c.receives)+1)
		}
		if err := call.Check(len(k.members(comm))); err != nil {
			return fmt.Errorf("%v: %w", call.Kind, err)
		}
		a.Req = int32(c.req)
		return nil
	default:
		a.Sym = uint16(family)
	}
	if a.Peer, ok = k.world(comm, c.peer); !ok {
		return fmt.Errorf("%v with rank %d of a communicator of %d", kind, c.peer, len(k.members(comm)))
	}
	a.Tag, a.X[0], a.X[1] = int32(c.tag), c.bytes, c.received
	source := int32(c.peer)
	if kind == trace.KindSendrecv {
		if source, ok = k.world(comm, c.source); !ok {
			return fmt.Errorf("%v from rank %d of a communicator of %d", kind, c.source, len(k.members(comm)))
		}
		a.X[2] = int64(uint32(source)) | c.sourceTag<<32
	}
	// The sizes of what is received are those of what is sent, unless wildcards take messages out of their order.
	bytes, from, tag := &a.X[0], a.Peer, a.Tag
	if kind == trace.KindSendrecv {
		bytes, from, tag = &a.X[1], source, int32(c.sourceTag)
	} else if kind != trace.KindRecv && kind != trace.KindIrecv {
		return nil
	}
	if s := sent[channel{comm, from, k.number, tag}]; s == nil || wild[channel{comm: comm, dest: k.number}] {
		if c.room != 0 && from != trace.ProcNull {
			*bytes = -1
		}
	} else if size := s.take(); c.room != 0 && size > *bytes {
		return fmt.Errorf("a message of %d bytes from rank %d with tag %d, and room for %d", size, from, tag, *bytes)
	} else if c.room != 0 {
		*bytes = size
	}
	return nil
}
