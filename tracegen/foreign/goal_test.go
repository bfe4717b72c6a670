package foreign_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/foreign"
	"reprise/tracegen/goal"
	"reprise/tracegen/hpl"
)

// TestGOAL: operations that depend on others, in the order in which they may begin.
func TestGOAL(t *testing.T) {
	for _, c := range []struct {
		name, first, second string // lines of the ranks
		want                []string
	}{
		{"blocking", "l1: send 8b to 1 tag 3\nl2: calc 5\nl2 requires l1", "l1: recv 8b from 0 tag 3\nl2: calc 7 cpu 1\nl2 requires l1",
			[]string{"send 1 8 3 world\nflops 5\n", "recv 0 8 3 world\nflops 7\n"}},
		{"nothing depends on the message", "calc 2\nsend 8b to 1", "recv 8b from -1 tag -1 cpu 0 nic 1",
			[]string{"isend 1 8 0 world\nflops 2\nwaitall\n", "recv any 8 any world\n"}},
		{"asynchronous", "a: calc 1\nb: send 8b to 1 tag 1\nb requires a\nc: calc 4\nc irequires b\nd: calc 6\nd requires c\nd requires b",
			"a: recv 8b from 0 tag 1",
			[]string{"flops 1\nisend 1 8 1 world\nflops 4\nwait send 1 8 1\nflops 6\n"}},
		{"two to wait for", "send 1b to 1 tag 1\nsend 2b to 1 tag 2",
			"x: recv 2b from 0 tag 2\ny: recv 1b from 0 tag 1\nz: calc 0\nz requires x\nz requires y\nlast: calc 9\nlast requires z",
			[]string{"isend 1 1 1 world\nisend 1 2 2 world\nwaitall\n", "irecv 0 2 2 world\nirecv 0 1 1 world\nwaitall\nflops 9\n"}},
		{"what begins with a computation", "a: calc 3\nb: send 8b to 1\nb irequires a", "recv 8b from 0",
			[]string{"isend 1 8 0 world\nflops 3\nwaitall\n"}},
		{"two processors", "calc 1\ncalc 2 cpu 1", "", []string{"beside processor 1\nflops 1\nbeside processor 2\nflops 2\nwaitall\n"}},
		{"a message beside a computation", "a: recv 1b from 1\nb: calc 5\nc: send 1b to 1\nc requires a", "send 1b to 0\nrecv 1b from 0",
			[]string{"beside processor 1\nrecv 1 1 0 world\nbeside processor 1\nflops 5\nafter 2\nbeside processor 1\nsend 1 1 0 world\nwaitall\n",
				"isend 0 1 0 world\nirecv 0 1 0 world\nwaitall\n"}},
		{"a pipeline", "a: recv 1b from 1\nb: recv 1b from 1\nc: send 1b to 1 tag 7\nc requires a\nd: send 1b to 1 tag 8\nd requires b",
			"send 1b to 0\nsend 1b to 0\nrecv 1b from 0 tag 7\nrecv 1b from 0 tag 8",
			[]string{"beside processor 1\nrecv 1 1 0 world\nbeside processor 1\nrecv 1 1 0 world\nafter 2\nbeside processor 1\nsend 1 1 7 world\n" +
				"after 2\nbeside processor 1\nsend 1 1 8 world\nwaitall\n"}},
		{"comments", "// nothing\na: calc 3 /* of\nlines */ // more\n", "/**/", []string{"flops 3\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "num_ranks 2\n\nrank 0 {\n" + c.first + "\n}\nrank 1 {\n" + c.second + "\n}\n"
			wantListings(t, "goal", inDir(t, "x.goal", text), c.want...)
		})
	}
}

