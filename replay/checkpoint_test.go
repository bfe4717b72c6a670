package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/internal/tracetest"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
	"reprise/tracegen/simgrid"
)

// A rerun replays the same from the beginning, with options that change makes.
type rerun func(change func(*replay.Options)) (*replay.Result, error)

// sameResult compares results but for the wall time.
func sameResult(t testing.TB, what string, got, want *replay.Result) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(replay.Result{}, "Header", "WallBefore")); diff != "" {
		t.Errorf("%s (-uninterrupted +resumed):\n%s", what, diff)
	}
}

// checkResumes saves a replay at up to points of its pauses, the first and the last
// included, and goes on from each. The results must be the same bits, and so must be
// what a resumed replay saves at the next of the points.
func checkResumes(t testing.TB, points int, run rerun) {
	t.Helper()
	pauses := 0
	want, err := run(func(o *replay.Options) {
		o.Checkpoints = &replay.Checkpoints{Write: func(*replay.Pause) error { pauses++; return nil }}
	})
	noError(t, err)
	var at []int
	for i := range points {
		at = append(at, 1+i*(pauses-1)/max(1, points-1))
	}
	at = slices.Compact(at)
	files, got := saveAt(t, at, run, nil)
	sameResult(t, "saved", got, want)
	for i := range at {
		next := at[min(i+1, len(at)-1)] - at[i] + 1 // a resumed replay begins with the pause that it was saved in
		again, got := saveAt(t, []int{next}, run, files[i])
		what := fmt.Sprintf("resumed at pause %d of %d", at[i], pauses)
		sameResult(t, what, got, want)
		if !bytes.Equal(again[0], files[min(i+1, len(at)-1)]) {
			t.Errorf("%s: the state %d pauses later is another one", what, next-1)
		}
	}
}

// saveAt replays, from a checkpoint unless it is nil, and returns those of the pauses
// with the given numbers.
func saveAt(t testing.TB, at []int, run rerun, from []byte) ([][]byte, *replay.Result) {
	t.Helper()
	var files [][]byte
	pauses := 0
	res, err := run(func(o *replay.Options) {
		if from != nil {
			o.Resume = checkpointOf(from)
		}
		o.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error {
			if pauses++; len(files) == len(at) || pauses != at[len(files)] {
				return nil
			}
			var file bytes.Buffer
			err := p.Save(&file, 0)
			files = append(files, file.Bytes())
			return err
		}}
	})
	noError(t, err)
	if len(files) != len(at) {
		t.Fatalf("%d of %d checkpoints in %d pauses", len(files), len(at), pauses)
	}
	return files, res
}

func checkpointOf(file []byte) *replay.Checkpoint {
	return &replay.Checkpoint{File: bytes.NewReader(file), Size: int64(len(file))}
}

// rerunCase returns the rerun of a recorded case: from its conversion, or from the text,
// which every other run reads ahead.
func rerunCase(t testing.TB, dir string, converted bool) rerun {
	t.Helper()
	open := func() *simgrid.Trace {
		text, err := simgrid.Open(filepath.Join(dir, "trace.index"), dir)
		noError(t, err)
		return text
	}
	text := open()
	m, options := caseMachine(t, dir, text.Ranks())
	var file bytes.Buffer
	if converted {
		w, err := trace.NewWriter(&file, text.Header(), trace.WriterOptions{})
		noError(t, err)
		noError(t, errors.Join(text.Convert(w, nil), w.Close()))
	}
	ahead := false
	return func(change func(*replay.Options)) (*replay.Result, error) {
		o := options
		change(&o)
		if converted {
			tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "converted")
			if err != nil {
				return nil, err
			}
			return replay.Run(t.Context(), tr, m, o)
		}
		text := open()
		if ahead = !ahead; ahead {
			text.ReadAhead()
			defer text.Close()
		}
		return replay.RunSource(t.Context(), &trace.Header{Ranks: text.Ranks()}, text, m, o)
	}
}

// TestResumeRecorded: the recorded cases of SimGrid, from their text and converted.
func TestResumeRecorded(t *testing.T) {
	dir := t.TempDir()
	for i, name := range unzip(t, replayOracle, dir) {
		folder := filepath.Join(dir, name)
		if !isCase(folder) || testing.Short() && i%36 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) { checkResumes(t, 5, rerunCase(t, folder, i%3 == 0)) })
	}
}

