package replay_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/replay"
	"reprise/smpi"
	"reprise/trace"
	"reprise/tracegen/hpl"
	"reprise/tracegen/simgrid"
)

// rebuilder rebuilds a result from what an Observer reports, and checks that it fits
// together.
type rebuilder struct {
	t         testing.TB
	precision float64 // of the network's times, seconds
	resumed   bool

	ranks    []rebuiltRank
	messages map[int32]*rebuiltMessage

	sends, bytes int64
}

type rebuiltRank struct {
	told         bool
	clock        float64 // s
	kinds        map[replay.TimeKind]float64
	kernels      map[int32]float64
	phases, open map[uint16]float64
	action       trace.Kind // KindNone: none is open
	begun        float64
	waiting      bool // the last time was one of waiting, which nothing has released
}

type rebuiltMessage struct {
	src, dst           int32
	size               int64
	sent, received     float64 // s; NaN: not posted
	started, at, ended float64
	carried            float64 // bytes
}

func newRebuilder(t testing.TB, ranks int, o *replay.Options) *rebuilder {
	b := &rebuilder{t: t, precision: o.Network.TimePrecision, ranks: make([]rebuiltRank, ranks), messages: map[int32]*rebuiltMessage{}}
	for r := range b.ranks {
		b.ranks[r] = rebuiltRank{kinds: map[replay.TimeKind]float64{}, kernels: map[int32]float64{}, phases: map[uint16]float64{}, open: map[uint16]float64{}}
	}
	return b
}

func (b *rebuilder) observer() replay.Observer {
	return replay.Observer{
		ActionBegins: b.actionBegins, ActionEnds: b.actionEnds, Marked: b.marked, TimePasses: b.timePasses, Released: b.released,
		SendPosted: b.sendPosted, ReceivePosted: b.receivePosted, Merged: b.merged, Started: b.started, Carried: b.carried, Ended: b.ended,
	}
}

func (b *rebuilder) fail(format string, args ...any) {
	b.t.Helper()
	if !b.t.Failed() { // one is enough
		b.t.Errorf(format, args...)
	}
}

// at fails unless it is what time the rank has, but for a rank of which nothing was told.
func (b *rebuilder) at(rank int32, what string, at float64) *rebuiltRank {
	r := &b.ranks[rank]
	if !r.told && b.resumed {
		r.told, r.clock = true, at
	}
	if r.clock != at {
		b.fail("rank %d: %s at %v s, its clock is %v", rank, what, at, r.clock)
	}
	if r.waiting {
		b.fail("rank %d: %s at %v s, and nothing has released it", rank, what, at)
	}
	return r
}

func (b *rebuilder) actionBegins(rank int32, a trace.Action, at float64) {
	r := b.at(rank, a.Kind.String(), at)
	if r.action != trace.KindNone {
		b.fail("rank %d: %v in a %v", rank, a.Kind, r.action)
	}
	r.action, r.begun = a.Kind, at
}

func (b *rebuilder) actionEnds(rank int32, at float64) {
	r := b.at(rank, "end", at)
	if r.action == trace.KindNone || at < r.begun {
		b.fail("rank %d: end of %v at %v s, which began at %v s", rank, r.action, at, r.begun)
	}
	r.action = trace.KindNone
}

func (b *rebuilder) marked(rank int32, mark trace.Action, at float64) {
	if mark.Kind == trace.KindStep {
		b.at(rank, "step", at)
		return
	}
	r := &b.ranks[rank]
	if !b.resumed {
		b.at(rank, "phase", at)
	}
	begin, open := r.open[mark.Sym]
	switch {
	case mark.Flags&trace.FlagEnd == 0 && !open:
		r.open[mark.Sym] = at
	case mark.Flags&trace.FlagEnd != 0 && open:
		r.phases[mark.Sym] += at - begin
		delete(r.open, mark.Sym)
	}
}

func (b *rebuilder) timePasses(rank int32, k replay.TimeKind, kernel int32, from, to float64) {
	r := b.at(rank, k.String(), from)
	if !(to > from) || (r.action == trace.KindNone) != (k == replay.TimeSleep && from == 0) && r.action != trace.KindSleep {
		b.fail("rank %d: %v from %v to %v s, in a %v", rank, k, from, to, r.action)
	}
	r.kinds[k] += to - from
	if kernel >= 0 {
		r.kernels[kernel] += to - from
	}
	r.clock, r.told, r.waiting = to, true, k.Waits()
}

