package foreign_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestDUMPI: the trace of DUMPI's own test, as its dumpi2ascii prints rank 0: times in us from 737670, where MPI_Init ends,
// are 694-670, 704-698, 712-705 before the barrier, and 674-659, 699-689, 888-880, 909-894, 939-932 before the other calls.
func TestDUMPI(t *testing.T) {
	for _, name := range []string{"testdata/dumpi/testtrace-0000.bin", "testdata/dumpi/testtrace.meta"} {
		wantListings(t, "dumpi", name, `flops 37000
			barrier
			flops 15000
			isend 1 4 1337 world
			flops 10000
			recv 3 4 1337 world
			flops 8000
			wait send 1 4 1337
			flops 15000
			allreduce send 1x4 flops 0 sum
			flops 7000
			`)
	}
}

// dumpiBytes writes the file of a rank. A call has the number of its procedure, and its arguments with their bytes before
// them; times are left out but for the first call and the last, which have their numbers as seconds.
func dumpiBytes(calls ...[]int64) []byte {
	be := binary.BigEndian
	magic := []byte("\xff\xaa\xddDUMPI")
	b := be.AppendUint64(append([]byte(nil), magic...), 0) // both biases of the stream
	for i, c := range calls {
		b = be.AppendUint16(b, uint16(c[0]))
		switch i {
		case 0, len(calls) - 1:
			b = append(b, 1<<3|3) // of the wall's clock
			b = be.AppendUint32(be.AppendUint16(b, uint16(i)), 500)
			b = be.AppendUint32(be.AppendUint16(b, uint16(i)), 500)
		default:
			b = append(b, 3)
		}
		for j := 1; j < len(c); j += 2 {
			switch c[j] {
			case 1:
				b = append(b, byte(c[j+1]))
			case 2:
				b = be.AppendUint16(b, uint16(c[j+1]))
			default:
				b = be.AppendUint32(b, uint32(c[j+1]))
			}
		}
	}
	footer := len(b)
	b = be.AppendUint32(b, 16)
	for i := range 16 { // sizes of datatypes, 0, 1, 2, ...
		b = be.AppendUint32(b, uint32(i))
	}
	b = append(b, magic...)
	for _, at := range []int{footer, 0, 0, footer, 8, footer, footer} {
		b = be.AppendUint64(b, uint64(at))
	}
	return b
}

// array returns an argument that is an array of 4 bytes each.
func array(list ...int64) []int64 {
	c := []int64{4, int64(len(list))}
	for _, n := range list {
		c = append(c, 4, n)
	}
	return c
}

// status returns a list of statuses, each of bytes, source and tag.
func status(list ...[3]int64) []int64 {
	c := []int64{4, int64(len(list))}
	for _, s := range list {
		c = append(c, 4, s[0], 4, s[1], 1, 0, 1, 0, 4, s[2])
	}
	return c
}

// with returns a call of arguments with more.
func with(c []int64, more ...[]int64) []int64 {
	for _, m := range more {
		c = append(c, m...)
	}
	return c
}

// Numbers of procedures in DUMPI.
const (
	dumpiSend, dumpiIsend, dumpiIrecv, dumpiWait, dumpiWaitany, dumpiWaitall, dumpiRecvInit, dumpiStart = 0, 8, 12, 13, 16, 18, 30, 31
	dumpiBarrier, dumpiGatherv, dumpiSplit, dumpiFree, dumpiCart, dumpiSub, dumpiInit, dumpiFinalize    = 52, 55, 86, 87, 99, 111, 124, 125
	dumpiDup, dumpiPut                                                                                  = 84, 143
)