// listResume is a replay of lists of actions on a star.
type listResume struct {
	name    string
	hosts   []int32
	options []string
	lists   [][]trace.Action
}

func (c *listResume) rerun(t testing.TB) rerun {
	b := newBench(t, star(3), 3)
	b.header.CommFamilies = []trace.CommFamily{{Groups: []trace.Group{{Stride: 1, Count: 3}}}}
	b.set(t, c.options...)
	if c.hosts != nil {
		b.Hosts = c.hosts
	}
	return func(change func(*replay.Options)) (*replay.Result, error) {
		o := b.Options
		change(&o)
		return replay.RunSource(t.Context(), &b.header, replay.NewLists(c.lists), b.Machine, o)
	}
}

// resumeLists has what the recorded cases lack: receives with wildcards, processors that are
// shared, requests beyond those in a rank, polls, barriers at the end, and all that synchronises windows.
func resumeLists() []*listResume {
	list := func(a ...trace.Action) []trace.Action { return a }
	const anyone, any = trace.AnySource, trace.AnyTag
	var many, posts []trace.Action
	for i := range int32(9) {
		many = append(many, irecv(i, 1, i, 1000*int64(i+1)))
		posts = append(posts, sleep(1e-3), isend(i, 0, i, 100000*int64(i+1)))
	}
	all := trace.Action{Kind: trace.KindWaitAll}
	sum := call(trace.Collective{Kind: trace.CollAllreduce, Send: 100000, SendSize: 1, Flops: 1e6})
	return []*listResume{
		{"wildcards", nil, nil, [][]trace.Action{
			list(irecv(0, anyone, any, 9000), irecv(1, 1, 7, 9000), recv(anyone, 7, 9000), wait(1), wait(0)),
			list(sleep(20e-3), send(0, 7, 1000), sleep(10e-3), send(0, 7, 2000)),
			list(sleep(10e-3), send(0, 7, 2000)),
		}},
		{"requests", nil, nil, [][]trace.Action{append(many, all), append(posts, all), nil}},
		{"windows", nil, []string{"smpi/os:0:3e-6:1e-10", "smpi/ois:0:2e-6:5e-11", "smpi/or:0:4e-6:2e-10"}, [][]trace.Action{
			list(winSync(trace.SyncCreate, -1, 0), winSync(trace.SyncFence, -1, 0), access(trace.AccessAccumulate, 1, 1e5, 0),
				access(trace.AccessPut, 2, 1e4, 0), winSync(trace.SyncFence, -1, 0),
				winSync(trace.SyncLockExclusive, 0, 0), sleep(1e-3), winSync(trace.SyncUnlock, 0, 0),
				winSync(trace.SyncStart, 2, 0), access(trace.AccessPut, 2, 1e6, 0), winSync(trace.SyncComplete, 2, 0),
				winSync(trace.SyncLockAll, -1, 0), access(trace.AccessPut, 1, 1e5, 0), winSync(trace.SyncFlushLocal, 1, 0),
				winSync(trace.SyncUnlockAll, -1, 0), winSync(trace.SyncFree, -1, 0)),
			list(winSync(trace.SyncCreate, -1, 0), winSync(trace.SyncFence, -1, 0), access(trace.AccessPut, 2, 1e5, 0),
				access(trace.AccessFetchAndOp, 0, 8, 8), winSync(trace.SyncFence, -1, 0),
				winSync(trace.SyncLockExclusive, 0, 0), raccess(0, trace.AccessPut, 0, 1e6, 0),
				raccess(9, trace.AccessGet, 0, 0, 1e6), wait(9), winSync(trace.SyncUnlock, 0, 0), wait(0),
				winSync(trace.SyncFree, -1, 0)),
			list(winSync(trace.SyncCreate, -1, 0), winSync(trace.SyncFence, -1, 0), access(trace.AccessCompareAndSwap, 0, 8, 8),
				access(trace.AccessAccumulate, 0, 1e5, 0), winSync(trace.SyncFence, -1, 0),
				winSync(trace.SyncLockShared, 0, 0), access(trace.AccessGetAccumulate, 0, 1e5, 1e5), winSync(trace.SyncFlush, 0, 0),
				winSync(trace.SyncUnlock, 0, 0), winSync(trace.SyncPost, 0, 0), winSync(trace.SyncWait, 0, 0),
				winSync(trace.SyncFree, -1, 0)),
		}},
		{"spin", nil, []string{"smpi/iprobe:1e-5"}, [][]trace.Action{
			list(poll(1, 3, true), recv(1, 3, 1e6), poll(2, 4, false), recv(2, 4, 10)),
			list(sleep(7e-3), send(0, 3, 1e6)), list(sleep(9e-3), send(0, 4, 10)),
		}},
		{"growing polls", nil, []string{"smpi/iprobe:1e-5", "smpi/grow-injected-times:yes"}, [][]trace.Action{
			list(poll(1, 3, true), recv(1, 3, 1e6), poll(2, 4, true), recv(2, 4, 10)),
			list(sleep(7e-3), send(0, 3, 1e6), poll(2, 5, true)), list(sleep(9e-3), send(0, 4, 10), send(1, 5, 1)),
		}},
		{"shared cores", []int32{0, 0, 0}, []string{"smpi/iprobe:1e-5", "smpi/grow-injected-times:yes"}, [][]trace.Action{
			list(sum, poll(1, 3, true), recv(1, 3, 1e6), sum),
			list(sum, sleep(1e-3), send(0, 3, 1e6), sum), list(sleep(2e-3), sum, sum),
		}},
		{"barrier at the end", nil, []string{"smpi/finalization-barrier:yes", "smpi/init:0.01"}, [][]trace.Action{
			list(sum, sum), list(sleep(1e-3), sum, sum), list(sum, sleep(3e-3), sum),
		}},
	}
}

