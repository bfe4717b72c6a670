package foreign_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// allprofFiles returns a file for each rank, with the lines of a program: what is the same for all ranks, with RANK and
// PEER in it, which is the rank behind it in a ring.
func allprofFiles(ranks int, lines string) []string {
	var files []string
	for r := range ranks {
		text := strings.NewReplacer("RANK", fmt.Sprint(r), "NEXT", fmt.Sprint(r+1), "PEER", fmt.Sprint((r+1)%ranks), "BEFORE", fmt.Sprint((r+ranks-1)%ranks),
			"HALF", fmt.Sprint(r/2), "PLACE", fmt.Sprint(r%2), "OTHER", fmt.Sprint(1-r%2), "WORLD", fmt.Sprintf("6000000,%d,%d", r, ranks)).Replace(lines)
		files = append(files, fmt.Sprintf("pmpi-trace-rank-%d.txt", r), "# htor's PMPI Tracer\n\n"+text)
	}
	return files
}

// TestLiballprof: each kind of call, with the computation between calls: 10 and 0.25 us, 1000 s, 7 us.
func TestLiballprof(t *testing.T) {
	name := inDir(t, allprofFiles(4, `MPI_Init:-:14:15:1000000000000000
MPI_Comm_rank:1000000000000010:WORLD:77:1000000000000010
MPI_Irecv:1000000000000010.25:99:100:10,8,8:BEFORE:5:WORLD:4096:1000000000000011
MPI_Isend:1000000000000011:99:50:10,8,8:PEER:5:WORLD:4104:1000000000000012
MPI_Waitall:1000001000000012:2:4096:0:1000001000000013
MPI_Send:1000001000000013:99:3:1,4,4:PEER:-7:WORLD:1000001000000013
MPI_Recv:1000001000000013:99:3:1,4,4:BEFORE:-7:WORLD:0:1000001000000013
MPI_Sendrecv:1000001000000013:9:6:13,1,1:PEER:8:9:8:13,1,1:BEFORE:8:WORLD:0:1000001000000013
MPI_Bcast:1000001000000013:9:6:13,1,1:2:WORLD:1000001000000013
MPI_Allreduce:1000001000000013:9:9:1:10,8,8:2:WORLD:1000001000000013
MPI_Reduce:1000001000000013:9:9:7:10,8,8:3:1:WORLD:1000001000000013
MPI_Alltoallv:1000001000000013:9:9:1,2,3,4:9:0,1,3,6:1,4,4:9:9:NEXT,NEXT,NEXT,NEXT:9:0,0,0,0:1,4,4:WORLD:1000001000000013
MPI_Allgatherv:1000001000000013:9:5:13,1,1:9:9:5,5,5,5:9:0,5,10,20:13,1,1:WORLD:1000001000000013
MPI_Ibarrier:1000001000000013:WORLD:4096:1000001000000013
MPI_Wait:1000001000000013:4096:0:1000001000000013
MPI_Comm_split:1000001000000013:WORLD:HALF:0:555:1000001000000013
MPI_Barrier:1000001000000013:7000000,PLACE,2:1000001000000013
MPI_Ssend:1000001000000013:9:2:13,1,1:-2:1:7000000,PLACE,2:1000001000000013
MPI_Isend:1000001000000013:9:2:13,1,1:OTHER:1:7000000,PLACE,2:8000:1000001000000013
MPI_Recv:1000001000000013:9:4:13,1,1:-1:-1:7000000,PLACE,2:0:1000001000000013
# Finalize clockdiff: 0.0
MPI_Finalize:1000001000000020:-
`)...)
	wantListings(t, "liballprof", name, `flops 10250
		irecv 3 400 5 world
		isend 1 400 5 world
		flops 1000000000000
		waitall
		send 1 12 -7 world
		recv 3 12 -7 world
		sendrecv 1 6 8 3 6 8 world
		bcast root 2 send 6x1
		allreduce send 1x8 flops 0 max
		reduce root 1 send 7x8 flops 0 sum
		alltoallv send 1,2,3,4x4 recv 1,1,1,1x4
		allgatherv send 5x1 recv 5,5,5,5x1 span 25
		ibarrier
		wait ibarrier
		barrier comm comm1
		ssend null 2 1 comm1
		isend 1 2 1 comm1
		recv any ? any comm1
		flops 7000
		waitall
		`)
}

