package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/netmodel"
	"reprise/replay"
	"reprise/report/typedarray"
	"reprise/trace"
)

// diary keeps when each rank begins its steps, and what it spends its
// time on in each.
type diary struct {
	step   map[int32]int
	clock  map[int32]float64
	begins map[rankStep]float64
	times  map[rankStep]*[NumStates]float64
}

type rankStep struct {
	rank int32
	step int
}

func newDiary() *diary {
	return &diary{step: map[int32]int{}, clock: map[int32]float64{}, begins: map[rankStep]float64{}, times: map[rankStep]*[NumStates]float64{}}
}

func (d *diary) observer() replay.Observer {
	return replay.Observer{Marked: d.marked, TimePasses: d.timePasses}
}

func (d *diary) marked(rank int32, mark trace.Action, at float64) {
	if mark.Kind == trace.KindStep {
		d.step[rank] = int(mark.X[0])
		d.begins[rankStep{rank, int(mark.X[0])}] = at
	}
}

func (d *diary) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	at := rankStep{rank, d.step[rank]}
	if d.times[at] == nil {
		d.times[at] = &[NumStates]float64{}
	}
	state := 0 // compute
	switch {
	case k.Waits():
		state = 1
	case k == replay.TimePoll:
		state = 2
	case k == replay.TimeOverhead:
		state = 3
	case k == replay.TimeSleep:
		state = 4
	}
	d.times[at][state] += to - from
	d.clock[rank] = to
}

// TestSums: of HPL with polls of all kinds, ranks that share cores, a sleep at the begin: by
// steps, and by slices of time.
func TestSums(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []string
		perHost int
	}{
		{"polls", []string{"smpi/iprobe:1e-6"}, 1},
		{"growing", []string{"smpi/iprobe:1e-6", "smpi/grow-injected-times:yes"}, 4},
		{"overheads", []string{"smpi/os:0:1e-5:0", "smpi/or:0:1e-5:0", "smpi/init:0.5"}, 2},
	} {
		for _, steps := range []bool{true, false} {
			name := c.name + " by steps"
			if !steps {
				name = c.name + " by time"
			}
			t.Run(name, func(t *testing.T) {
				b := hplBench(t, c.perHost, c.options...)
				if !steps {
					b.hideSteps()
				}
				d := newDiary()
				res, r, data := b.record(t, d.observer())
				checkSums(t, r, data, res)
				checkTraffic(t, data, all(res))
				checkMatrix(t, data, d)
			})
		}
	}
}

// hideSteps has the recorder take the trace for one that marks none.
func (b *bench) hideSteps() {
	h := *b.Header
	h.Steps = 0
	b.Header = &h
}

// checkMatrix compares a matrix of a cell for each rank and column with what a diary says:
// shares are within half of a 255th, lengths within half of a 255th of the longest.
func checkMatrix(t *testing.T, d *Data, want *diary) {
	t.Helper()
	m := &d.Matrix
	if m.RanksPerRow != 1 || m.ColumnsPerCell != 1 || m.Rows != m.Ranks || m.Cols != d.Columns.Count || len(m.Most) != 0 {
		t.Fatalf("a matrix of %d ranks and %d columns: %d rows of %d ranks, %d cells of %d columns", m.Ranks, d.Columns.Count, m.Rows, m.RanksPerRow, m.Cols, m.ColumnsPerCell)
	}
	longest := float32sOf(t, d.Columns.Longest)
	for row := range m.Rows {
		var sums, bound [NumStates]float64
		for col := range m.Cols {
			l := float64(longest[col])
			length := float64(m.Length[col*m.Rows+row]) / 255 * l
			for s := range d.States {
				seconds := float64(m.Mean[(s*m.Cols+col)*m.Rows+row]) / 255 * length
				sums[s] += seconds
				bound[s] += 1.01 * l / 255
				if d.Columns.Kind == "step" {
					at := want.times[rankStep{int32(row), d.Columns.First + col}]
					if at == nil {
						at = &[NumStates]float64{}
					}
					if math.Abs(seconds-at[s]) > 1.01*l/255 {
						t.Errorf("rank %d, column %d, %s: %v s, want %v", row, col, d.States[s], seconds, at[s])
					}
				}
			}
		}
		for s := range d.States {
			all := 0.0
			for at, times := range want.times {
				if int(at.rank) == row {
					all += times[s]
				}
			}
			if math.Abs(sums[s]-all) > bound[s] {
				t.Errorf("rank %d, %s: %v s in all cells, want %v", row, d.States[s], sums[s], all)
			}
		}
	}
}

