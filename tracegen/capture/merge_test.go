package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/regular/regulartest"
	"reprise/internal/tracetest"
	"reprise/trace"
)

// writeRecordings writes recordings under the names of ranks.
func writeRecordings(t *testing.T, files ...[]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for rank, data := range files {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(rank)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var finalizes = []byte{20, byte(procFinalize), 0}

// TestPartialDrops: from a send that the other rank has not received on, and from an operation on a
// communicator on that it has not made, the rank is cut, and --partial says so.
func TestPartialDrops(t *testing.T) {
	gap := byte(20)
	for _, c := range []struct {
		records []byte
		want    string
	}{
		{[]byte{gap, byte(procSend), 1, 2, 14, 5, 8}, "rank 0: the last 1 of 2 actions are dropped, as other ranks have not recorded their side"},
		{[]byte{gap, byte(procCommsplit), 1, 3, 0, 0, 1, 0, 2, 0, 0, 0, gap, byte(procBarrier), 3, gap, byte(procFinalize), 0},
			"rank 0: the last 2 of 3 calls are dropped: MPI_Barrier: a communicator that not all of its ranks have made"},
		{[]byte{gap, byte(procCommsplit), 1, 3, 0, 0, 1, 0, 2, 0, 0, 0, gap, byte(procCommdup), 3, 3, 0, 0, 0, 0, 0, 0,
			gap, byte(procBarrier), 4, gap, byte(procFinalize), 0},
			"rank 0: the last 2 of 4 calls are dropped: MPI_Barrier: a communicator that not all of its ranks have made"},
	} {
		dir := writeRecordings(t, recording(0, c.records), recording(1, finalizes))
		s := must(Merge(dir, io.Discard, Options{Rate: 1e9, Partial: true}))
		if got := strings.Join(s.Warnings, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("warnings %q, want %q", got, c.want)
		}
	}
}

func TestSpecialRecordings(t *testing.T) {
	regulartest.Special(t, func(t *testing.T, what string, put func(string)) {
		dir := writeRecordings(t, recording(0, finalizes))
		put(filepath.Join(dir, "1"))
		_, err := Merge(dir, io.Discard, Options{Rate: 1e9})
		if want := filepath.Join(dir, "1") + ": want a regular file, this is " + what; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestOddRecordings: sizes are claims, and a rank has one recording.
func TestOddRecordings(t *testing.T) {
	for _, claim := range []struct {
		used int64
		want string
	}{{1 << 40, "at most 17179869184"}, {1 << 26, "damaged: the checksum"}} {
		dir := writeRecordings(t, recording(0, finalizes))
		path := filepath.Join(dir, "1")
		regulartest.Sparse(t, path, headerBytes+claim.used)
		f := must(os.OpenFile(path, os.O_WRONLY, 0))
		h := header{Run: 1, Rank: 1, Size: 2}
		copy(h.Magic[:], magic+string(version))
		data := stated(h, mark{Used: claim.used}, nil)
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := Merge(dir, io.Discard, Options{Rate: 1e9}); err == nil || !strings.Contains(err.Error(), claim.want) {
			t.Errorf("%v, want %s", err, claim.want)
		}
	}
	dir := writeRecordings(t, recording(0, finalizes), recording(0, finalizes))
	if _, err := Merge(dir, io.Discard, Options{Rate: 1e9}); err == nil || !strings.Contains(err.Error(), "are both of rank 0") {
		t.Errorf("two recordings of a rank: %v", err)
	}
}

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
	var files [][]byte
	for rank, records := range ranks {
		files = append(files, recording(int32(rank), records))
	}
	dir := writeRecordings(t, files...)
	var file bytes.Buffer
	if _, err := Merge(dir, &file, o); err != nil {
		t.Fatal(err)
	}
	cursors := must(tracetest.Open(t, file.Bytes()).Cursors([]int32{0}, trace.CursorOptions{}))
	list := make([]trace.Action, 256)
	n := must(cursors[0].Fill(list))
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

// TestPlaces: a barrier of the rank alone is followed by a wait for nothing 1000 ns later
// where a barrier of all came before it, and 9000 ns later where a wait did: one site, of two
// places. All other times are 10 ns, so that from barrier to barrier of all it is 10 + 1000 +
// 10 and 10 + 10 + 9000 + 10 ns, and not twice 5000 in the mean.
func TestPlaces(t *testing.T) {
	all := func(records []byte, ns uint64) []byte { return call(records, procBarrier, ns) }
	none := func(records []byte, ns uint64) []byte { return call(records, procWait, ns) }
	alone := func(records []byte, ns uint64) []byte {
		records = call(records, procBarrier, ns)
		records[len(records)-1] = 2 // MPI_COMM_SELF
		return records
	}
	var records []byte
	for range 5 {
		records = none(alone(all(records, 10), 10), 1000)
		records = none(alone(none(all(records, 10), 10), 10), 9000)
	}
	var got []float64
	for _, a := range mergeRecords(t, Options{Rate: 1e9}, records, records) {
		if a.Kind == trace.KindFlops {
			got = append(got, a.Flops())
		}
	}
	want := []float64{10}
	for range 5 {
		want = append(want, 1020, 9030)
	}
	want[len(want)-1] = 9020 // no barrier follows
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flop (-want +got):\n%s", diff)
	}
}

// TestChance: times that differ by nothing that was called before them have one mean.
func TestChance(t *testing.T) {
	s := sites{numbers: map[site]int32{}, depths: map[site]int{}}
	at := between(1, 2)
	var by trail
	classes := new([len(pastDepths)]map[uint64]gaps)
	for i := range 64 {
		time := float64(i % 2 * 1000)
		by.push(uint64(i / 2 % 16))
		s.add(at, time, false)
		classify(classes, &by, time)
	}
	s.choose(at, classes)
	if depth, parted := s.depths[at]; parted {
		t.Errorf("parted by %d calls", depth)
	}
}

// recording returns the file of a rank of two with these records.
func recording(rank int32, records []byte) []byte { return recordingOf(2, rank, records) }

func recordingOf(ranks, rank int32, records []byte) []byte {
	h := header{Run: 1, Rank: rank, Size: ranks, ABI: 1, Used: int64(len(records))}
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
		dir := writeRecordings(t, recording(0, first), recording(1, second))
		for _, o := range []Options{{Rate: 1e9}, {Rate: 1e9, Partial: true, LeaveOut: true, EachGap: true}} {
			_, _ = Merge(dir, io.Discard, o)
		}
	})
}

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