// TestLiballprofErrors: what cannot be read is an error with file and line.
func TestLiballprofErrors(t *testing.T) {
	begin := "MPI_Init:-:14:15:1\n"
	for _, c := range []struct{ lines, want string }{
		{"", "DIR/pmpi-trace-rank-0.txt:2: no call of MPI"},
		{begin + "MPI_Put:1:2\n", "DIR/pmpi-trace-rank-0.txt:4: MPI_Put has no counterpart"},
		{begin + "MPI_Send:1:2:3:4:5:6:7:8\n", `rank-0.txt:4: datatype "4" without a size, which liballprof2 does not write`},
		{begin + "MPI_Send:1:2:3:4,4,4:5:6:7\n", "rank-0.txt:4: communicator is missing"},
		{begin + "MPI_Send:1:2:3:4,4,4:5:6:7,0,3:8\n", "rank-0.txt:4: communicator of 3 ranks, and files of 2"},
		{begin + "MPI_Send:1:2:x:4,4,4:5:6:7,0,2:8\n", `rank-0.txt:4: count "x", want a number of 0 to 2147483647`},
		{begin + "MPI_Send:9:2:3:4,4,4:5:6:WORLD:8\n", "rank-0.txt:4: MPI_Send ends before it begins"},
		{begin + "hello\n", `rank-0.txt:4: "hello", want MPI_NAME:BEGIN:ARGUMENT:...:END`},
		{begin + "MPI_Send:1:2:3:4,4,4:5:6:WORLD:8\n", "rank-0.txt: rank 0: send with rank 5 of a communicator of 2"},
		{begin + "MPI_Barrier:1:7,OTHER,2:8\n", "rank-0.txt:4: rank 0 uses a communicator of 2 ranks, of which it is rank 1: the file does not say"},
		{begin + "MPI_Bcast:1:9:6:13,1,1:2:WORLD:3\n", "rank-0.txt: rank 0: bcast: root 2 out of [0,2)"},
	} {
		wantError(t, "liballprof", inDir(t, allprofFiles(2, c.lines)...), c.want)
	}
	name := inDir(t, "rank-0.txt", begin, "rank-2.txt", begin)
	wantError(t, "liballprof", name, "rank-0.txt: of 2 files the one of rank 1 is missing: DIR/rank-N.txt")
	wantError(t, "liballprof", inDir(t, "run.txt", begin), "run.txt: a name without the number of a rank")
	split := "MPI_Comm_split:1:WORLD:0:0:555:2\n"
	name = inDir(t, "rank-0.txt", begin+strings.ReplaceAll(split, "WORLD", "600,0,2"), "rank-1.txt", begin)
	wantError(t, "liballprof", name, "rank-0.txt:2: rank 0 makes a communicator together with rank 1, which does not make it")
}

// TestLiballprofWarnings: what a file does not say is a warning with the place of the first and the number of all.
func TestLiballprofWarnings(t *testing.T) {
	files := allprofFiles(2, `MPI_Init:-:14:15:1
MPI_Irecv:2:99:1:1,4,4:BEFORE:5:1140850688,RANK,2:4100:3
MPI_Test:4:4100:8:0:5
MPI_Test:6:4100:8:0:7
MPI_Isend:8:99:1:1,4,4:PEER:5:1140850688,RANK,2:4100:9
MPI_Irecv:9:99:1:1,4,4:-1:5:1140850688,RANK,2:4108:9
MPI_Wait:10:4100:0:11
MPI_Wait:10:4:0:11
MPI_Finalize:11:-
`)
	// The request of the receive is waited for before its handle is that of the send. In MPICH, nobody is -1.
	warnings := wantListings(t, "liballprof", inDir(t, files...), `flops 1000
		irecv 1 4 5 world
		flops 3000
		wait recv 1 4 5
		isend 1 4 5 world
		irecv null 4 5 world
		flops 1000
		wait send 1 4 5
		waitall
		`)
	var got []string
	for _, w := range warnings {
		got = append(got, fmt.Sprintf("%s:%d: %s", filepath.Base(w.File), w.Line, w.Text))
	}
	want := []string{"pmpi-trace-rank-0.txt:5: MPI_Test is left out: the file does not say what has ended; " +
		"a request is waited for when its handle is used again, or in the end (the first of 4)",
		"pmpi-trace-rank-0.txt:10: a call begins before the end of the one before: no computation between them (the first of 2)",
		"pmpi-trace-rank-0.txt:10: MPI_Wait for nothing that is pending: of null requests, or of handles that were copied (the first of 2)"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// FuzzLiballprof: no panic, and an error names the file.
func FuzzLiballprof(f *testing.F) {
	f.Add("MPI_Init:-:1:2:3\nMPI_Isend:3:9:2:13,1,1:0:1:600,0,1:8:9\nMPI_Waitall:10:2:8:0:11\nMPI_Finalize:11:-\n")
	f.Add("MPI_Irecv:3:9:2:13,1,1:-1:-1:1140850688,0,1:8:9\nMPI_Comm_split:1:600,0,1:0:0:555:2\nMPI_Alltoallv:1:9:9:1:9:0:1,4,4:9:9:1:9:0:1,4,4:600,0,1:2\n")
	f.Add("MPI_Send_init:3:9:2:13,1,1:0:1:600,0,1:8:9\nMPI_Start:3:8:9\nMPI_Testany:9:1:8:1:2:3:9\nMPI_Start:10:8:11\nMPI_Request_free:12:8:13")
	f.Fuzz(func(t *testing.T, content string) { fuzz(t, "liballprof", "rank-0.txt", []byte(content)) })
}

// fuzz converts a file: no panic, and an error names the file.
func fuzz(t *testing.T, format, base string, content []byte, beside ...string) {
	name := inDir(t, append([]string{base, string(content)}, beside...)...)
	tr, _, err := convert(format, name)
	if err != nil {
		if !strings.Contains(err.Error(), filepath.Dir(name)) {
			t.Errorf("error without place: %v", err)
		}
		return
	}
	listings(t, tr)
}
