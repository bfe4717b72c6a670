package capture

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"reprise/trace"
)

// call is a record of a procedure without arguments on MPI_COMM_WORLD, so many nanoseconds
// after the one before: of two ticks each, whose number is shifted by the mark of brief gaps.
func call(records []byte, p procedureNumber, nanoseconds uint64) []byte {
	records = binary.AppendUvarint(records, nanoseconds*2<<1)
	if p == procBarrier {
		return append(records, byte(p), 1) // the world
	}
	return append(records, byte(p), 0)
}

// mergeRecords merges recordings of ranks and returns the actions of the first one.
func mergeRecords(t *testing.T, o Options, ranks ...[]byte) []trace.Action {
	t.Helper()
	dir := t.TempDir()
	for rank, records := range ranks {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(rank)), recording(int32(rank), records), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if _, err := Merge(dir, &file, o); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "merged")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	cursors, err := tr.Cursors([]int32{0}, trace.CursorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]trace.Action, 256)
	n, err := cursors[0].Fill(list)
	if err != nil {
		t.Fatal(err)
	}
	return list[:n]
}

// TestSpread: four barriers 1, 3, 1 and 3 µs after the one before take a mean of 2 µs with a
// deviation of 1000 ns, in four binary digits 1024; with each gap, what they took. The time
// before the first, which is alone, has no deviation.
func TestSpread(t *testing.T) {
	var records []byte
	for _, ns := range []uint64{500, 1000, 3000, 1000, 3000} {
		records = call(records, procBarrier, ns)
	}
	for _, c := range []struct {
		o               Options
		amounts, spread []float64
	}{
		{Options{Rate: 1e9}, []float64{500, 2000, 2000, 2000, 2000}, []float64{0, 1024, 1024, 1024, 1024}},
		{Options{Rate: 2e9}, []float64{1000, 4000, 4000, 4000, 4000}, []float64{0, 2048, 2048, 2048, 2048}},
		{Options{Rate: 1e9, EachGap: true}, []float64{500, 1000, 3000, 1000, 3000}, make([]float64, 5)},
	} {
		i := 0
		for _, a := range mergeRecords(t, c.o, records, records) {
			if a.Kind != trace.KindFlops {
				continue
			}
			if i == len(c.amounts) || a.Flops() != c.amounts[i] || a.Spread() != c.spread[i] {
				t.Errorf("%+v: computation %d: %g with %g, want %v with %v", c.o, i, a.Flops(), a.Spread(), c.amounts, c.spread)
			}
			i++
		}
		if i != len(c.amounts) {
			t.Errorf("%+v: %d computations", c.o, i)
		}
	}
}
