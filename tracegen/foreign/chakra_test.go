package foreign_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"reprise/platforms"
	"reprise/replay"
)

// chakraField appends a field: a number, a text, or a message.
func chakraField(b []byte, number protowire.Number, value any) []byte {
	switch v := value.(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
	case string:
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
	}
	panic(value)
}

// chakraNode returns a node of a kind that takes some microseconds, depends on others, and has attributes: names, each
// before an integer or a text.
func chakraNode(id, kind, micros int, deps []int, attributes ...any) []byte {
	b := chakraField(chakraField(chakraField(nil, 1, id), 2, "a node"), 3, kind)
	for _, d := range deps {
		b = chakraField(b, 5, d)
	}
	b = chakraField(b, 7, micros)
	for i := 0; i < len(attributes); i += 2 {
		a := chakraField(nil, 1, attributes[i])
		switch v := attributes[i+1].(type) {
		case int:
			a = chakraField(a, 9, v)
		case string:
			a = chakraField(a, 29, v)
		case []byte:
			a = chakraField(a, 28, chakraField(nil, 1, v))
		}
		b = chakraField(b, 10, a)
	}
	return b
}

// chakraBytes returns the file of a rank.
func chakraBytes(nodes ...[]byte) string {
	b := protowire.AppendBytes(nil, chakraField(nil, 1, "0.0.4"))
	for _, n := range nodes {
		b = protowire.AppendBytes(b, n)
	}
	return string(b)
}

// TestChakra: each kind of node, with dependencies, and a communicator of the ranks that name it.
func TestChakra(t *testing.T) {
	var files []string
	for r := range 4 {
		group, other := fmt.Sprint("g", r%2), (r+2)%4
		files = append(files, fmt.Sprintf("run.%d.et", r), chakraBytes(
			chakraNode(7, 4, 10, nil, "is_cpu_op", 0),
			chakraNode(8, 7, 0, []int{7}, "comm_type", 0, "comm_size", 1000, "is_cpu_op", 0),
			chakraNode(9, 4, 20, []int{7}), // computes while the all-reduce goes on
			chakraNode(11, 4, 5, []int{8, 9}),
			chakraNode(12, 5, 0, []int{11}, "comm_src", r, "comm_dst", other, "comm_size", 64, "comm_tag", 3),
			chakraNode(13, 6, 0, []int{11}, "comm_src", other, "comm_dst", r, "comm_size", 64, "comm_tag", 3),
			chakraNode(20, 7, 0, []int{12, 13}, "comm_type", 7, "comm_size", 10, "pg_name", group),
			chakraNode(21, 7, 0, []int{20}, "comm_type", 6, "comm_size", 400),
			chakraNode(22, 7, 0, []int{21}, "comm_type", 2, "comm_size", 400),
			chakraNode(23, 1, 0, []int{22}),
			chakraNode(24, 7, 0, []int{23}, "comm_type", 9, "involved_dim", []byte{1, 1}),
		))
	}
	wantListings(t, "chakra", inDir(t, files...), `beside processor 1
		flops 10000
		after 1
		beside
		allreduce send 1000x1 flops 0
		after 2
		beside processor 1
		flops 20000
		after 2
		after 1
		beside processor 1
		flops 5000
		after 1
		beside
		send 2 64 3 world
		after 2
		beside
		recv 2 64 3 world
		after-begin 2
		after 1
		beside
		reducescatter recv 5,5x1 flops 0 comm comm1
		after 1
		beside
		alltoall send 100x1 recv 100x1
		after 1
		beside
		allgather send 400x1 recv 400x1
		after 1
		beside
		flops 0
		after 1
		beside
		barrier
		waitall
		`)
}

// TestChakraInOrder: nodes of which none overlaps with a collective operation.
func TestChakraInOrder(t *testing.T) {
	wantListings(t, "chakra", inDir(t, "run.0.et", chakraBytes(
		chakraNode(1, 4, 10, nil),
		chakraNode(2, 5, 0, []int{1}, "comm_dst", 0, "comm_size", 64, "comm_tag", 3),
		chakraNode(3, 6, 0, []int{1}, "comm_src", 0, "comm_size", 64, "comm_tag", 3),
		chakraNode(4, 7, 0, []int{2, 3}, "comm_type", 0, "comm_size", 10),
		chakraNode(5, 4, 5, []int{4}))), `flops 10000
		isend 0 64 3 world
		free send 0 64 3
		recv 0 64 3 world
		allreduce send 10x1 flops 0
		flops 5000
		`)
}

