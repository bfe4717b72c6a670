package foreign

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads Chakra's execution traces of machine learning: a file for each rank, with messages of protobuf behind
// their lengths: first metadata, and then nodes, which depend on others of the rank by their numbers.

// Kinds of nodes.
const (
	chakraMetadata = 1 + iota
	chakraLoad
	chakraStore
	chakraCompute
	chakraSend
	chakraReceive
	chakraCollective
)

// chakraCollectives are the collective operations by their numbers. Those with a root do not name it.
var chakraCollectives = []struct {
	name string
	kind trace.CollectiveKind
	ok   bool
}{
	{"ALL_REDUCE", trace.CollAllreduce, true}, {"REDUCE", 0, false}, {"ALL_GATHER", trace.CollAllgather, true}, {"GATHER", 0, false},
	{"SCATTER", 0, false}, {"BROADCAST", 0, false}, {"ALL_TO_ALL", trace.CollAlltoall, true},
	{"REDUCE_SCATTER", trace.CollReduceScatter, true}, {"REDUCE_SCATTER_BLOCK", trace.CollReduceScatter, true},
	{"BARRIER", trace.CollBarrier, true},
}

// chakraNode is a node as it is in the file.
type chakraNode struct {
	id, kind, micros uint64
	deps             []uint64
	numbers          map[string]int64 // attributes
	words            map[string]string
	partly           bool // a collective operation on some of the dimensions of the network
}

// chakraFile reads the file of a rank.
type chakraFile struct {
	k      *rank
	name   string
	pass   chakraPass
	node   int              // that is read
	groups map[string]int64 // communicators by their names, of all ranks
	graph  *graph
}

// chakra reads the files of all ranks.
func chakra(name string) *recording {
	files := rankFiles(name)
	r := newRecording(name, len(files))
	// A group has the ranks that name it, so that its size is known when all ranks are read: a first pass finds them.
	groups := map[string]int64{}
	pass := func(p chakraPass) bool {
		for i, file := range files {
			c := &chakraFile{k: r.ranks[i], name: file, pass: p, groups: groups}
			if !c.read() {
				return false
			}
		}
		return true
	}
	// A collective operation must be of one kind on all ranks: if one of them has no order, all are taken without.
	if pass(chakraGroups); !pass(chakraInOrder) {
		pass(chakraBeside)
	}
	return r
}

// chakraPass says for what the files are read.
type chakraPass uint8

const (
	chakraGroups  chakraPass = iota // to find the groups that ranks are in
	chakraInOrder                   // for the operations of ranks, in their order
	chakraBeside                    // for these as actions beside ranks
)

// read reads the file, and hands its operations on; it is false if they have no order.
func (c *chakraFile) read() bool {
	f := textutil.Must(regular.Open(c.name))
	defer f.Close()
	place := func() string { return fmt.Sprintf("%s: message %d", c.name, c.node) }
	defer placed(func() string { return place() })
	left := textutil.Must(f.Stat()).Size()
	ids := map[uint64]int32{}
	var nodes []uint64
	var deps []edge // by number of the node that depends
	var on []uint64 // on which
	c.graph = &graph{buffered: true, at: func(n *node) {
		place = func() string { return fmt.Sprintf("%s: node %d", c.name, nodes[n.place]) }
	}}
	in := bufio.NewReaderSize(f, 1<<16)
	for ; ; c.node++ {
		size, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || size > uint64(left) {
			textutil.Stop(fmt.Errorf("message of %d bytes in a file of %d", size, left))
		}
		b := make([]byte, size)
		if _, err := io.ReadFull(in, b); err != nil {
			textutil.Stop(errors.New("the message is cut"))
		}
		if c.node == 0 { // metadata
			continue
		}
		n := parseNode(b)
		if c.pass == chakraGroups {
			c.find(n)
			continue
		}
		number := int32(len(nodes))
		if _, again := ids[n.id]; again {
			textutil.Stop(fmt.Errorf("a second node %d", n.id))
		}
		ids[n.id] = number
		nodes = append(nodes, n.id)
		for _, d := range n.deps {
			deps, on = append(deps, edge{of: number}), append(on, d)
		}
		c.operation(n, number)
		c.graph.few(c.name)
	}
	if c.pass == chakraGroups {
		return true
	}
	if c.node == 0 {
		textutil.Stop(errors.New("an empty file"))
	}
	for i, e := range deps {
		n, ok := ids[on[i]]
		if !ok {
			textutil.Stop(fmt.Errorf("node %d depends on node %d, which is not there", nodes[e.of], on[i]))
		}
		// A send is buffered: it needs no receive to end.
		e.on, e.start = n, c.graph.nodes[n].kind == trace.KindSend
		c.graph.edges = append(c.graph.edges, e)
	}
	if c.pass == chakraInOrder {
		return c.graph.inOrder(c.k)
	}
	c.graph.beside(c.k)
	return true
}

// find notes the group that a node names, and what is lost of it.
func (c *chakraFile) find(n *chakraNode) {
	if n.kind >= chakraLoad && n.kind <= chakraCompute && n.micros == 0 && n.numbers["num_ops"] > 0 {
		c.k.of.odd(c.name, 0, "operations without a duration (num_ops) take no time: the rate of a device is no part of a trace")
	}
	name := n.words["pg_name"]
	if n.kind != chakraCollective || name == "" {
		return
	}
	comm, ok := c.groups[name]
	if !ok {
		comm = c.k.of.define(nil)
		c.groups[name] = comm
	}
	members := &c.k.of.comms[comm].members
	if len(*members) == 0 || (*members)[len(*members)-1] != c.k.number {
		*members = append(*members, c.k.number)
	}
}

