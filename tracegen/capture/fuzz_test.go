package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// recording returns the file of a rank of two with these records.
func recording(rank int32, records []byte) []byte {
	h := header{Run: 1, Rank: rank, Size: 2, ABI: 1, Used: int64(len(records)), Ticks: [2]uint64{0, 2000}, Clock: [2]int64{0, 1000}, State: finalized}
	copy(h.Magic[:], magic+string(version))
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, &h); err != nil {
		panic(err)
	}
	b.Write(make([]byte, headerBytes-b.Len()))
	b.Write(records)
	return b.Bytes()
}

// FuzzMerge: records of any kind become a trace or an error.
func FuzzMerge(f *testing.F) {
	gap := byte(20)
	f.Add([]byte{gap, byte(procIsend), 1, 2, 14, 5, 8, gap, byte(procWait), 1 << 4, gap, byte(procFinalize), 0},
		[]byte{gap, byte(procRecv), 1, 0, 14, 10, 8, 2, 40, gap, byte(procBarrier), 1, gap, byte(procFinalize), 0})
	f.Add([]byte{gap, byte(procCommsplit), 1, 3, 0, 0, 1, 0, 2, 0, 0, 0, gap, byte(procBcast), 3, 2, 3, 4},
		[]byte{gap, byte(procCommsplit), 1, 3, 1, 0, 0, 0, 0, 0, gap, byte(procBcast), 3, 2, 3, 4})
	f.Add([]byte{gap, byte(procMprobe), 1, 2, 14, 2, 14, gap, byte(procMrecv), 1, 2, 14, 1, 5, 8, 0, gap, byte(procBarrier), 0, 3, 0, 0, gap, byte(procFinalize), 0},
		[]byte{gap, byte(procSend), 1, 0, 14, 5, 8, gap, byte(procBarrier), 0, 3, 1, 0, gap, byte(procFinalize), 0})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		dir := t.TempDir()
		for rank, records := range [][]byte{first, second} {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(rank)), recording(int32(rank), records), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []Options{{Rate: 1e9}, {Rate: 1e9, Partial: true, LeaveOut: true, EachGap: true}} {
			_, _ = Merge(dir, io.Discard, o)
		}
	})
}