// TestChakraRing: a ring in which each rank receives behind its send, as in astra-sim's custom collective operations. Sends
// are buffered, so that they need no receive.
func TestChakraRing(t *testing.T) {
	var files []string
	for r := range 3 {
		files = append(files, fmt.Sprintf("ring.%d.et", r), chakraBytes(
			chakraNode(1, 5, 0, nil, "comm_src", r, "comm_dst", (r+1)%3, "comm_size", 1<<20),
			chakraNode(2, 6, 0, []int{1}, "comm_src", (r+2)%3, "comm_dst", r, "comm_size", 1<<20),
			chakraNode(3, 4, 7, []int{2})))
	}
	makespan := onOneSwitch(t, files...)
	if want := 500e-9 + (1<<20)/50e9 + 7e-6; math.Abs(makespan/want-1) > 0.05 { // acknowledgements take 5 % of the bandwidth
		t.Errorf("%g s, want %g", makespan, want)
	}
}

// TestChakraErrors: what a trace cannot say is an error with file and node.
func TestChakraErrors(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"", "x.0.et: message 0: an empty file"},
		{"\x05\x0a", "x.0.et: message 0: message of 5 bytes in a file of 2"},
		{chakraBytes([]byte("\xff")), "x.0.et: message 1: no message of protobuf"},
		{chakraBytes(chakraNode(1, 9, 0, nil)), "node 1 is of kind 9, want 1 to 7"},
		{chakraBytes(chakraNode(1, 4, 0, []int{2})), "node 1 depends on node 2, which is not there"},
		{chakraBytes(chakraNode(1, 4, 0, nil), chakraNode(1, 4, 0, nil)), "message 2: a second node 1"},
		{chakraBytes(chakraNode(1, 4, 0, []int{2}), chakraNode(2, 4, 0, []int{1})), "x.0.et: node 1: the operation depends on itself"},
		{chakraBytes(chakraNode(1, 7, 0, nil, "comm_type", 5)), "node 1 is a collective operation BROADCAST, whose root"},
		{chakraBytes(chakraNode(1, 7, 0, nil, "comm_type", 0, "involved_dim", []byte{1, 0})), "node 1 is on some dimensions of the network"},
		{chakraBytes(chakraNode(1, 5, 0, nil, "comm_dst", 4)), "node 1: a message with rank 4 of 1 and tag 0"},
	} {
		wantError(t, "chakra", inDir(t, "x.0.et", c.content), c.want)
	}
}

// TestChakraTime: the all-reduce of 1 MiB on 4 devices of astra-sim's microbenchmarks, with its ring of 50 GB/s and 500 ns:
// 2 x 3 steps of a quarter of the bytes, as its analytical network has them. SMPI lets acknowledgements take 5 % of the
// bandwidth, which makes 4.6 % of the time.
func TestChakraTime(t *testing.T) {
	var files []string
	for r := range 4 {
		files = append(files, fmt.Sprintf("all_reduce.%d.et", r), chakraBytes(
			chakraNode(r, 7, 0, nil, "is_cpu_op", 0, "comm_type", 0, "comm_size", 1<<20)))
	}
	makespan := onOneSwitch(t, files...)
	ring := 2 * 3 * (500e-9 + (1<<20)/4/50e9)
	if d := makespan/ring - 1; math.Abs(d) > 0.05 {
		t.Errorf("%g s, %g by the ring: %+.1f %%", makespan, ring, 100*d)
	}
}

// onOneSwitch returns the makespan of the trace of files, a rank on each host of one switch with 50 GB/s and 500 ns, where
// messages take what the links take.
func onOneSwitch(t *testing.T, files ...string) float64 {
	t.Helper()
	tr, _, err := convert("chakra", inDir(t, files...))
	if err != nil {
		t.Fatal(err)
	}
	var m replay.Machine
	m.Platform, err = platforms.Parse(strings.NewReader(`<platform version="4.1">
		<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="50GBps" lat="250ns"/></platform>`), "switch.xml")
	if err != nil {
		t.Fatal(err)
	}
	if m.Hosts, err = replay.FillHosts(m.Platform, tr.Header().Ranks, 1); err != nil {
		t.Fatal(err)
	}
	o := replay.DefaultOptions()
	for _, set := range []string{"smpi/allreduce:lr", "smpi/bw-factor:1", "smpi/lat-factor:1", "network/TCP-gamma:0"} {
		name, value, _ := strings.Cut(set, ":")
		if err := o.Network.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	res, err := replay.Run(context.Background(), tr, m, o)
	if err != nil {
		t.Fatal(err)
	}
	return res.Makespan
}

// FuzzChakra: no panic, and an error names the file.
func FuzzChakra(f *testing.F) {
	f.Add([]byte(chakraBytes(chakraNode(1, 7, 0, nil, "comm_type", 7, "comm_size", 9, "pg_name", "a"), chakraNode(2, 4, 5, []int{1}))))
	f.Add([]byte(chakraBytes(chakraNode(1, 5, 0, nil, "comm_dst", 0, "comm_size", 9), chakraNode(2, 6, 5, []int{1}, "comm_src", 0))))
	f.Fuzz(func(t *testing.T, content []byte) { fuzz(t, "chakra", "x.0.et", content) })
}
