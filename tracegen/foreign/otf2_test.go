package foreign_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// otf2Writer writes files of OTF2 in an order of bytes.
type otf2Writer struct{ order binary.AppendByteOrder }

// file returns a file of records: their kinds, with the values behind: numbers, bytes and texts. Events have their time
// first, and those of one number no length.
func (w otf2Writer) file(events bool, records ...[]any) string {
	mark := byte('B')
	if w.order == binary.AppendByteOrder(binary.BigEndian) {
		mark = '#'
	}
	b := append([]byte{3, mark}, make([]byte, 16)...)
	for i, r := range records {
		if events {
			b = w.order.AppendUint64(append(b, 5), uint64(r[0].(int)))
			r = r[1:]
		}
		if i == 1 { // as if a chunk ended here
			b = append(append(b, 0, 0, 0, 3, mark), make([]byte, 16)...)
		}
		var data []byte
		for _, v := range r[1:] {
			switch v := v.(type) {
			case byte:
				data = append(data, v)
			case string:
				data = append(append(data, v...), 0)
			case int:
				if v < 0 {
					data = append(data, 255)
					break
				}
				n := 0
				for v>>(8*n) > 0 {
					n++
				}
				number := w.order.AppendUint64(nil, uint64(v))
				if data = append(data, byte(n)); mark == '#' {
					number = number[8-n:]
				}
				data = append(data, number[:n]...)
			}
		}
		kind := byte(r[0].(int))
		if b = append(b, kind); !events || strings.IndexByte("\x0c\x0d\x10\x11\x14\x15", kind) < 0 {
			if len(data) >= 255 {
				b = w.order.AppendUint64(append(b, 255), uint64(len(data)))
			} else {
				b = append(b, byte(len(data)))
			}
		}
		b = append(b, data...)
	}
	return string(append(b, 2, 1))
}

// otf2Anchor returns the anchor of an archive of plain files.
func otf2Anchor(substrate, compression byte) string {
	return "\x03BOTF2\x00\x03\x02\x03\x00\x02" + strings.Repeat("\x00", 16) + string([]byte{substrate, compression}) + strings.Repeat("\x00", 16)
}

// Kinds of records.
const (
	otf2Enter, otf2Leave, otf2Send, otf2Isend, otf2Sent, otf2Posted, otf2Recv, otf2Received, otf2Test, otf2Cancelled = 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
	otf2CollectiveBegin, otf2CollectiveEnd, otf2Started, otf2Completed                                               = 22, 23, 85, 86
)

// otf2Regions are the regions of the tests, by their numbers.
var otf2Regions = strings.Fields(`main work MPI_Init MPI_Isend MPI_Irecv MPI_Issend MPI_Wait MPI_Waitall MPI_Send MPI_Recv MPI_Sendrecv MPI_Coll
	MPI_Put MPI_Ssend MPI_Iprobe`)

// definitions returns those of ranks, whose locations are 10, 20, ..., with a clock of so many ticks in a second. There are
// the world (1), each rank for itself (2), its first and last rank in the reverse order (3), and one of two groups.
func (w otf2Writer) definitions(ranks, resolution int, more ...[]any) string {
	records := [][]any{{5, resolution, 0, 0}}
	for i, name := range otf2Regions {
		if name == "MPI_Coll" {
			name = "MPI_Barrier"
		}
		records = append(records, []any{10, i, name}, []any{15, i, i, 0, byte(0), 0, 0, 0, i, byte(0), byte(4), 0})
	}
	locations, members := []any{18, 0, 0, byte(0), ranks}, []any{18, 1, 0, byte(0), ranks}
	for r := range ranks {
		records = append(records, []any{14, 10 * (r + 1), 0, byte(1), 0, 0})
		locations, members = append(locations, 10*(r+1)), append(members, r)
	}
	records = append(records, []any{14, 5, 0, byte(1), 0, 0}, append(locations, byte(4), byte(4), 0), append(members, byte(5), byte(4), 0),
		[]any{18, 2, 0, byte(0), 0, byte(6), byte(4), 0}, []any{18, 3, 0, byte(0), 2, ranks - 1, 0, byte(5), byte(4), 0},
		[]any{22, 1, 0, 1, -1, 0}, []any{22, 2, 0, 2, -1, 0}, []any{22, 3, 0, 3, -1, 0}, []any{43, 4, 0, 1, 3, -1, 0})
	return w.file(false, append(records, more...)...)
}

// otf2Program returns the events of a rank: regions by their names, with what they do, each 10 ticks after the one before.
type otf2Program struct {
	time   int
	events [][]any
}

func (p *otf2Program) add(kind int, values ...any) {
	p.time += 10
	p.events = append(p.events, append([]any{p.time, kind}, values...))
}

