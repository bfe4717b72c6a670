package foreign_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// prvNames has the procedures of the tests, by the kinds of Extrae's events: messages, collective operations, others.
var prvNames = [3][]string{
	{"Send", "Recv", "Isend", "Irecv", "Wait", "Waitall", "Sendrecv", "Ssend", "Iprobe", "Start", "Recv_init"},
	{"Bcast", "Barrier", "Reduce", "Allreduce", "Alltoall", "Alltoallv", "Gather", "Gatherv", "Scatterv", "Allgatherv", "Ibarrier", "Reduce_scatter",
		"Alltoallw"},
	{"Init", "Finalize", "Comm_split"},
}

// prvPCF returns the names of events.
func prvPCF() string {
	text := "DEFAULT_OPTIONS\n\nLEVEL THREAD\n\nSTATES\n0    Idle\n\n\nEVENT_TYPE\n6    40000001    Application\nVALUES\n0      End\n"
	for kind, names := range prvNames {
		text += fmt.Sprintf("\n\nEVENT_TYPE\n9    %d    MPI\nVALUES\n", 50000001+kind)
		for i, name := range names {
			text += fmt.Sprintf("%d   MPI_%s\n", i+1, name)
		}
		text += "0   Outside MPI\n"
	}
	return text
}

// prvText writes a file. A line is a call, "RANK BEGIN END NAME" with the sizes of a collective operation (sent,
// received, root, communicator) behind it, or a message, "FROM TIME -> TO POSTED ENDED BYTES TAG".
func prvText(header, text string) []string {
	type record struct {
		time int
		text string
	}
	var records []record
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		var n []int
		for _, w := range words {
			v := 0
			fmt.Sscan(w, &v)
			n = append(n, v)
		}
		switch {
		case len(words) == 0:
		case words[2] == "->":
			records = append(records, record{n[1], fmt.Sprintf("3:1:1:%d:1:%d:%d:1:1:%d:1:%d:%d:%d:%d", n[0]+1, n[1], n[1], n[3]+1, n[4], n[5], n[6], n[7])})
		default:
			for kind, names := range prvNames {
				i := slices.Index(names, words[3])
				if i < 0 {
					continue
				}
				sizes := ""
				for j, size := range n[4:] {
					if j != 2 || size != 0 { // only the root has its flag
						sizes += fmt.Sprintf(":%d:%d", 50100001+j, size)
					}
				}
				records = append(records, record{n[1], fmt.Sprintf("2:1:1:%d:1:%d:%d:%d%s:42000050:9", n[0]+1, n[1], 50000001+kind, i+1, sizes)},
					record{n[2], fmt.Sprintf("1:1:1:%d:1:%d:%d:1", n[0]+1, n[1], n[2])},
					record{n[2], fmt.Sprintf("2:1:1:%d:1:%d:%d:0", n[0]+1, n[2], 50000001+kind)})
			}
		}
	}
	slices.SortStableFunc(records, func(a, b record) int { return a.time - b.time })
	all := header
	for _, r := range records {
		all += r.text + "\n"
	}
	return []string{"x.prv", all, "x.pcf", prvPCF()}
}

const prvThree = "#Paraver (09/10/2019 at 16:10):5000_ns:1(4):1:3(1:1,1:1,1:1),3\nc:1:1:3:1:2:3\nc:1:2:1:1\nc:1:7:2:3:1\n"

