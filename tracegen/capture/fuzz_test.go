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
	h := header{Run: 1, Rank: rank, Size: 2, ABI: 1, Used: int64(len(records))}
	copy(h.Magic[:], magic+string(version))
	return stated(h, mark{Used: int64(len(records)), Ticks: 2000, Clock: 1000, State: finalized}, records)
}

// stated returns a file with a header whose marks are of these records.
func stated(h header, m mark, records []byte) []byte {
	sum := func(text []byte) uint64 {
		sum, err := checksum(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		return sum
	}
	page := func() []byte {
		p := make([]byte, headerBytes)
		if _, err := binary.Encode(p, binary.NativeEndian, &h); err != nil {
			panic(err)
		}
		return p
	}
	m.Number = 7
	m.Sum = m.checksum(sum(page()[:usedOffset]), sum(records))
	h.Marks = [2]mark{m, m}
	return append(page(), records...)
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
	init := binary.AppendUvarint(nil, uint64(procBcastinit)) // on a communicator of a call that is not recorded
	stranger := append(append([]byte{gap}, init...), 0, 3, 0, 0, 2, 5, 8, gap, byte(procFinalize), 0)
	f.Add(stranger, stranger)
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