func TestResumeLists(t *testing.T) {
	points := 1000
	if testing.Short() {
		points = 60
	}
	for _, c := range resumeLists() {
		t.Run(c.name, func(t *testing.T) { checkResumes(t, points, c.rerun(t)) })
	}
}

// hplResume is a replay of a generated trace of HPL with polls.
type hplResume struct {
	name     string
	shared   bool
	options  []string
	from, to int
}

// resumeHPL is on hosts of their own and two to a core, with costs of polls that grow and
// that do not, all steps and some.
var resumeHPL = []*hplResume{
	{"constant", false, []string{"smpi/grow-injected-times:no"}, 0, 0},
	{"growing", false, nil, 0, 0},
	{"arrived", false, []string{"reprise/poll:arrived", "smpi/grow-injected-times:no"}, 2, 9},
	{"shared", true, nil, 0, 0},
	{"reference", false, []string{"reprise/solver:reference", "smpi/grow-injected-times:no"}, 0, 5},
	{"clocks", true, []string{"reprise/solver:clocks", "smpi/grow-injected-times:no"}, 0, 0},
	{"alone", false, []string{"reprise/contention:no"}, 0, 0},
}

func (c *hplResume) rerun(t testing.TB) rerun {
	p := hpl.DefaultParams(512, 2, 3)
	p.NB, p.Depth = 32, 1
	path := saved(t, func(w io.Writer) error { return hpl.Generate(t.Context(), w, p, hpl.Options{}) })
	m := generic(t, 6)
	if c.shared {
		m.Hosts = []int32{0, 0, 1, 1, 2, 2}
	}
	o := replay.DefaultOptions()
	o.From, o.To = c.from, c.to
	b := bench{Options: o}
	b.set(t, c.options...)
	return func(change func(*replay.Options)) (*replay.Result, error) {
		o := b.Options
		change(&o)
		tr, err := trace.Open(path)
		if err != nil {
			return nil, err
		}
		defer tr.Close()
		return replay.Run(t.Context(), tr, m, o)
	}
}

func TestResumeHPL(t *testing.T) {
	points := 12
	if testing.Short() {
		points = 4
	}
	for _, c := range resumeHPL {
		t.Run(c.name, func(t *testing.T) { checkResumes(t, points, c.rerun(t)) })
	}
}