// TestPRV: each kind of call, with the computation between calls. A receive ends in the call in which its message comes, and a
// send in the wait behind it. Counts of a rank alone are those that its file has; those of all are in the calls of the others.
// In the alltoallv rank 0 sends 60 of 120 bytes and 1 and 2 send 30 each, rank 0 receives 24, 1 and 2 receive 48: so rank 0
// gets 60*24/120 = 12 of its own bytes and 30*24/120 = 6 from each other rank.
func TestPRV(t *testing.T) {
	text := ""
	for r := range 3 {
		next, before := (r+1)%3, (r+2)%3
		flag := func(root int) int { return map[bool]int{true: 1}[r == root] }
		text += fmt.Sprintf(`
			%[1]d 0 100 Init
			%[1]d 110 120 Irecv
			%[1]d 120 130 Isend
			%[1]d 120 -> %[2]d 120 480 64 5
			%[1]d 500 600 Waitall
			%[1]d 700 710 Bcast %[4]d %[5]d %[6]d 1
			%[1]d 710 720 Gatherv %[7]d %[8]d 0 1
			%[1]d 720 730 Allgatherv %[7]d 600 0 1
			%[1]d 730 740 Alltoallv %[9]d %[10]d 0 1
			%[1]d 740 750 Ibarrier 0 0 0 1
			%[1]d 760 770 Wait
			%[1]d 770 780 Allreduce 8 8 0 1
			%[1]d 780 790 Alltoall 5 15 0 1
			%[1]d 790 800 Scatterv %[11]d %[7]d 0 1
			%[1]d 800 810 Reduce_scatter 600 %[7]d 0 1
			%[1]d 810 820 Recv_init
			%[1]d 820 830 Start
			%[1]d 825 -> %[2]d 826 842 9 6
			%[1]d 840 850 Waitall
			%[1]d 860 870 Iprobe
			%[1]d 900 910 Comm_split
			`, r, next, before, flag(1)*40, 40-flag(1)*40, flag(1), 100*(r+1), flag(2)*600, []int{60, 30, 30}[r], []int{24, 48, 48}[r], flag(0)*600)
	}
	text += `
		0 1000 1010 Sendrecv
		0 1000 -> 1 1000 1030 7 8
		1 1000 1030 Recv
		2 1000 1010 Ssend
		2 1000 -> 0 1020 1030 3 4
		0 1020 1040 Recv
		0 2000 2010 Reduce 16 0 0 7
		2 2000 2010 Reduce 0 16 1 7
		0 2020 2030 Gather 10 20 0 7
		2 2020 2030 Gather 10 0 1 7
		2 2040 2050 Allreduce 1 1 0 2
		0 2100 2200 Finalize
	`
	same := `flops 10
		irecv %d 64 5 world
		isend %d 64 5 world
		flops 370
		waitall
		flops 100
		bcast root 1 send 40x1
		gatherv root 2 send %d00x1 recv %s
		allgatherv send %[3]d00x1 recv 100,200,300x1 span 600
		alltoallv send %[5]sx1 recv %sx1
		ibarrier
		flops 10
		wait ibarrier
		allreduce send 8x1 flops 0
		alltoall send 5x1 recv 5x1
		scatterv root 0 send %s recv %[3]d00x1
		reducescatter recv 100,200,300x1 flops 0
		isend %[2]d 9 6 world
		irecv %[1]d 9 6 world
		flops 10
		waitall
		flops %[8]d
		`
	warnings := wantListings(t, "prv", inDir(t, prvText(prvThree, text)...),
		fmt.Sprintf(same, 2, 1, 1, "0,0,0x1", "12,24,24", "12,6,6", "100,200,300x1", 10+30+90)+`send 1 7 8 world
			flops 10
			recv 2 3 4 world
			flops 960
			reduce root 0 send 16x1 flops 0 comm comm1
			flops 10
			gather root 1 send 10x1 recv 10x1 comm comm1
			flops 70
			`,
		fmt.Sprintf(same, 0, 2, 2, "0,0,0x1", "6,12,12", "24,12,12", "0,0,0x1", 10+30+90)+`recv 0 7 8 world
			`,
		fmt.Sprintf(same, 1, 0, 3, "100,200,300x1", "6,12,12", "24,12,12", "0,0,0x1", 10+30+90)+`ssend 0 3 4 world
			flops 990
			reduce root 0 send 16x1 flops 0 comm comm1
			flops 10
			gather root 1 send 10x1 recv 10x1 comm comm1
			flops 10
			allreduce send 1x1 flops 0 comm self
			`)
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.Text)
	}
	for _, want := range []string{"MPI_Waitall may be for sends", "MPI_Wait that ends no receive is for the oldest", "MPI_Iprobe is left out",
		"in proportion"} {
		if !strings.Contains(strings.Join(texts, "\n"), want) {
			t.Errorf("no warning %s: %v", want, texts)
		}
	}
}