// TestGOALErrors: graphs without an order, and mistakes, with their lines.
func TestGOALErrors(t *testing.T) {
	one := "num_ranks 1\nrank 0 {\n"
	for _, c := range []struct{ text, want string }{
		{"", "DIR/x.goal:1: want num_ranks N"},
		{"num_ranks 2\nrank 0 {\n}\n", "x.goal:3: rank 1 of 2 is missing"},
		{one + "a: calc 1\n", "x.goal:3: the end of rank 0 is missing"},
		{one + "a: calc 1\na: calc 2\n}\n", `x.goal:4: label "a" is defined twice`},
		{one + "a: calc 1\na requires b\n}\n", `x.goal:4: label "b" is not defined before`},
		{one + "send 1b to 1\n}\n", `x.goal:3: destination "1", want a number of 0 to 0`},
		{one + "send 1b from 1\n}\n", `x.goal:3: "from", want to`},
		{one + "calc 1 nic 2\n}\n", `x.goal:3: "nic", want tag, cpu or nic`},
		{one + "jump 1\n}\n", `x.goal:3: "jump", want calc, send, recv`},
		{one + "}\nrank 1 {\n", `x.goal:4: "rank" behind the last rank`},
		{one + "a: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "x.goal:3: the operation depends on itself"},
		{one + "calc 1\na: calc 1 cpu 1\nb: calc 1\na requires b\nb requires a\n}\n", "x.goal:4: the operation depends on itself"},
		{one + "calc 1 cpu 254\n}\n", `x.goal:3: cpu "254", want a number of 0 to 253`},
	} {
		wantError(t, "goal", inDir(t, "x.goal", c.text), c.want)
	}
}

// binaryGOAL writes a schedule as LogGOPSim's txt2bin does. An operation has its kind, peer, amount, tag, and then the
// numbers of those that it requires; irequires has those that it may begin with.
func binaryGOAL(ranks [][][]int64, irequires map[[2]int64]bool) []byte {
	var sections, table []byte
	le := binary.LittleEndian
	head := le.AppendUint32(le.AppendUint64(nil, 4223), uint32(len(ranks)))
	head = append(head, 0, 0)
	for _, ops := range ranks {
		var roots, records, appendix []byte
		for i, op := range ops {
			if len(op) == 4 {
				roots = le.AppendUint32(roots, uint32(i))
			}
			lists := [2][]uint32{}
			for j, other := range ops {
				for _, on := range other[4:] {
					if on == int64(i) && irequires[[2]int64{int64(j), on}] {
						lists[1] = append(lists[1], uint32(j))
					} else if on == int64(i) {
						lists[0] = append(lists[0], uint32(j))
					}
				}
			}
			records = le.AppendUint32(records, uint32(len(op)-4))
			records = append(records, byte(op[0]))
			records = le.AppendUint32(records, uint32(op[1]))
			records = le.AppendUint64(records, uint64(op[2]))
			records = le.AppendUint32(records, uint32(op[3]))
			records = append(records, 0, 0)
			for _, list := range lists {
				records = le.AppendUint32(le.AppendUint32(records, uint32(len(list))), uint32(len(appendix)/4))
				for _, n := range list {
					appendix = le.AppendUint32(appendix, n)
				}
			}
		}
		begin := len(head) - 8 + 16*len(ranks) + len(sections)
		sections = le.AppendUint32(le.AppendUint32(sections, uint32(len(ops))), uint32(len(roots)/4))
		sections = append(append(append(sections, roots...), records...), appendix...)
		table = le.AppendUint64(le.AppendUint64(table, uint64(begin)), uint64(len(head)-8+16*len(ranks)+len(sections)))
	}
	return append(append(head, table...), sections...)
}

// TestBinaryGOAL: the binary form says the same as the text.
func TestBinaryGOAL(t *testing.T) {
	good := binaryGOAL([][][]int64{
		{{3, 0, 1, 0}, {1, 1, 8, 7, 0}, {3, 0, 4, 0, 1}, {3, 0, 6, 0, 2, 1}},
		{{2, -1, 8, -1}, {3, 0, 5, 0, 0}},
	}, map[[2]int64]bool{{2, 1}: true})
	wantListings(t, "goal", inDir(t, "x.bin", string(good)), "flops 1\nisend 1 8 7 world\nflops 4\nwait send 1 8 7\nflops 6\n",
		"recv any 8 any world\nflops 5\n")
	for _, c := range []struct {
		at    int
		bytes string
		want  string
	}{
		{0, "\x26\x09", "DIR/x.bin: LogGOPSim has consumed this schedule"},
		{8, "\xff\xff\xff\x00", "DIR/x.bin: 16777215 ranks in a file of"},
		{14, "\xff\xff\xff\xff", "x.bin: section of rank 0 from byte 4294967295 to"},
		{46, "\xff\xff\xff\x00", "x.bin: rank 0: 16777215 operations, of which 1 depend on none, in"},
		{58 + 4, "\x09", "x.bin: rank 0: operation 0 is of kind 9, want 1 to 3"},
		{58 + 39 + 5, "\x09", "x.bin: rank 0: operation 1 with rank 9 of 2"},
		{58 + 23, "\x99\x00\x00\x00", "x.bin: rank 0: operation 0: 153 dependencies from number 0 on, of 4"},
	} {
		bad := append([]byte(c.bytes), good[c.at+len(c.bytes):]...)
		wantError(t, "goal", inDir(t, "x.bin", string(append(bytes.Clone(good[:c.at]), bad...))), c.want)
	}
}

// TestGOALRoundTrip: what the own writer has written comes back operation by operation.
func TestGOALRoundTrip(t *testing.T) {
	p := hpl.DefaultParams(200, 2, 3)
	p.NB = 32
	var file bytes.Buffer
	if err := hpl.Generate(context.Background(), &file, p, hpl.Options{}); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpl")
	if err != nil {
		t.Fatal(err)
	}
	export := func(tr *trace.Trace) string {
		var b strings.Builder
		if _, err := goal.Export(context.Background(), &b, tr, tracegen.ExportOptions{Polls: trace.Hit{}, Speed: 1e9}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := export(tr)
	// Graphs without an order: a pipeline on two processors, and what begins with another operation.
	pipeline := "num_ranks 2\n\nrank 0 {\nl1: recv 8b from 1 tag 1\nl2: calc 5\nl3: recv 9b from 1 tag 2\nl4: send 8b to 1 tag 3\n" +
		"l4 requires l1\nl5: calc 7 cpu 1\nl5 irequires l4\nl6: send 9b to 1 tag 4 cpu 1\nl6 requires l3\nl6 requires l5\n}\n\n" +
		"rank 1 {\nl1: send 8b to 0 tag 1\nl2: send 9b to 0 tag 2\nl2 irequires l1\nl3: recv 8b from 0 tag 3\nl3 irequires l2\n" +
		"l4: recv 9b from 0 tag 4\nl4 irequires l3\n}\n"
	for _, want := range []string{want, pipeline} {
		again, _, err := convert("goal", inDir(t, "x.goal", want))
		if err != nil {
			t.Fatal(err)
		}
		if got := export(again); got != want {
			t.Errorf("%d bytes of text became %d others: %.1000s", len(want), len(got), got)
		}
	}
}

// TestFormats: each format says which file it cannot open.
func TestFormats(t *testing.T) {
	for _, format := range foreign.Formats() {
		wantError(t, format, filepath.Join(t.TempDir(), "none-0"), "no such file")
	}
}

// FuzzGOAL: no panic, and an error names the file; of both forms.
func FuzzGOAL(f *testing.F) {
	f.Add([]byte("num_ranks 1\nrank 0 {\na: recv 1b from 0 tag 1\nb: send 1b to 0 tag 1\nc: calc 5 cpu 1\nc requires a\nc irequires b\n}\n"))
	f.Add(binaryGOAL([][][]int64{{{3, 0, 1, 0}, {1, 0, 8, 7, 0}, {2, 0, 4, 0, 1}}}, map[[2]int64]bool{{2, 1}: true}))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 9 && bytes.HasPrefix(content, []byte("num_ranks ")) && content[11] >= '0' && content[11] <= '9' {
			return // hundreds of ranks take long
		}
		fuzz(t, "goal", "x.goal", content)
	})
}