// TestColumns: two ranks, of which the second comes to the second step later. The mean of
// them begins it at (1+2)/2 s; the longest in the steps are 2 s and 4 s. A phase that began in
// the first goes on in the second, and is open at the end; another one is entered twice.
func TestColumns(t *testing.T) {
	b := newBench(t, cluster(2), 2, 1)
	b.Header.Steps, b.Header.Phases = 7, []string{"outer", "inner"}
	b.Replay.From, b.Replay.To = 5, 7
	b.lists(
		[]trace.Action{step(5), phase(0, false), flops(1), step(6), flops(1), phase(0, true), flops(3)},
		[]trace.Action{step(5), phase(1, false), sleep(0.5), phase(1, false), flops(1), phase(1, true), sleep(0.5), step(6), phase(0, false), flops(1)})
	_, _, d := b.record(t)
	want := Columns{Kind: "step", First: 5, Steps: 1, Count: 2}
	if diff := cmp.Diff(want, d.Columns, cmpopts.IgnoreFields(Columns{}, "Starts", "Longest")); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for name, c := range map[string][2]any{
		"starts":  {[]float64{0, 1.5, 4}, float64sOf(d.Columns.Starts)}, // ends at 5 and 3 s
		"longest": {[]float32{2, 4}, float32sOf(t, d.Columns.Longest)},
		"kinds":   {[]string{"compute", "sleep"}, d.Series.Kinds},
		"phases":  {[]string{"outer", "inner"}, d.Series.Phases},
		"values": {[]float32{
			1, 2.5, 1, 1, 1, 4, // compute: 1 and 4 s of rank 0, 1 and 1 s of rank 1
			0.5, 0, 0, 0, 1, 0, // sleep
			0.5, 1, 0, 1, 1, 1, // outer
			0.75, 0, 0, 0, 1.5, 0, // inner
		}, float32sOf(t, d.Series.Values)},
		"matrix": {typedarray.Bytes{ // rank 0 has computed all the time, rank 1 half of the first step
			255, 128, 255, 255, // compute: both ranks in the first step, both in the second
			0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // wait, poll, overhead
			0, 128, 0, 0, // sleep
		}, d.Matrix.Mean},
		"lengths": {typedarray.Bytes{128, 255, 255, 64}, d.Matrix.Length},
		"orders":  {[]Order{{Name: "rank"}, {Name: "end", Rows: []byte{1, 0, 0, 0, 0, 0, 0, 0}}}, d.Matrix.Orders},
	} {
		if diff := cmp.Diff(c[0], c[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSlices: a rank computes for a second, then sleeps for three. Slices of 2^k us, of which
// there are at most 512, reach 4 s with k = 13; the 123rd holds the border, at 1 s.
func TestSlices(t *testing.T) {
	b := newBench(t, cluster(1), 1, 1).lists([]trace.Action{flops(1), sleep(3)})
	_, _, d := b.record(t)
	const width = 8192e-6
	count := int(math.Ceil(4 / width))
	if d.Columns.Kind != "time" || math.Abs(d.Columns.Seconds-width) > 1e-15 || d.Columns.Count != count {
		t.Fatalf("%d columns of %v s by %s, want %d of %v s", d.Columns.Count, d.Columns.Seconds, d.Columns.Kind, count, width)
	}
	starts, values := float64sOf(d.Columns.Starts), float32sOf(t, d.Series.Values)
	for i := range count {
		computes := min(max(1-float64(i)*width, 0), width)
		sleeps := min(width, 4-float64(i)*width) - computes
		if math.Abs(starts[i]-float64(i)*width) > 1e-12 || math.Abs(float64(values[i])-computes) > 1e-9 || math.Abs(float64(values[3*count+i])-sleeps) > 1e-9 {
			t.Errorf("slice %d from %v s on: %v s of compute, %v s of sleep, want %v and %v", i, starts[i], values[i], values[3*count+i], computes, sleeps)
		}
	}
	if starts[count] != 4 {
		t.Errorf("it ends at %v s, want 4", starts[count])
	}
}

// TestSteps: only steps 3 to 8 are played.
func TestSteps(t *testing.T) {
	b := hplBench(t, 1)
	b.Replay.From, b.Replay.To = 3, 9
	d := newDiary()
	res, r, data := b.record(t, d.observer())
	if data.Columns.First != 3 || data.Columns.Count != 6 {
		t.Errorf("steps %d and %d more, want 3 and 6", data.Columns.First, data.Columns.Count)
	}
	checkSums(t, r, data, res)
	checkTraffic(t, data, all(res))
	checkMatrix(t, data, d)
}

var errStop = errors.New("stop")

// stopped plays with observers until a number of pauses, and returns the checkpoint that is written there; nil: the
// replay ends before.
func (b *bench) stopped(t *testing.T, pauses int, observers ...replay.Observer) (*replay.Result, *replay.Checkpoint) {
	t.Helper()
	var file bytes.Buffer
	o := b.Replay
	o.Observers = observers
	o.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error {
		if pauses--; pauses == 0 {
			return errors.Join(p.Save(&file, 0), errStop)
		}
		return nil
	}}
	res, err := b.play(t, o)
	if err == nil {
		return res, nil
	}
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return res, &replay.Checkpoint{File: bytes.NewReader(file.Bytes()), Size: int64(file.Len())}
}

// resumed records what follows a checkpoint.
func (b *bench) resumed(t *testing.T, from *replay.Checkpoint, others ...replay.Observer) *Recorder {
	t.Helper()
	r, o := b.recorder(), b.Replay
	o.Resume, o.Observers = from, append(others, r.Observer())
	_, err := b.play(t, o)
	noError(t, err)
	return r
}

// TestInterrupted: a replay that is stopped is recorded up to there.
func TestInterrupted(t *testing.T) {
	for _, at := range []int{1, 2, 40, 700, 3000} {
		b := hplBench(t, 1, "smpi/iprobe:1e-6")
		r, d, arrived := b.recorder(), newDiary(), newArrivals()
		res, from := b.stopped(t, at, r.Observer(), d.observer(), arrived.observer())
		if from == nil {
			t.Fatalf("it ends before pause %d", at)
		}
		data := dataOf(t, r)
		checkSums(t, r, data, res)
		checkTraffic(t, data, arrived)
		checkMatrix(t, data, d)
		if _, err := json.Marshal(data); err != nil {
			t.Error(err)
		}
	}
}

// TestResumed: what is recorded from a checkpoint on is, in the steps that begin later, what
// is recorded of the whole run, and no time is missing.
func TestResumed(t *testing.T) {
	b := hplBench(t, 1, "smpi/iprobe:1e-6")
	_, _, whole := b.record(t)
	for _, at := range []int{100, 900, 2500} {
		_, from := b.stopped(t, at)
		d := newDiary()
		r := b.resumed(t, from, d.observer())
		checkResumed(t, dataOf(t, r), whole, r, d)
	}
}

func checkResumed(t *testing.T, d, whole *Data, r *Recorder, told *diary) {
	t.Helper()
	last := 0 // the first step that all begin after the checkpoint
	for rank := range int32(d.Matrix.Ranks) {
		for step := 0; step < whole.Columns.Count; step++ {
			if _, ok := told.begins[rankStep{rank, step}]; ok {
				last = max(last, step)
				break
			}
		}
	}
	if d.Columns.First >= last || d.Columns.First+d.Columns.Count != whole.Columns.Count {
		t.Fatalf("steps from %d on, %d of them; all begin %d", d.Columns.First, d.Columns.Count, last)
	}
	got, want := computeOf(t, d), computeOf(t, whole)
	for step := last; step < whole.Columns.Count; step++ {
		near(t, "compute", got[step-d.Columns.First], want[step], 1e-6)
	}
	sum, all := 0.0, 0.0
	for _, c := range r.columns.list {
		for row := range numKinds {
			sum += c.rows[row].sum
		}
		for p := range r.sums.phases {
			if s := c.rows[numKinds+r.sums.kernels+p].most; s > c.longest*(1+1e-9) {
				t.Errorf("%v s of a phase in a column of %v s", s, c.longest)
			}
		}
	}
	for _, times := range told.times {
		for _, v := range times {
			all += v
		}
	}
	near(t, "all times", sum, all, 1e-9)
}

// TestResumedBeforeItBegins: rank 2 waits for its first message while others compute. From whatever
// checkpoint, nobody has spent less than no time on anything.
func TestResumedBeforeItBegins(t *testing.T) {
	b := newBench(t, cluster(3), 3, 1)
	b.Header.Steps = 3
	b.lists(
		[]trace.Action{step(0), flops(1e9), send(1, 0, 10), step(1), flops(1e9), send(1, 1, 100000), step(2), flops(1e9)},
		[]trace.Action{step(0), recv(0, 0, 10), step(1), recv(0, 1, 100000), step(2), send(2, 0, 10)},
		[]trace.Action{recv(1, 0, 10), step(0), flops(1e9), step(1), flops(1e9), step(2), flops(1e9)})
	checkpoints := 0
	for pauses := 1; ; pauses++ {
		_, from := b.stopped(t, pauses)
		if from == nil {
			break
		}
		r := b.resumed(t, from)
		checkpoints++
		_, err := r.Data()
		noError(t, err)
		for i, c := range r.columns.list {
			for row, s := range c.rows {
				if s.least < 0 || s.sum < 0 {
					t.Errorf("checkpoint %d, column %d, row %d: %+v", pauses, i, row, s)
				}
			}
		}
	}
	if checkpoints == 0 {
		t.Error("no checkpoint")
	}
}

// computeOf returns the seconds that the mean rank computes in each column.
func computeOf(t *testing.T, d *Data) (means []float64) {
	t.Helper()
	for _, v := range float32sOf(t, d.Series.Values)[:d.Columns.Count] {
		means = append(means, float64(v))
	}
	return means
}

// TestEmpty: nothing happens.
func TestEmpty(t *testing.T) {
	_, _, d := newBench(t, cluster(2), 2, 1).lists(nil, nil).record(t)
	if _, err := json.Marshal(d); err != nil || d.Columns.Count != 0 || d.Matrix.Cols != 0 {
		t.Errorf("%+v: %v", d, err)
	}
}

// TestAllocates: nothing for each event.
func TestAllocates(t *testing.T) {
	r := newBench(t, cluster(4), 4, 1).recorder()
	at, ended := 0.0, make([]replay.Transferred, 1)
	event := func() {
		for rank := range int32(4) {
			r.timePasses(rank, replay.TimeCompute, -1, at, at+1e-9)
			carried := netmodel.Summary{From: at, Bytes: 1e3, Alone: 2e6, Link: 1}
			ended[0] = replay.Transferred{Src: rank, Dst: (rank + 1) % 4, At: at + 1e-9, Summary: carried}
			r.transferred(ended)
		}
		at += 1e-9
	}
	event()
	if n := testing.AllocsPerRun(100, event); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSameData: the data are the same bits on any number of processors.
func TestSameData(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var texts [2][]byte
	for i := range texts {
		runtime.GOMAXPROCS(1 + 3*i)
		_, _, d := hplBench(t, 2, "smpi/iprobe:1e-6").record(t)
		var err error
		if texts[i], err = json.Marshal(d); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two recordings differ")
	}
}