func (p *otf2Program) call(name string, events ...[]any) {
	region := -1
	for i, r := range otf2Regions {
		if r == name {
			region = i
		}
	}
	p.add(otf2Enter, region)
	for _, e := range events {
		p.add(e[0].(int), e[1:]...)
	}
	p.add(otf2Leave, region)
}

// TestOTF2: each kind of event, in both orders of bytes, with 10 ticks, 5 ns, between calls, and in the phase work. Score-P counts
// the bytes with each of the 3 ranks: 24 of an all-reduce of 8, or 16 in place.
func TestOTF2(t *testing.T) {
	for _, w := range []otf2Writer{{binary.LittleEndian}, {binary.BigEndian}} {
		files := []string{"x.otf2", otf2Anchor(1, 1), "x.def", w.definitions(3, 2e9),
			"x/5.evt", w.file(true, []any{5, otf2Enter, 1}, []any{15, otf2Leave, 1})} // of a thread that computes
		for r := range 3 {
			next, before := (r+1)%3, (r+2)%3
			p := &otf2Program{}
			p.add(otf2Enter, 0)
			p.call("MPI_Init")
			p.call("MPI_Irecv", []any{otf2Posted, 100})
			p.call("MPI_Isend", []any{otf2Isend, next, 7, 5, 640, 101})
			p.call("MPI_Issend", []any{otf2Isend, next, 7, 6, 0, 102})
			p.call("MPI_Recv", []any{otf2Recv, before, 7, 6, 0})
			p.call("MPI_Wait", []any{otf2Sent, 102})
			p.add(otf2Enter, 1)
			p.add(otf2Leave, 1)
			p.call("MPI_Iprobe", []any{otf2Test, 100})
			p.call("MPI_Waitall", []any{otf2Received, before, 7, 5, 640, 100}, []any{otf2Sent, 101})
			p.call("MPI_Sendrecv", []any{otf2Send, next, 7, 1, 300}, []any{otf2Recv, before, 7, 1, 300})
			p.call("MPI_Irecv", []any{otf2Posted, 103})
			p.call("MPI_Wait", []any{otf2Cancelled, 103})
			collective := func(op byte, comm, root, sent, received int) {
				p.call("MPI_Coll", []any{otf2CollectiveBegin}, []any{otf2CollectiveEnd, op, comm, root, sent, received})
			}
			collective(17, 7, -1, 0, 0) // makes a handle
			collective(0, 7, -1, 0, 0)
			collective(1, 7, 1, map[bool]int{true: 120}[r == 1], 40)
			collective(11, 7, -1, 24, 24)
			collective(11, 7, -1, 16, 16)
			collective(12, 7, 2, 10, 0)
			collective(14, 7, -1, (3-r)*8, (r+1)*8)
			collective(15, 7, -1, (2-r)*8, r*8)
			collective(7, 7, -1, 30*(r+1), 60)
			collective(5, 7, 0, 0, 10*(r+1))
			collective(13, 7, -1, 60, 30*(r+1))
			collective(11, 2, -1, 4, 4)
			p.call("MPI_Coll", []any{otf2Started, 104})
			p.call("MPI_Wait", []any{otf2Completed, byte(8), 7, -1, 15, 15, 104})
			switch r {
			case 0:
				p.call("MPI_Ssend", []any{otf2Send, 0, 3, 9, 8})
			case 2:
				p.call("MPI_Recv", []any{otf2Recv, 1, 3, 9, 8})
			}
			// The location has 7 for the world, by a list of pairs, and 0 to 14 for the regions, by a list.
			regions := []any{5, byte(3), len(otf2Regions), byte(0)}
			for i := range otf2Regions {
				regions = append(regions, i)
			}
			files = append(files, fmt.Sprintf("x/%d0.evt", r+1), w.file(true, p.events...),
				fmt.Sprintf("x/%d0.def", r+1), w.file(false, regions, []any{5, byte(6), 2, byte(1), 7, 1, 3, 3}))
		}
		want := `flops 10
			irecv %[1]d 640 5 world
			flops 5
			isend %[2]d 640 5 world
			flops 5
			issend %[2]d 0 6 world
			flops 5
			recv %[1]d 0 6 world
			flops 5
			wait send %[2]d 0 6
			flops 5
			flops 5
			flops 10
			waitall
			flops 5
			sendrecv %[2]d 300 1 %[1]d 300 1 world
			flops 5
			irecv null 0 0 world
			flops 5
			wait recv null 0 0
			flops 10
			barrier
			flops 5
			bcast root 1 send 40x1
			flops 5
			allreduce send 8x1 flops 0
			flops 5
			allreduce send 8x1 flops 0
			flops 5
			reduce root 2 send 10x1 flops 0
			flops 5
			scan send 8x1 flops 0
			flops 5
			exscan send 8x1 flops 0
			flops 5
			allgatherv send %[3]d0x1 recv 10,20,30x1 span 60
			flops 5
			scatterv root 0 send %[4]s recv %[3]d0x1
			flops 5
			reducescatter recv 10,20,30x1 flops 0
			flops 5
			allreduce send 4x1 flops 0 comm self
			flops 5
			ialltoall send 5x1 recv 5x1
			flops 5
			wait ialltoall
			`
		name := inDir(t, files...)
		if tr, _, err := convert("otf2", name); err != nil || fmt.Sprint(tr.Header().Phases) != "[main work]" {
			t.Error(err)
		}
		warnings := wantListings(t, "otf2", name, fmt.Sprintf(want, 2, 1, 1, "10,20,30x1")+"flops 5\nssend 2 8 9 comm1\n",
			fmt.Sprintf(want, 0, 2, 2, "0,0,0x1"), fmt.Sprintf(want, 1, 0, 3, "0,0,0x1")+"flops 5\nrecv 0 8 9 comm1\n")
		if len(warnings) != 3 {
			t.Errorf("warnings %v", warnings)
		}
	}
}