func (b *rebuilder) released(rank, message int32, since, at float64) {
	r, m := &b.ranks[rank], b.messages[message]
	if m == nil {
		b.fail("rank %d: released by message %d, of which nothing is known", rank, message)
		return
	}
	if r.clock != at || !(since < at) || since < r.begun {
		b.fail("rank %d, whose clock is %v s, waited from %v to %v s in a %v that began at %v", rank, r.clock, since, at, r.action, r.begun)
	}
	if r.waiting && m.ended != at {
		b.fail("rank %d: released at %v s by a message that ended at %v s", rank, at, m.ended)
	}
	if !r.waiting && (m.sent > at || m.dst != rank) {
		b.fail("rank %d: a probe at %v s sees a message for rank %d posted at %v s", rank, at, m.dst, m.sent)
	}
	if rank != m.src && rank != m.dst {
		b.fail("rank %d: released by a message of rank %d to rank %d", rank, m.src, m.dst)
	}
	r.waiting = false
}

// post returns the message of a post. One that has ended and both of whose sides were
// posted is another one.
func (b *rebuilder) post(id int32) *rebuiltMessage {
	m := b.messages[id]
	if m == nil || !math.IsNaN(m.sent+m.received+m.ended) {
		m = &rebuiltMessage{sent: math.NaN(), received: math.NaN(), started: math.NaN(), ended: math.NaN()}
		b.messages[id] = m
	}
	return m
}

func (b *rebuilder) sendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	m := b.post(message)
	if !b.resumed {
		b.at(src, "send", at)
	}
	if !math.IsNaN(m.sent) {
		b.fail("message %d is sent twice", message)
	}
	m.src, m.dst, m.size, m.sent = src, dst, bytes, at
	b.sends++
	b.bytes += bytes
}

func (b *rebuilder) receivePosted(message, dst, src, tag int32, bytes int64, at float64) {
	m := b.post(message)
	if !b.resumed {
		b.at(dst, "receive", at)
	}
	if !math.IsNaN(m.received) {
		b.fail("message %d is received twice", message)
	}
	m.dst, m.received = dst, at
}

func (b *rebuilder) merged(send, receive int32) {
	s, r := b.messages[send], b.messages[receive]
	if s == nil || r == nil || !math.IsNaN(s.received) || !math.IsNaN(r.sent) || s.dst != r.dst {
		b.fail("messages %d and %d are one: %+v %+v", send, receive, s, r)
		return
	}
	s.received = r.received
	delete(b.messages, receive)
}

func (b *rebuilder) started(message int32, at float64) {
	m := b.messages[message]
	if !b.resumed && at != m.sent && at != max(m.sent, m.received) {
		b.fail("message %d, posted at %v and %v s, starts at %v s", message, m.sent, m.received, at)
	}
	m.started, m.at = at, math.Inf(-1)
}

func (b *rebuilder) carried(message int32, from, to, rate, alone float64, link int32) {
	m := b.messages[message]
	if m.at == math.Inf(-1) && from < m.started-b.precision || m.at != math.Inf(-1) && from != m.at || !(to > from) {
		b.fail("message %d, started at %v s and carried up to %v s, is carried from %v to %v s", message, m.started, m.at, from, to)
	}
	if rate > alone*(1+1e-9) {
		b.fail("message %d gets %v byte/s, and %v alone", message, rate, alone)
	}
	if rate < alone*(1-1e-9) && link < 0 {
		b.fail("message %d gets %v of %v byte/s, and no link bounds it", message, rate, alone)
	}
	m.at = to
	m.carried += rate * (to - from)
}

func (b *rebuilder) ended(message int32, at float64) {
	m := b.messages[message]
	if m.at != at && m.at != math.Inf(-1) || at < m.started-b.precision {
		b.fail("message %d, started at %v s and carried up to %v s, ends at %v s", message, m.started, m.at, at)
	}
	// Rates times the precision of times, and what the network takes for nothing, may be missing.
	if want := float64(m.size + envelope); !b.resumed && m.at > 0 && math.Abs(m.carried-want) > 1e-6*want+1e3 {
		b.fail("message %d: %v bytes of %v are carried", message, m.carried, want)
	}
	m.ended = at
}

