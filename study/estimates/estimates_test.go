package estimates_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/study/estimates"
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

// counted counts the windows that are played, or has them fail.
type counted struct {
	*estimates.Dir
	played *atomic.Int64
	fail   func() error
}

func (c counted) Window(from, to int, play func() (*replay.WindowTimes, error)) (*replay.WindowTimes, error) {
	return c.Dir.Window(from, to, func() (*replay.WindowTimes, error) {
		if c.fail != nil {
			return nil, c.fail()
		}
		c.played.Add(1)
		return play()
	})
}

// run is a trace of 513 steps of four ranks, which do not poll, and a machine.
type run struct {
	path    string
	machine replay.Machine
	options replay.Options
}

func newRun(t *testing.T) *run {
	t.Helper()
	p := hpl.DefaultParams(16384, 2, 2)
	p.NB, p.Bcast = 32, hpl.Long
	r := &run{path: filepath.Join(t.TempDir(), "run.trace.zst")}
	f, err := os.Create(r.path)
	noError(t, err)
	noError(t, errors.Join(hpl.Generate(t.Context(), f, p, hpl.Options{}), f.Close()))
	tr, err := r.open()
	noError(t, err)
	defer tr.Close()
	r.machine, r.options, _, err = replay.LoadMachine(replay.MachineSpec{Platform: "dahu"}, tr)
	noError(t, err)
	return r
}

func (r *run) open() (*trace.Trace, error) { return trace.Open(r.path) }

func (r *run) estimate(ctx context.Context, tolerance float64, s replay.Sharer) (*replay.Estimate, error) {
	return replay.Sample(ctx, r.open, r.machine, r.options, replay.SampleOptions{Tolerance: tolerance, Workers: 2, Share: s})
}

// same fails unless two estimates are the same bits.
func same(t *testing.T, got, want *replay.Estimate) {
	t.Helper()
	options := cmp.Options{cmpopts.IgnoreFields(replay.Estimate{}, "Header"), cmpopts.IgnoreUnexported(sampling.Window{}, sampling.Estimate{})}
	if diff := cmp.Diff(want, got, options); diff != "" {
		t.Error(diff)
	}
}

// TestShared: three processes make one estimate, that of one process alone, and play each window
// once. Then a fourth plays none, and one to within another tolerance only those that are new.
func TestShared(t *testing.T) {
	r := newRun(t)
	want, err := r.estimate(t.Context(), 0.03, nil)
	noError(t, err)
	path := filepath.Join(t.TempDir(), "shared")
	var played atomic.Int64
	var group sync.WaitGroup
	join := func(tolerance float64) *replay.Estimate {
		dir := estimates.New(path, time.Second)
		e, err := r.estimate(t.Context(), tolerance, counted{Dir: dir, played: &played})
		if err = errors.Join(err, dir.Leave()); err != nil {
			t.Error(err)
		}
		return e
	}
	var got [3]*replay.Estimate
	for i := range got {
		group.Go(func() { got[i] = join(0.03) })
	}
	group.Wait()
	for _, e := range got {
		same(t, e, want)
	}
	kept, err := os.ReadDir(filepath.Join(path, "windows"))
	noError(t, err)
	if n := int(played.Load()); n != len(kept) || n < len(want.Windows) {
		t.Errorf("%d windows played, %d kept, %d in the estimate", n, len(kept), len(want.Windows))
	}
	before := played.Load()
	if same(t, join(0.03), want); played.Load() != before {
		t.Error("an estimate that is there is made again")
	}
	join(0.1)
	if played.Load() != before {
		t.Error("a coarser estimate plays windows that are not among those of a finer one")
	}
	for _, sub := range []string{"workers", "leases"} {
		if left, err := os.ReadDir(filepath.Join(path, sub)); err != nil || len(left) > 0 {
			t.Errorf("%s: %v left, %v", sub, left, err)
		}
	}
}

// TestGivesBack: what a process could not play is free for the next.
func TestGivesBack(t *testing.T) {
	r := newRun(t)
	path := t.TempDir()
	broken := errors.New("broken")
	dir := estimates.New(path, time.Second)
	if _, err := r.estimate(t.Context(), 0.03, counted{Dir: dir, fail: func() error { return broken }}); !errors.Is(err, broken) {
		t.Error(err)
	}
	noError(t, dir.Leave())
	dir = estimates.New(path, time.Second)
	defer dir.Leave()
	if _, err := r.estimate(t.Context(), 0.03, dir); err != nil {
		t.Error(err)
	}
}

// TestRefuses: directories that are none of this run, and files that are damaged.
func TestRefuses(t *testing.T) {
	r := newRun(t)
	path := t.TempDir()
	begin := func(run ...replay.Property) error {
		dir := estimates.New(path, time.Second)
		return errors.Join(dir.Begin(run), dir.Leave())
	}
	noError(t, begin(replay.Property{Name: "seed", Value: "1"}, replay.Property{Name: "ranks", Value: "4"}))
	for want, run := range map[string][]replay.Property{
		"":                                {{Name: "ranks", Value: "4"}, {Name: "seed", Value: "1"}},
		"(seed is 1 there and 2 here)":    {{Name: "seed", Value: "2"}, {Name: "ranks", Value: "4"}},
		"ranks is 4 there and not set he": {{Name: "seed", Value: "1"}},
	} {
		if err := begin(run...); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	damaged := filepath.Join(path, "estimate.json")
	noError(t, os.WriteFile(damaged, []byte("{"), 0o666))
	if err := begin(); err == nil || !strings.HasPrefix(err.Error(), damaged+" is damaged") {
		t.Error(err)
	}
	path = t.TempDir()
	noError(t, os.WriteFile(filepath.Join(path, "plan.json"), nil, 0o666))
	if err := begin(); err == nil || !strings.Contains(err.Error(), "is the directory of a study") {
		t.Error(err)
	}
	late, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := r.estimate(late, 0.03, estimates.New(t.TempDir(), time.Second)); err == nil || !strings.Contains(err.Error(), "without a deadline") {
		t.Error(err)
	}
}
