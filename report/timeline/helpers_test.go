package timeline_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
	"reprise/report/timeline"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The star of the tests: 125 MB/s and 50 us a link, so 100 us between two hosts. A message has
// 16 bytes besides its own.
const (
	latency   = 1e-4
	bandwidth = 125e6
	envelope  = 16
)

// observing is a recorder, a collector, or several.
type observing interface{ Observer() replay.Observer }

type several []observing

func (several) Observer() replay.Observer { return replay.Observer{} }

func observersOf(to observing) (list []replay.Observer) {
	if all, ok := to.(several); ok {
		for _, o := range all {
			list = append(list, o.Observer())
		}
	} else if to != nil {
		list = append(list, to.Observer())
	}
	return list
}

// play replays lists of actions on a star, a rank on each host, where nothing costs the ranks
// time but flop, at 1 Gflop/s.
func play(t testing.TB, h *trace.Header, to observing, lists ...[]trace.Action) *replay.Result {
	t.Helper()
	xml := fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="125MBps" lat="50us"/></platform>`, len(lists)-1)
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	o := replay.DefaultOptions()
	o.Observers = observersOf(to)
	for _, option := range []string{"smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/iprobe:0", "smpi/test:0", "smpi/grow-injected-times:no", "network/crosstraffic:no"} {
		name, value, _ := strings.Cut(option, ":")
		noError(t, o.Network.Set(name, value))
	}
	hosts, err := replay.FillHosts(p, len(lists), 1)
	noError(t, err)
	h.Ranks = len(lists)
	res, err := replay.RunSource(t.Context(), h, replay.NewLists(lists), replay.Machine{Platform: p, Hosts: hosts}, o)
	noError(t, err)
	return res
}

// hplRun is a trace of HPL with a machine to play it on.
type hplRun struct {
	file    []byte
	header  *trace.Header
	machine replay.Machine
	options replay.Options
}

// newHPL returns one of P by Q ranks on the built-in machine dahu, with kernel models; "": its own.
func newHPL(t testing.TB, n, p, q int, kernels string) *hplRun {
	t.Helper()
	params := hpl.DefaultParams(n, p, q)
	params.NB = 32
	var file bytes.Buffer
	noError(t, hpl.Generate(t.Context(), &file, params, hpl.Options{}))
	run := &hplRun{file: file.Bytes()}
	tr := run.open(t)
	var err error
	run.machine, run.options, _, err = replay.LoadMachine(replay.MachineSpec{Platform: "dahu", Kernels: kernels, RanksPerHost: 1}, tr)
	noError(t, err)
	run.header = tr.Header()
	return run
}

func (run *hplRun) open(t testing.TB) *trace.Trace {
	t.Helper()
	tr, err := trace.NewReaderAt(bytes.NewReader(run.file), int64(len(run.file)), "HPL")
	noError(t, err)
	return tr
}

// play replays it with an observer.
func (run *hplRun) play(t testing.TB, to observing) *replay.Result {
	t.Helper()
	o := run.options
	o.Observers = observersOf(to)
	res, err := replay.Run(t.Context(), run.open(t), run.machine, o)
	noError(t, err)
	return res
}

func (run *hplRun) hosts() []string {
	var names []string
	for _, host := range run.machine.Hosts {
		names = append(names, run.machine.Platform.Host(int(host)).Name)
	}
	return names
}

// seen is a sink that keeps everything.
type seen struct {
	h        *trace.Header
	slices   [][]timeline.Slice // by rank
	phases   []phase
	messages []timeline.Message
	open     map[int32][]phase
}

type phase struct {
	rank       int32
	name       string
	begin, end float64
	depth      int
}

func newSeen(h *trace.Header) *seen { return &seen{h: h, open: map[int32][]phase{}} }

// seenOf plays actions, and returns all that a recorder of a span tells of them.
func seenOf(t testing.TB, h *trace.Header, span timeline.Span, lists ...[]trace.Action) (*seen, *replay.Result) {
	t.Helper()
	got := newSeen(h)
	r := timeline.NewRecorder(h, span, got)
	res := play(t, h, r, lists...)
	r.End()
	return got, res
}

func (s *seen) PhaseBegins(rank int32, p int, at float64) {
	s.open[rank] = append(s.open[rank], phase{rank: rank, name: s.h.Phases[p], begin: at, depth: len(s.open[rank])})
}

func (s *seen) PhaseEnds(rank int32, at float64) {
	open := s.open[rank]
	last := open[len(open)-1]
	last.end = at
	s.phases = append(s.phases, last)
	s.open[rank] = open[:len(open)-1]
}

func (s *seen) Slice(slice *timeline.Slice) {
	kept := *slice
	kept.Args, kept.Sends, kept.Receives = slices.Clone(slice.Args), slices.Clone(slice.Sends), slices.Clone(slice.Receives)
	for int(slice.Rank) >= len(s.slices) {
		s.slices = append(s.slices, nil)
	}
	s.slices[slice.Rank] = append(s.slices[slice.Rank], kept)
}

func (s *seen) Message(m *timeline.Message) { s.messages = append(s.messages, *m) }

func (s *seen) Label(string, float64) {}

func (s *seen) Close() error { return nil }

// lines says what a rank does, when, and what most of that is.
func (s *seen) lines(rank int) (lines []string) {
	names, states := timeline.Names(s.h), timeline.States()
	for i := range s.slices[rank] {
		slice := &s.slices[rank][i]
		lines = append(lines, fmt.Sprintf("%.9f %.9f %s %s", slice.Begin, slice.End, states[slice.State], strings.TrimSpace(names[slice.Name]+" "+timeline.Text(slice.Args))))
	}
	return lines
}

// Actions.

func flops(amount float64) trace.Action {
	return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(amount)}}
}

func send(peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindSend, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func recv(peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindRecv, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func irecv(req, peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindIrecv, Req: req, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func isend(req, peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindIsend, Req: req, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func wait(req int32) trace.Action { return trace.Action{Kind: trace.KindWait, Req: req} }

func step(n int64) trace.Action {
	return trace.Action{Kind: trace.KindStep, X: [4]int64{n}}
}

func enter(phase uint16) trace.Action { return trace.Action{Kind: trace.KindPhase, Sym: phase} }

func leave(phase uint16) trace.Action {
	return trace.Action{Kind: trace.KindPhase, Sym: phase, Flags: trace.FlagEnd}
}