// TestPRVOld: times in microseconds, as older files have, without processors of nodes.
func TestPRVOld(t *testing.T) {
	wantListings(t, "prv", inDir(t, prvText("#Paraver (01/02/08 at 10:00):50:0:1:2(1:1,1:1)\n", `
		0 0 1 Send
		0 0 -> 1 3 5 7 8
		0 4 5 Send
		1 3 5 Recv
		1 6 7 Init`)...), "send 1 7 8 world\nflops 3000\n", "recv 0 7 8 world\nflops 1000\n")
}

// TestPRVErrors: what cannot be read is an error with file and line, or with the task and the time.
func TestPRVErrors(t *testing.T) {
	for _, c := range []struct{ header, lines, want string }{
		{"", "", "x.prv:1: an empty file"},
		{"#Paraver\n", "", `x.prv:1: "#Paraver", want #Paraver (DATE)`},
		{"#Paraver (1):5_ns:0:2:1(1:1):1(1:1)\n", "", "x.prv:1: 2 applications"},
		{"#Paraver (1):5_ps:0:1:1(1:1)\n", "", "x.prv:1: times in ps, want ns or us"},
		{"#Paraver (1):5_ns:0:1:1000000(1:1)\n", "", "x.prv:1: 1000000 tasks in a header of"},
		{prvThree + "c:1:8:2:1:1\n", "", "x.prv:5: communicator 8 of 2 members, of which 1 are different"},
		{prvThree + "c:1:8:2:1:4\n", "", "x.prv:5: communicator 8 with rank 3, of 3"},
		{prvThree + "4:1:1\n", "", `x.prv:5: record of kind "4", want 1 to 3 or c`},
		{prvThree + "2:1:1:4:1:5:1:1\n", "", "x.prv:5: task 4 of application 1, of 3 tasks of 1"},
		{prvThree + "2:1:1:1:1:x:1:1\n", "", `x.prv:5: "x", want a number`},
		{prvThree + "2:1:1:1:1:5:50000001:1\n2:1:1:1:2:6:50000001:0\n", "", "x.prv:6: a call by thread 2, after calls by thread 1"},
		{prvThree + "2:1:1:1:1:5:50000001:99\n", "", "x.prv: task 1 at 5 ns: value 99 of type 50000001 has no name in the .pcf"},
		{prvThree, "0 5 9 Alltoallw 1 1 0 1", "task 1 at 9 ns: MPI_Alltoallw has no counterpart"},
		{prvThree, "0 5 9 Barrier 1 1 0 4", "MPI_Barrier on communicator 4, whose members"},
		{prvThree, "0 5 9 Barrier 1 1 0 1\n1 5 9 Bcast 1 0 1 1", "x.prv: rank 1 calls bcast where other ranks of the communicator call barrier"},
	} {
		wantError(t, "prv", inDir(t, prvText(c.header, c.lines)...), c.want)
	}
	wantError(t, "prv", inDir(t, "x.prv", prvThree), "x.prv: the names of its events: open")
}

// FuzzPRV: no panic, and an error names the file.
func FuzzPRV(f *testing.F) {
	files := prvText(prvThree, "0 5 9 Isend\n0 6 -> 1 5 8 10 3\n1 4 5 Irecv\n1 6 8 Waitall\n0 20 30 Gatherv 5 6 0 7\n2 20 30 Alltoallv 5 6 1 1")
	f.Add([]byte(files[1]))
	f.Fuzz(func(t *testing.T, content []byte) { fuzz(t, "prv", "x.prv", content, "x.pcf", prvPCF()) })
}