// operation adds what a node does to the graph.
func (c *chakraFile) operation(n *chakraNode, number int32) {
	if n.micros > maxNanoseconds/1000 {
		textutil.Stop(fmt.Errorf("node %d takes %d us", n.id, n.micros))
	}
	op := node{place: number, kind: trace.KindFlops, amount: int64(n.micros) * 1000}
	bytes := n.numbers["comm_size"]
	if bytes < 0 || bytes > maxBytes {
		textutil.Stop(fmt.Errorf("node %d of %d bytes, want 0 to %d", n.id, bytes, int64(maxBytes)))
	}
	ranks := int64(len(c.k.of.ranks))
	switch n.kind {
	case chakraMetadata:
		op.amount = 0
	case chakraLoad, chakraStore, chakraCompute:
		if op.amount > 0 {
			op.on = 1 + uint8(n.numbers["is_cpu_op"]&1)
		}
	case chakraSend, chakraReceive:
		peer, tag := n.numbers["comm_dst"], n.numbers["comm_tag"]
		if op.kind = trace.KindSend; n.kind == chakraReceive {
			op.kind, peer = trace.KindRecv, n.numbers["comm_src"]
		}
		if peer < 0 || peer >= ranks || tag != int64(int32(tag)) || tag < -1<<31+2 {
			textutil.Stop(fmt.Errorf("node %d: a message with rank %d of %d and tag %d", n.id, peer, ranks, tag))
		}
		op.peer, op.tag, op.amount = int32(peer), int32(tag), bytes
	case chakraCollective:
		kind := n.numbers["comm_type"]
		if kind < 0 || kind >= int64(len(chakraCollectives)) || !chakraCollectives[kind].ok {
			text := fmt.Sprint(kind)
			if kind >= 0 && kind < int64(len(chakraCollectives)) {
				text = chakraCollectives[kind].name + ", whose root the format does not name"
			}
			textutil.Stop(fmt.Errorf("node %d is a collective operation %s", n.id, text))
		}
		if n.partly {
			textutil.Stop(fmt.Errorf("node %d is on some dimensions of the network (involved_dim), whose ranks the file does not name", n.id))
		}
		comm := int64(world)
		if name := n.words["pg_name"]; name != "" {
			comm = c.groups[name]
		}
		size := int64(len(c.k.of.comms[comm].members))
		op.kind, op.amount = trace.KindIcollective, int64(len(c.graph.calls))
		c.graph.calls = append(c.graph.calls, chakraCall(chakraCollectives[kind].kind, comm, bytes, size))
	default:
		textutil.Stop(fmt.Errorf("node %d is of kind %d, want 1 to 7", n.id, n.kind))
	}
	c.graph.nodes = append(c.graph.nodes, op)
}

// chakraCall returns a collective operation of so many bytes on a communicator of ranks. The bytes are those of all
// ranks together where a rank has a part of them, but those of one rank for an all-gather, as in astra-sim.
func chakraCall(kind trace.CollectiveKind, comm, bytes, ranks int64) call {
	c := call{kind: int64(trace.KindIcollective), comm: comm, collective: int64(kind), sendSize: 1, recvSize: 1}
	switch kind {
	case trace.CollAllreduce:
		c.bytes = bytes
	case trace.CollAllgather:
		c.bytes, c.received = bytes, bytes
	case trace.CollAlltoall:
		c.bytes, c.received = bytes/ranks, bytes/ranks
	case trace.CollReduceScatter: // what is left over is for the first ranks
		for i := range ranks {
			n := bytes / ranks
			if i < bytes%ranks {
				n++
			}
			c.receives = append(c.receives, n)
		}
	}
	return c
}

// fields calls f with each field of a message: its number, and its value or its bytes.
func fields(b []byte, f func(number protowire.Number, value uint64, bytes []byte)) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			textutil.Stop(errors.New("no message of protobuf"))
		}
		b = b[n:]
		var value uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			textutil.Stop(errors.New("no message of protobuf"))
		}
		b = b[n:]
		f(number, value, bytes)
	}
}

// parseNode takes a node apart.
func parseNode(b []byte) *chakraNode {
	n := &chakraNode{numbers: map[string]int64{}, words: map[string]string{}}
	fields(b, func(number protowire.Number, value uint64, bytes []byte) {
		switch number {
		case 1:
			n.id = value
		case 3:
			n.kind = value
		case 4, 5: // dependencies of both kinds, packed or one by one
			if bytes == nil {
				n.deps = append(n.deps, value)
			}
			for len(bytes) > 0 {
				v, size := protowire.ConsumeVarint(bytes)
				if size < 0 {
					textutil.Stop(errors.New("no list of dependencies"))
				}
				n.deps, bytes = append(n.deps, v), bytes[size:]
			}
		case 7:
			n.micros = value
		case 10:
			n.attribute(bytes)
		}
	})
	return n
}

// attribute notes an attribute. Producers disagree on the type of numbers.
func (n *chakraNode) attribute(b []byte) {
	name := ""
	fields(b, func(number protowire.Number, value uint64, bytes []byte) {
		switch number {
		case 1:
			name = string(bytes)
		case 7, 9, 11, 13, 27: // int32, int64, uint32, uint64, bool
			n.numbers[name] = int64(value)
		case 15, 17: // sint32, sint64
			n.numbers[name] = protowire.DecodeZigZag(value)
		case 28: // bools
			fields(bytes, func(_ protowire.Number, value uint64, bytes []byte) {
				for _, v := range bytes {
					n.partly = n.partly || name == "involved_dim" && v == 0
				}
				n.partly = n.partly || name == "involved_dim" && bytes == nil && value == 0
			})
		case 29:
			n.words[name] = string(bytes)
		}
	})
}