// TestOTF2Errors: what cannot be read is an error with file and byte.
func TestOTF2Errors(t *testing.T) {
	w := otf2Writer{binary.LittleEndian}
	good := w.definitions(1, 1e9)
	for _, c := range []struct{ anchor, definitions, events, want string }{
		{"\x03BOTF2", good, "", "x.otf2: no anchor of an OTF2 archive"},
		{otf2Anchor(2, 1), good, "", "x.otf2: an archive in SION files, or compressed"},
		{otf2Anchor(1, 2), good, "", "x.otf2: an archive in SION files, or compressed"},
		{otf2Anchor(1, 1), w.file(false), "", "x.def: no clock, or no group"},
		{otf2Anchor(1, 1), "OTF2", "", "x.def: byte 0: no file of OTF2"},
		{otf2Anchor(1, 1), good[:50], "", "x.def: byte 48: a record of"},
		{otf2Anchor(1, 1), good, "\x03", "10.evt: byte 0: the record is cut"},
		{otf2Anchor(1, 1), good, "\x03X", "10.evt: byte 0: order of bytes 88, want 66 or 35"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2Enter, 99}), "10.evt: byte 27: region 99 is not defined"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2Enter, 12}), "MPI_Put has no counterpart"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2Send, 0, 4, 1, 1}), "communicator 4 is not defined, or joins two groups"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2Send, 0, 3, 1, 1}), "communicator 3 of 2 members, of which 1 are different"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2Send, 0, 1, 1}), "10.evt: byte 27: the record is shorter than what it has"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2Send, 1, 1, 1, 1}), "x.otf2: rank 0: send with rank 1 of a communicator of 1"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, otf2CollectiveEnd, byte(10), 1, -1, 1, 1}), "MPI_Alltoallw has no counterpart"},
		{otf2Anchor(1, 1), good, w.file(true, []any{5, 66, 1, 1}), "an archive of samples"},
		{otf2Anchor(1, 1), good, w.file(true, []any{1 << 62, otf2Enter, 0}), "time of 4611686018427387904 ticks, of which a second has 1000000000"},
	} {
		wantError(t, "otf2", inDir(t, "x.otf2", c.anchor, "x.def", c.definitions, "x/10.evt", c.events), c.want)
	}
	wantError(t, "otf2", inDir(t, "x.otf2", otf2Anchor(1, 1), "x.def", good, "x/10.evt", w.file(true),
		"x/5.evt", w.file(true, []any{5, otf2Recv, 0, 1, 1, 1})), "5.evt: byte 27: a call of MPI by a thread that is no rank")
}

// FuzzOTF2: no panic, and an error names the file.
func FuzzOTF2(f *testing.F) {
	w := otf2Writer{binary.LittleEndian}
	f.Add([]byte(w.definitions(1, 1e9)), []byte(w.file(true, []any{1, otf2Enter, 3}, []any{2, otf2Isend, 0, 1, 5, 640, 9}, []any{3, otf2Posted, 8},
		[]any{4, otf2Received, 0, 1, 5, 640, 8}, []any{5, otf2Sent, 9}, []any{6, otf2Leave, 3}, []any{7, otf2CollectiveEnd, byte(9), 1, -1, 5, 5})))
	f.Fuzz(func(t *testing.T, definitions, events []byte) {
		fuzz(t, "otf2", "x.otf2", []byte(otf2Anchor(1, 1)), "x.def", string(definitions), "x/10.evt", string(events))
	})
}