// check compares with a result.
func (b *rebuilder) check(res *replay.Result) {
	b.t.Helper()
	if b.sends != res.Messages || b.bytes != res.Bytes {
		b.fail("%d messages with %d bytes, want %d with %d", b.sends, b.bytes, res.Messages, res.Bytes)
	}
	b.checkEnds(res)
	b.checkTimes(res)
}

// checkEnds compares the ends of the ranks, in none of whose actions they are.
func (b *rebuilder) checkEnds(res *replay.Result) {
	b.t.Helper()
	for r, want := range res.Ranks {
		if got := b.ranks[r].clock; got != want.End {
			b.fail("rank %d ends at %v s, want %v s", r, got, want.End)
		}
		if b.ranks[r].action != trace.KindNone || b.ranks[r].waiting {
			b.fail("rank %d ends in a %v", r, b.ranks[r].action)
		}
	}
}

// checkTimes compares what time was spent on.
func (b *rebuilder) checkTimes(res *replay.Result) {
	b.t.Helper()
	b.checkShares("time by kind", res.Kinds, func(r *rebuiltRank) map[string]float64 {
		sums := map[string]float64{}
		for k, v := range r.kinds {
			sums[k.String()] += v
		}
		return sums
	})
	b.checkShares("time by kernel", res.Kernels, func(r *rebuiltRank) map[string]float64 {
		sums := map[string]float64{}
		for k, v := range r.kernels {
			sums[res.Header.Kernels[k].Name] += v
		}
		return sums
	})
	b.checkShares("time by phase", res.Phases, func(r *rebuiltRank) map[string]float64 {
		sums := map[string]float64{}
		for p, v := range r.phases {
			sums[res.Header.Phases[p]] += v
		}
		for p, begin := range r.open {
			sums[res.Header.Phases[p]] += r.clock - begin
		}
		return sums
	})
}

// checkShares compares times with those of a result, by name; a kernel's attributes are not
// part of it.
func (b *rebuilder) checkShares(what string, want []replay.Share, sums func(*rebuiltRank) map[string]float64) {
	b.t.Helper()
	means, expected := map[string]float64{}, map[string]float64{}
	known := map[string]bool{}
	for r := range b.ranks {
		for name, v := range sums(&b.ranks[r]) {
			if known[name] = true; v > 0 {
				means[name] += v / float64(len(b.ranks))
			}
		}
	}
	for _, s := range want {
		name := s.Name
		if !known[name] {
			name, _, _ = strings.Cut(name, " ")
		}
		expected[name] += s.Mean
	}
	if diff := cmp.Diff(expected, means, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
		b.fail("%s (-want +got):\n%s", what, diff)
	}
}

// observed runs a replay with and without an observer: the results are the same, and what
// is told fits them.
func observed(t *testing.T, run func(change func(*replay.Options)) (*replay.Result, error)) {
	t.Helper()
	want, err := run(func(*replay.Options) {})
	noError(t, err)
	var b *rebuilder
	got, err := run(func(o *replay.Options) {
		b = newRebuilder(t, len(want.Ranks), o)
		o.Observers = []replay.Observer{b.observer()}
	})
	noError(t, err)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(replay.Result{}, "Header")); diff != "" {
		t.Errorf("with an observer (-without +with):\n%s", diff)
	}
	b.check(got)
}

// TestObservesCases: of all cases of SimGrid.
func TestObservesCases(t *testing.T) {
	for _, archive := range []string{replayOracle, profilesOracle} {
		dir := t.TempDir()
		for i, name := range unzip(t, archive, dir) {
			folder := filepath.Join(dir, name)
			if testing.Short() && i%18 != 0 || !isCase(folder) {
				continue
			}
			t.Run(name, func(t *testing.T) { observeCase(t, folder) })
		}
	}
}

func observeCase(t *testing.T, folder string) {
	t.Helper()
	observed(t, func(change func(*replay.Options)) (*replay.Result, error) {
		text, err := simgrid.Open(filepath.Join(folder, "trace.index"), folder)
		if err != nil {
			return nil, err
		}
		defer text.Close()
		m, o := caseMachine(t, folder, text.Ranks())
		change(&o)
		return replay.RunSource(t.Context(), &trace.Header{Ranks: text.Ranks()}, text, m, o)
	})
}