// TestResumeTrace: polls, nonblocking collective operations and one-sided communication, on a machine
// that stays as it is and on one that changes.
func TestResumeTrace(t *testing.T) {
	tr := tracetest.Trace(t, 3, func(r int, b *trace.Builder, p *trace.Program) {
		next, before, n := int64(r+1)%3, int64(r+2)%3, trace.Const
		tracetest.Poll(t, b, p, before, 7, 1e6)
		b.Message(trace.OpIsend, 0, 0, n(next), n(7), n(1e6))
		b.PollWait(0)
		b.Collective(trace.CollReduceScatter, trace.CollectiveOperands{Recv: b.Param(0), RecvSize: n(8)})
		b.WaitAll()
		b.Icollective(1, trace.CollAllreduce, trace.CollectiveOperands{Send: n(1000), SendSize: n(8), Flops: n(trace.FloatArg(1e6)), Comm: trace.Communicator(0)})
		b.Icollective(5, trace.CollBarrier, trace.CollectiveOperands{})
		b.Message(trace.OpIrecv, 0, 0, n(before), n(8), n(1e6))
		b.Message(trace.OpIsend, 0, 2, n(next), n(8), n(1e6))
		b.Complete(trace.TestAll, 0, 1)
		b.Complete(trace.CompleteAny, 0, 2)
		b.Complete(trace.CompleteSome, 0, 2, 5)
		b.WaitAll()
		b.Sync(trace.SyncFence, 0, n(trace.AllRanks), n(1), n(0))
		b.Access(trace.AccessAccumulate, 0, -1, n(next), n(1), n(1e5), n(0))
		b.Access(trace.AccessFetchAndOp, 0, -1, n(0), n(1), n(8), n(8))
		b.Sync(trace.SyncFence, 0, n(trace.AllRanks), n(1), n(0))
		b.Sync(trace.SyncLockExclusive, 0, n(0), n(2), n(0))
		b.Access(trace.AccessGet, 0, 1, n(0), n(2), n(0), n(1e5))
		b.Wait(1)
		b.Sync(trace.SyncUnlock, 0, n(0), n(2), n(0))
	}, []int64{100000, 200000, 300000})
	for name, xml := range map[string]string{
		"constant": `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us"/></platform>`,
		"changing": `<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="125MBps" latency="50us"/><link id="m" bandwidth="125MBps" latency="50us" sharing_policy="FATPIPE"/>
<route src="a" dst="b"><link_ctn id="l"/><link_ctn id="m"/></route></zone>
<trace id="1" periodicity="0.003">0.001 1e7
0.002 1e8</trace><trace_connect kind="BANDWIDTH" trace="1" element="l"/>
<trace id="2" periodicity="0.004">0.0015 1e-3
0.0025 1e-5</trace><trace_connect kind="LATENCY" trace="2" element="m"/>
<trace id="3" periodicity="0.005">0.002 0
0.003 2</trace><trace_connect kind="SPEED" trace="3" element="b"/>
</platform>`,
	} {
		p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
		noError(t, err)
		t.Run(name, func(t *testing.T) {
			checkResumes(t, 60, func(change func(*replay.Options)) (*replay.Result, error) {
				o := replay.DefaultOptions()
				change(&o)
				return replay.Run(t.Context(), tr, replay.Machine{Platform: p, Hosts: []int32{0, 0, 1}}, o)
			})
		})
	}
}

// saveFirst returns the checkpoint of the first pause of a replay of HPL that is
// stopped then, and how to replay it with other options and on another machine.
func saveFirst(t *testing.T) ([]byte, func(replay.Machine, replay.Options) (*replay.Result, error)) {
	t.Helper()
	open := opener(t, func(w io.Writer) error {
		return hpl.Generate(t.Context(), w, hpl.DefaultParams(64, 2, 2), hpl.Options{})
	})
	run := func(m replay.Machine, o replay.Options) (*replay.Result, error) {
		tr, err := open()
		noError(t, err)
		defer tr.Close()
		return replay.Run(t.Context(), tr, m, o)
	}
	var file bytes.Buffer
	o := replay.DefaultOptions()
	o.Identity = []replay.Property{{Name: "kernels", Value: "default"}}
	stop := errors.New("stop")
	o.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error { return errors.Join(p.Save(&file, 2), stop) }}
	if _, err := run(generic(t, 4), o); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	return file.Bytes(), run
}

