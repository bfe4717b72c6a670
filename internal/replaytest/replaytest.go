// Package replaytest has runs for tests of observers of replays.
//
// A run is HPL ([HPL]), which has collective phases, computations of different lengths, and messages that overlap with
// them: more than the small traces of package tracetest have.
package replaytest

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// Run is a trace of HPL with the machine to play it on.
type Run struct {
	Trace   *trace.Trace
	Machine replay.Machine
	Options replay.Options
	Hosts   []string // of each rank
	file    string
}

// HPL returns a run of HPL on Dahu, of 2 by 3 processes, each on a host.
// The matrix is of order n in blocks of nb. The trace is a file, so that it can be opened more than once.
func HPL(t testing.TB, n, nb int) *Run {
	t.Helper()
	params := hpl.DefaultParams(n, 2, 3)
	params.NB = nb
	r := &Run{file: filepath.Join(t.TempDir(), "run.trace.zst")}
	f, err := os.Create(r.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(hpl.Generate(t.Context(), f, params, hpl.Options{}), f.Close()); err != nil {
		t.Fatal(err)
	}
	if r.Trace, err = r.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Trace.Close() })
	if r.Machine, r.Options, _, err = replay.LoadMachine(replay.MachineSpec{Platform: "dahu", RanksPerHost: 1}, r.Trace); err != nil {
		t.Fatal(err)
	}
	for _, host := range r.Machine.Hosts {
		r.Hosts = append(r.Hosts, r.Machine.Platform.Host(int(host)).Name)
	}
	return r
}

// Open opens the trace once more.
func (r *Run) Open() (*trace.Trace, error) { return trace.Open(r.file) }

// Play replays it, and tells an observer.
func (r *Run) Play(t testing.TB, observers ...replay.Observer) *replay.Result {
	t.Helper()
	o := r.Options
	o.Observers = observers
	res, err := replay.Run(t.Context(), r.Trace, r.Machine, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