// TestObservesHPL: of runs of HPL with polls of all kinds, noise, and ranks that share
// cores.
func TestObservesHPL(t *testing.T) {
	_, noisy := noisyHPL(t)
	t.Run("noisy", func(t *testing.T) { observed(t, noisy) })
	for _, c := range []struct {
		name    string
		options []string
		perHost int
	}{
		{"posted", []string{"smpi/iprobe:1e-6"}, 1},
		{"arrived", []string{"smpi/iprobe:1e-6"}, 1},
		{"growing", []string{"smpi/iprobe:1e-6", "smpi/grow-injected-times:yes"}, 1},
		{"shared", []string{"smpi/iprobe:1e-6", "smpi/grow-injected-times:yes"}, 4},
		{"free", []string{"smpi/iprobe:0"}, 1},
		{"textbook", []string{"reprise/solver:reference"}, 1},
		{"crowd", []string{"reprise/solver:clocks"}, 4},
		{"no contention", []string{"network/crosstraffic:yes", "smpi/init:0.5"}, 1},
		{"barrier", []string{"smpi/finalization-barrier:yes", "smpi/os:0:1e-5:0", "smpi/or:0:1e-5:0"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, file := hplBench(t, c.perHost)
			b.set(t, c.options...)
			if c.name == "arrived" {
				b.Network.Poll = smpi.PollArrived
			}
			observed(t, func(change func(*replay.Options)) (*replay.Result, error) {
				tr, err := trace.NewReader(bytes.NewReader(file), c.name)
				if err != nil {
					return nil, err
				}
				o := b.Options
				change(&o)
				return replay.Run(t.Context(), tr, b.Machine, o)
			})
		})
	}
}

// TestObservesResumed: what is told from a checkpoint on fits the ends of the ranks.
func TestObservesResumed(t *testing.T) {
	_, run := noisyHPL(t)
	files, want := saveAt(t, []int{1, 50, 400, 1500}, run, nil)
	for _, file := range files {
		b := &rebuilder{}
		got, err := run(func(o *replay.Options) {
			b = newRebuilder(t, len(want.Ranks), o)
			b.resumed = true
			o.Resume, o.Observers = checkpointOf(file), []replay.Observer{b.observer()}
		})
		noError(t, err)
		sameResult(t, "observed", got, want)
		b.checkEnds(got)
		var s carrier
		matched := 0
		count := func(int32, float64) { matched++ }
		o := replay.Observer{Transferred: s.transferred, Started: count, Ended: count}
		if _, err := run(func(ro *replay.Options) { ro.Resume, ro.Observers = checkpointOf(file), []replay.Observer{o} }); err != nil {
			t.Fatal(err)
		}
		// Of a message whose transfer has ended before the checkpoint only that is known.
		if len(s.list) == 0 || int64(len(s.list)) > got.Messages || matched <= len(s.list) {
			t.Errorf("%d transfers of %d messages, %d starts and ends", len(s.list), got.Messages, matched)
		}
	}
}

// hplBench returns a bench with so many ranks per host, and a trace of HPL for 16 ranks.
func hplBench(t testing.TB, perHost int) (*bench, []byte) {
	t.Helper()
	p := hpl.DefaultParams(600, 4, 4)
	p.NB, p.Depth, p.Bcast = 40, 1, hpl.TwoRing
	var file bytes.Buffer
	noError(t, hpl.Generate(t.Context(), &file, p, hpl.Options{}))
	b := newBench(t, star(16/perHost), 16/perHost)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  dgemm: {terms: {M*N*K: 1e-9}}\n  dtrsm: {terms: {M*N*N: 1e-9}}\n  \"*\": free\n")
	var err error
	b.Hosts, err = replay.FillHosts(b.Platform, 16, perHost)
	noError(t, err)
	return b, file.Bytes()
}

// parts keeps what is told of transfers and releases.
type parts struct {
	carried  []part
	released []release
	actions  []trace.Kind
}

type part struct {
	message               int32
	from, to, rate, alone float64
	link                  string
}

type release struct {
	rank, message int32
	since, at     float64
}