// TestResumeRefuses: a checkpoint of another run is refused, and the message names
// what differs.
func TestResumeRefuses(t *testing.T) {
	file, run := saveFirst(t)
	for _, c := range []struct {
		change func(m *replay.Machine, o *replay.Options)
		want   string // "": goes on
	}{
		{func(*replay.Machine, *replay.Options) {}, ""},
		{func(_ *replay.Machine, o *replay.Options) { o.To = 1 }, "steps: 0:3 in the checkpoint, 0:1 now"}, // 64/32, and the solve
		{func(_ *replay.Machine, o *replay.Options) { o.Network.IprobeCost = 2 }, "smpi/iprobe: 0.0001 in the checkpoint, 2 now"},
		{func(_ *replay.Machine, o *replay.Options) { o.Identity[0].Value = "fast" }, "kernels: default in the checkpoint, fast now"},
		{func(_ *replay.Machine, o *replay.Options) { o.Identity = nil }, "kernels: default in the checkpoint, not there now"},
		{func(m *replay.Machine, _ *replay.Options) { m.Hosts = []int32{1, 0, 2, 3} }, "mapping of ranks to hosts: "},
		{func(m *replay.Machine, _ *replay.Options) { m.Factors = []float64{1, 0.5, 1, 1} }, "speeds of hosts: "},
		{func(m *replay.Machine, _ *replay.Options) { m.Platform = generic(t, 64).Platform }, "description of the machine: "},
	} {
		m, o := generic(t, 4), replay.DefaultOptions()
		o.Identity = []replay.Property{{Name: "kernels", Value: "default"}}
		o.Resume = checkpointOf(file)
		c.change(&m, &o)
		res, err := run(m, o)
		switch {
		case c.want == "" && (err != nil || res.WallBefore != 2):
			t.Errorf("%v, wall time %v before, want 2", err, res)
		case c.want != "" && (!errors.Is(err, replay.ErrOtherRun) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestResumeFactors: a checkpoint belongs to all factors of links and to all noise of kernels, of which there
// may be several.
func TestResumeFactors(t *testing.T) {
	tr, _ := smallHPL(t)
	run := func(bandwidth, noise string, change func(*replay.Options)) error {
		spec := replay.MachineSpec{Machine: "dahu"}
		for name, value := range map[string]string{"bandwidth": bandwidth, "kernel-noise": noise} {
			noError(t, replay.FindParameter(name).Set(&spec, value))
		}
		m, o, _, err := replay.LoadMachine(spec, tr)
		noError(t, err)
		change(&o)
		_, err = replay.Run(t.Context(), tr, m, o)
		return err
	}
	const bandwidth, noise = "*=2,*=3", "*=1% dgemm=2%"
	var file bytes.Buffer
	if err := run(bandwidth, noise, func(o *replay.Options) {
		o.Checkpoints = &replay.Checkpoints{Every: time.Hour, Write: func(p *replay.Pause) error { return p.Save(&file, 0) }}
	}); err != nil {
		t.Fatal(err)
	}
	resume := func(o *replay.Options) { o.Resume = checkpointOf(file.Bytes()) }
	if err := run(bandwidth, noise, resume); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ bandwidth, noise, want string }{
		{"*=2", noise, "bandwidth: *=2, *=3 in the checkpoint, *=2 now"},
		{"*=3", noise, "bandwidth: *=2, *=3 in the checkpoint, *=3 now"},
		{bandwidth, "*=1%", "kernel-noise: *=0.01, dgemm=0.02 in the checkpoint, *=0.01 now"},
	} {
		if err := run(c.bandwidth, c.noise, resume); !errors.Is(err, replay.ErrOtherRun) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestResumeDamaged: any byte of a checkpoint that is another one, and any end that is
// missing, is an error.
func TestResumeDamaged(t *testing.T) {
	file, run := saveFirst(t)
	resume := func(file []byte) error {
		o := replay.DefaultOptions()
		o.Identity = []replay.Property{{Name: "kernels", Value: "default"}}
		o.Resume = checkpointOf(file)
		_, err := run(generic(t, 4), o)
		return err
	}
	for at := 0; at < len(file); at += 1 + len(file)/50 {
		damaged := bytes.Clone(file)
		damaged[at] ^= 0x10
		if resume(damaged) == nil {
			t.Errorf("byte %d of %d changed: no error", at, len(file))
		}
		if resume(file[:at]) == nil {
			t.Errorf("%d of %d bytes: no error", at, len(file))
		}
	}
	if resume(append(bytes.Clone(file), 0)) == nil {
		t.Error("a byte more: no error")
	}
}

// stopsAt has a replay end with an error, which it returns, at a time in seconds.
func (b *bench) stopsAt(seconds float64) error {
	stop := errors.New("stop")
	b.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error {
		if p.Time() >= seconds {
			return stop
		}
		return nil
	}}
	return stop
}

// TestStopped: a replay that is stopped tells how far it has come.
func TestStopped(t *testing.T) {
	b := newBench(t, star(2), 2)
	stop := b.stopsAt(1)
	lists := [][]trace.Action{
		{send(1, 1, 100000), sleep(1), send(1, 1, 100000), sleep(1), send(1, 1, 100000)},
		{recv(0, 1, 100000), recv(0, 1, 100000), recv(0, 1, 100000)},
	}
	res, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
	if !errors.Is(err, stop) || res == nil || res.StoppedAt == nil {
		t.Fatal(res, err)
	}
	// The second transfer begins a second after the first has ended, and is under way.
	first := starLatency + (100000+envelope)/starBandwidth
	near(t, "stopped at", *res.StoppedAt, first+1+starLatency)
	near(t, "makespan so far", res.Makespan, first+1+starLatency) // both ranks wait since earlier times
	if res.Complete || res.Messages != 2 {
		t.Errorf("complete %v, %d messages, want false and 2", res.Complete, res.Messages)
	}
}

// TestStoppedWarnings: of a replay that is stopped it is known which messages did not fit, but not
// which will have no partner. The second message arrives after 1 s.
func TestStoppedWarnings(t *testing.T) {
	b := newBench(t, star(2), 2)
	stop := b.stopsAt(1)
	lists := [][]trace.Action{
		{send(1, 1, 100), sleep(1), send(1, 2, 100000), send(1, 3, 10)},
		{recv(0, 1, 50), recv(0, 2, 100000)},
	}
	texts := func(stops bool) (list []string) {
		res, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
		if errors.Is(err, stop) != stops || res == nil {
			t.Fatal(res, err)
		}
		for _, w := range res.Warnings {
			list = append(list, w.String())
		}
		return list
	}
	const cut = "1 message cut to the size of a receive, where an MPI ends with MPI_ERR_TRUNCATE"
	if diff := cmp.Diff([]string{cut}, texts(true)); diff != "" {
		t.Errorf("stopped: %s", diff)
	}
	b.Checkpoints = nil
	if diff := cmp.Diff([]string{"1 message sent but never received", cut}, texts(false)); diff != "" {
		t.Errorf("to its end: %s", diff)
	}
}

// TestCheckpointsDue: a checkpoint is written at the beginning, once the time since the last
// one has passed, and at the end of the context; with nothing to wait for between any two
// events, of which two messages have two each, and the run an end.
func TestCheckpointsDue(t *testing.T) {
	for _, c := range []struct {
		every     time.Duration
		ends      bool // the context, with the first
		messages  int
		low, high int
	}{{time.Hour, false, 2, 1, 1}, {time.Hour, true, 100_000, 2, 2}, {0, false, 2, 5, 5}, {time.Nanosecond, false, 100_000, 2, 200_001}} {
		b := newBench(t, star(2), 2)
		calls, stop := 0, errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		b.Checkpoints = &replay.Checkpoints{Every: c.every, Write: func(*replay.Pause) error {
			if calls++; c.ends {
				cancel(stop)
			}
			return nil
		}}
		lists := make([][]trace.Action, 2)
		for range c.messages {
			lists[0], lists[1] = append(lists[0], send(1, 1, 84)), append(lists[1], recv(0, 1, 84))
		}
		res, err := replay.RunSource(ctx, &b.header, replay.NewLists(lists), b.Machine, b.Options)
		if c.ends && (!errors.Is(err, stop) || res == nil || res.StoppedAt == nil) || !c.ends && err != nil {
			t.Errorf("every %v: %v", c.every, err)
		}
		if calls < c.low || calls > c.high {
			t.Errorf("every %v, ends %v: %d checkpoints, want %d to %d", c.every, c.ends, calls, c.low, c.high)
		}
	}
}

// TestEndedBefore: a replay whose context has ended says that it has come nowhere.
func TestEndedBefore(t *testing.T) {
	b := newBench(t, star(2), 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := replay.RunSource(ctx, &b.header, replay.NewLists([][]trace.Action{{send(1, 1, 84)}, {recv(0, 1, 84)}}), b.Machine, b.Options)
	if !errors.Is(err, context.Canceled) || res == nil || res.StoppedAt == nil || *res.StoppedAt != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestRepeats: a set of HPCG ends, rank by rank, when it does if all of its iterations are
// played, as they are for an observer; so do several sets, and steps from the middle of one.
// What is counted is the same number.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		name                string
		ranks, n, perHost   int
		sets, from, to      int
		atLeast             int // repeats: all but the first and the last steps of each set
		finalizationBarrier bool
	}{
		{"one set", 27, 16, 4, 1, 0, 0, 40, false},
		{"three sets", 12, 24, 4, 3, 0, 0, 120, true},
		{"one rank", 1, 32, 1, 1, 0, 0, 40, false},
		{"a rank on each host", 64, 40, 1, 1, 0, 0, 40, false},
		{"steps of two sets", 24, 16, 8, 2, 20, 80, 40, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := hpcg.DefaultParams(c.ranks, c.n)
			p.Sets = c.sets
			open := opener(t, func(w io.Writer) error { return hpcg.Generate(context.Background(), w, p, hpcg.Options{}) })
			tr, err := open()
			noError(t, err)
			defer tr.Close()
			spec := replay.MachineSpec{Platform: "default", RanksPerHost: c.perHost}
			spec.SetOption("smpi/coll-selector", "default") // a rank that all others wait for: clocks repeat to the last digits
			m, o, _, err := replay.LoadMachine(spec, tr)
			noError(t, err)
			o.From, o.To, o.Network.FinalizationBarrier = c.from, c.to, c.finalizationBarrier
			got, err := replay.Run(t.Context(), tr, m, o)
			noError(t, err)
			o.Observers = []replay.Observer{{}}
			want, err := replay.Run(t.Context(), tr, m, o)
			noError(t, err)
			if got.Repeated < c.atLeast || want.Repeated != 0 {
				t.Errorf("%d steps repeat, want %d at least; %d for an observer", got.Repeated, c.atLeast, want.Repeated)
			}
			if got.Messages != want.Messages || got.Bytes != want.Bytes || got.Actions != want.Actions || got.Last != want.Last || got.Complete != want.Complete {
				t.Errorf("%d messages, %d bytes, %d actions to step %d, want %d, %d, %d, %d", got.Messages, got.Bytes, got.Actions, got.Last, want.Messages, want.Bytes, want.Actions, want.Last)
			}
			for r := range want.Ranks {
				if got, want := got.Ranks[r].End, want.Ranks[r].End; math.Abs(got-want) > 5e-9+1e-6*want {
					t.Errorf("rank %d ends at %.12g s, want %.12g", r, got, want)
				}
				sameTime(t, got.Ranks[r].Host, got.Ranks[r].End, want.Ranks[r].End)
			}
			for i, lists := range [][2][]replay.Share{{got.Kinds, want.Kinds}, {got.Kernels, want.Kernels}, {got.Phases, want.Phases}} {
				for k, share := range lists[1] {
					if lists[0][k].Name != share.Name {
						t.Fatalf("table %d: %s, want %s", i, lists[0][k].Name, share.Name)
					}
					sameTime(t, share.Name, lists[0][k].Mean, share.Mean)
				}
			}
		})
	}
}

// sameTime compares times in seconds: what the precision of time leaves open, a nanosecond for
// each of some hundred messages after one another, and rounding.
func sameTime(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-7+1e-7*want {
		t.Errorf("%s: %.12g s, want %.12g", what, got, want)
	}
}

// TestRepeatsCheckpoint: a replay that is saved while ranks stand in a step, and goes on from
// there, gives the same bits.
func TestRepeatsCheckpoint(t *testing.T) {
	p := hpcg.DefaultParams(12, 16)
	open := opener(t, func(w io.Writer) error { return hpcg.Generate(context.Background(), w, p, hpcg.Options{}) })
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "default", RanksPerHost: 4}, tr)
	noError(t, err)
	checkResumes(t, 12, func(change func(*replay.Options)) (*replay.Result, error) {
		o := o
		change(&o)
		return replay.Run(t.Context(), tr, m, o)
	})
}