// TestDUMPICalls: receives from any source have the source that the status says, and communicators their members.
func TestDUMPICalls(t *testing.T) {
	var files []string
	for r := range int64(4) {
		next, before := (r+1)%4, (r+3)%4
		gather := []int64{dumpiGatherv, 4, r, 4, 4, 4, 3, 2, 4, 4, 0, 2, 2} // to rank 0, which alone says what it receives
		if r == 0 {
			gather = with(gather, array(3, 3, 3, 3), array(0, 3, 6, 9))
		}
		files = append(files, fmt.Sprintf("x-%04d.bin", r), string(dumpiBytes(
			[]int64{dumpiInit, 4, 0},
			[]int64{dumpiIrecv, 4, 10, 2, 8, 4, -1, 4, -1, 2, 2, 4, 5}, // of up to 80 bytes
			[]int64{dumpiIsend, 4, 10, 2, 4, 4, next, 4, 7, 2, 2, 4, 6},
			with([]int64{dumpiWaitall, 4, 2}, array(5, 6), status([3]int64{40, before, 7}, [3]int64{40, next, 7})),
			[]int64{dumpiSplit, 2, 2, 4, r % 2, 4, -r, 2, 4}, // ranks 2 and 0, 3 and 1
			[]int64{dumpiBarrier, 2, 4},
			[]int64{dumpiFree, 2, 4},
			with([]int64{dumpiCart, 2, 2, 4, 2}, array(2, 2), array(0, 0), []int64{4, 0, 2, 4}),
			with([]int64{dumpiSub, 4, 2, 2, 4}, array(0, 1), []int64{2, 5}), // rows: 0 and 1, 2 and 3
			[]int64{dumpiRecvInit, 4, 1, 2, 1, 4, 1 - r%2, 4, 3, 2, 5, 4, 9},
			[]int64{dumpiStart, 4, 9},
			[]int64{dumpiSend, 4, 1, 2, 1, 4, 1 - r%2, 4, 3, 2, 5},
			with([]int64{dumpiWaitany, 4, 1}, array(9), []int64{4, 0}, status()),
			with(gather, []int64{2, 4}),
			[]int64{dumpiFinalize},
		)))
	}
	warnings := wantListings(t, "dumpi", inDir(t, files...), `irecv 3 40 7 world
		isend 1 40 7 world
		waitall
		barrier comm comm1
		irecv 1 1 3 comm2
		send 1 1 3 comm2
		wait recv 1 1 3
		gatherv root 0 send 3x4 recv 3,3,3,3x4
		flops 14000000000
		`, `irecv 0 40 7 world
		isend 2 40 7 world
		waitall
		barrier comm comm1
		irecv 0 1 3 comm2
		send 0 1 3 comm2
		wait recv 0 1 3
		gatherv root 0 send 3x4 recv 0,0,0,0x4
		flops 14000000000
		`)
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "calls without times") {
		t.Errorf("warnings %v", warnings)
	}
}

// TestDUMPIErrors: what cannot be read is an error with file and byte.
func TestDUMPIErrors(t *testing.T) {
	init := []int64{dumpiInit, 4, 0}
	for _, c := range []struct {
		content []byte
		want    string
	}{
		{nil, "x-0.bin: byte 0: a file of 0 bytes"},
		{[]byte("\xff\xaa\xddDUMPI________"), "x-0.bin: byte -48: the index is cut"},
		{append(dumpiBytes(init), 0), "no index: the file is cut, or of a DUMPI before 0.6.6"},
		{dumpiBytes(init, []int64{dumpiPut}), "MPI_Put has no counterpart"},
		{dumpiBytes(init, []int64{260}), "procedure 260: files, and calls of functions that are no part of MPI"},
		{dumpiBytes(init, []int64{dumpiBarrier, 2, 9}), "MPI_Barrier with communicator 9, which no call has made"},
		{dumpiBytes(init, []int64{dumpiSend, 4, 1, 2, 99}), "MPI_Send of datatype 99, and the file has the sizes of 16"},
		{dumpiBytes(init, []int64{dumpiSend, 4, 1}), "x-0.bin: byte 54: the record is cut"},
		{dumpiBytes(init, []int64{dumpiStart, 4, 9}), "MPI_Start of request 9, which is not a persistent one"},
	} {
		wantError(t, "dumpi", inDir(t, "x-0.bin", string(c.content)), c.want)
	}
}

// FuzzDUMPI: no panic, and an error names the file.
func FuzzDUMPI(f *testing.F) {
	f.Add(dumpiBytes([]int64{dumpiInit, 4, 0}, []int64{dumpiIrecv, 4, 10, 2, 8, 4, -1, 4, -1, 2, 2, 4, 5},
		with([]int64{dumpiWaitall, 4, 1}, array(5), status([3]int64{40, 0, 7})), []int64{dumpiDup, 2, 2, 2, 4}, []int64{dumpiBarrier, 2, 4}))
	f.Add(dumpiBytes(with([]int64{dumpiCart, 2, 2, 4, 1}, array(1), array(0), []int64{4, 0, 2, 4}),
		with([]int64{dumpiSub, 4, 1, 2, 4}, array(1), []int64{2, 5}), with([]int64{dumpiGatherv, 4, 0, 4, 1, 4, 3, 2, 4, 4, 0, 2, 5},
			array(3), array(0), []int64{2, 4})))
	f.Fuzz(func(t *testing.T, content []byte) { fuzz(t, "dumpi", "x-0.bin", content) })
}