func (b *bench) observe(t testing.TB, lists ...[]trace.Action) *parts {
	t.Helper()
	p := &parts{}
	b.Observers = []replay.Observer{{
		Carried: func(message int32, from, to, rate, alone float64, link int32) {
			name := "none"
			if link >= 0 {
				name = b.Platform.Link(link).Name
			}
			p.carried = append(p.carried, part{message, from, to, rate, alone, name})
		},
		Released: func(rank, message int32, since, at float64) {
			p.released = append(p.released, release{rank, message, since, at})
		},
		ActionBegins: func(rank int32, a trace.Action, at float64) { p.actions = append(p.actions, a.Kind) },
	}}
	b.run(t, lists...)
	return p
}

// all compares what was told, to 12 digits.
var all = cmp.Options{cmp.AllowUnexported(part{}, release{}), cmpopts.EquateApprox(1e-12, 0)}

// TestObservesContention: ranks 0 and 1 send 1,000 and 3,000 bytes to rank 2, with their
// envelopes 1,016 and 3,016, whose link they share after 100 us: each gets half of 125 MB/s
// until the first has ended after 2*1016/B, with B = 125e6; then the other has 2,000 bytes
// left for itself, and its own link bounds it as much as that of rank 2. Rank 2 waits for the
// first, then for the second.
func TestObservesContention(t *testing.T) {
	const b, l = starBandwidth, starLatency
	p := newBench(t, star(3), 3).observe(t,
		[]trace.Action{send(2, 0, 1000)}, []trace.Action{send(2, 0, 3000)},
		[]trace.Action{irecv(0, 0, 0, 1000), irecv(1, 1, 0, 3000), wait(0), wait(1)})
	first, last := l+2*1016/b, l+2*1016/b+2000/b
	down := "c_link_2_DOWN"
	want := []part{{0, l, first, b / 2, b, down}, {1, l, first, b / 2, b, down}, {1, first, last, b, b, p.carried[len(p.carried)-1].link}}
	if diff := cmp.Diff(want, p.carried, all); diff != "" {
		t.Errorf("parts of transfers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]release{{2, 0, 0, first}, {2, 1, first, last}}, p.released, all); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

// TestObservesWindow: a TCP window of 1,000 bytes bounds a transfer to 1000/(2*100 us) = 5
// MB/s, and no link does.
func TestObservesWindow(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.set(t, "network/TCP-gamma:1000")
	p := b.observe(t, []trace.Action{send(1, 0, 1e6)}, []trace.Action{recv(0, 0, 1e6)})
	want := []part{{0, starLatency, starLatency + (1e6+envelope)/5e6, 5e6, 5e6, "none"}}
	if diff := cmp.Diff(want, p.carried, all); diff != "" {
		t.Errorf("parts of transfers (-want +got):\n%s", diff)
	}
}

// TestObservesBusyWait: rank 1 probes from 0 on, each time for 0.3 ms, for a message that
// rank 0 posts at 1 ms, which the probe at 1.2 ms sees: it has waited since the first at 0.3
// ms, in one action. A probe later, which sees a message that is there, has not waited; the
// transfer starts when the receive is posted.
func TestObservesBusyWait(t *testing.T) {
	for _, grow := range []string{"no", "yes"} {
		t.Run("grow "+grow, func(t *testing.T) {
			b := newBench(t, star(2), 2)
			b.set(t, "smpi/iprobe:3e-4", "smpi/grow-injected-times:"+grow)
			p := b.observe(t, []trace.Action{sleep(1e-3), send(1, 0, 10)},
				[]trace.Action{poll(0, 0, true), sleep(1e-3), poll(0, 0, true), recv(0, 0, 10)})
			seen := 1.2e-3
			if grow == "yes" { // 0.3, 0.9, 1.8
				seen = 1.8e-3
			}
			received := seen + 1e-3 + 3e-4
			want := []release{{1, 0, 3e-4, seen}, {1, 0, received, received + starLatency + (10+envelope)/starBandwidth}}
			if diff := cmp.Diff(want, p.released, all); diff != "" {
				t.Errorf("releases (-want +got):\n%s", diff)
			}
			if len(p.actions) != 6 {
				t.Errorf("actions %v, want six", p.actions)
			}
		})
	}
}

// TestObservingAllocates: nothing per event.
func TestObservingAllocates(t *testing.T) {
	b := newBench(t, star(2), 2)
	sum := 0.0
	b.Observers = []replay.Observer{{
		ActionBegins: func(rank int32, a trace.Action, at float64) { sum += at },
		TimePasses:   func(rank int32, k replay.TimeKind, kernel int32, from, to float64) { sum += to },
		Carried:      func(message int32, from, to, rate, alone float64, link int32) { sum += to },
		Ended:        func(message int32, at float64) { sum += at },
	}}
	run := func(turns int) float64 {
		lists := make([][]trace.Action, 2)
		for i := range turns {
			lists[0] = append(lists[0], sleep(1e-4), send(1, int32(i), 1e5), recv(1, 0, 10))
			lists[1] = append(lists[1], poll(0, int32(i), true), recv(0, int32(i), 1e5), send(0, 0, 10))
		}
		return testing.AllocsPerRun(3, func() { b.run(t, lists...) })
	}
	if few, many := run(10), run(1000); many > few+10 {
		t.Errorf("%v allocations for 10 turns, %v for 1000", few, many)
	}
}

// carrier keeps of each transfer when it was carried, how much, and in how many parts.
type carrier struct {
	open map[int32]transfer
	list []transfer
}

type transfer struct {
	from, to, bytes float64
	parts           int
	shared          bool
}

func (c *carrier) carried(message int32, from, to, rate, alone float64, link int32) {
	t, ok := c.open[message]
	if !ok {
		t.from = from
	}
	t.to, t.parts = to, t.parts+1
	t.bytes += float64(rate * (to - from))
	t.shared = t.shared || rate < alone
	c.open[message] = t
}

func (c *carrier) ended(message int32, at float64) {
	c.list = append(c.list, c.open[message])
	delete(c.open, message)
}

func (c *carrier) observer() replay.Observer {
	c.open = map[int32]transfer{}
	return replay.Observer{Carried: c.carried, Ended: c.ended}
}

// transferred keeps transfers as Observer.Transferred has them, in one part each.
func (c *carrier) transferred(list []replay.Transferred) {
	for _, t := range list {
		shared := t.Bytes/t.Alone < (t.At-t.From)*(1-1e-9)
		c.list = append(c.list, transfer{t.From, t.At, t.Bytes, 1, shared})
	}
}

// TestTransferred: Transferred has each transfer in one part, from the same time to the same time, with as
// many bytes, and shared where a part of it is, whether or not other observers want other things.
func TestTransferred(t *testing.T) {
	b, file := hplBench(t, 2)
	b.set(t, "smpi/iprobe:1e-6")
	run := func(list ...replay.Observer) {
		tr, err := trace.NewReader(bytes.NewReader(file), "hpl")
		noError(t, err)
		options := b.Options
		options.Observers = list
		if _, err := replay.Run(t.Context(), tr, b.Machine, options); err != nil {
			t.Fatal(err)
		}
	}
	var parts, second, alone, beside carrier
	actions := 0
	count := replay.Observer{ActionBegins: func(int32, trace.Action, float64) { actions++ }}
	run(parts.observer(), count, second.observer(), replay.Observer{Transferred: beside.transferred})
	run(replay.Observer{Transferred: alone.transferred})
	if diff := cmp.Diff(parts.list, second.list, cmp.AllowUnexported(transfer{})); diff != "" || actions == 0 {
		t.Errorf("two observers, and %d actions (-one +other):\n%s", actions, diff)
	}
	if diff := cmp.Diff(alone.list, beside.list, cmp.AllowUnexported(transfer{})); diff != "" || len(alone.list) != len(parts.list) {
		t.Fatalf("%d transfers, want %d (-alone +beside others):\n%s", len(alone.list), len(parts.list), diff)
	}
	inParts := 0
	for i, want := range parts.list {
		got := alone.list[i]
		if want.parts > 0 && (got.from != want.from || got.to != want.to || math.Abs(got.bytes-want.bytes) > 1e-6*want.bytes || got.shared != want.shared) {
			t.Fatalf("transfer %d: got %+v, want %+v", i, got, want)
		}
		if want.parts > 1 {
			inParts++
		}
	}
	if inParts == 0 {
		t.Error("no transfer had several parts")
	}
}
