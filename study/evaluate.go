package study

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/programs"
)

// This file makes one run: Evaluator.Evaluate, and CachedEvaluator.Evaluate with results of earlier runs.

const (
	// Bounds of what an evaluator keeps: bytes of traces, and parts of machines.
	// Runs that differ only in the machine, the seed or the tolerance share a trace.
	mostTraces = 128 << 20
	mostParts  = 128

	// worthSaving is how long a replay takes at least whose state is saved when its context ends.
	// Saving can take seconds.
	worthSaving = 10 * time.Second

	// checkpointEvery is how often a replay with checkpoints pauses beside the end of its context: in effect never.
	checkpointEvery = 365 * 24 * time.Hour
)

// Outcome is the result of a run.
type Outcome struct {
	Makespan       float64 `json:"makespan_s"`
	Interval       float64 `json:"interval_s"` // half-width, with 95 % confidence; 0: it is exact
	Gflops         float64 `json:"gflops"`     // 0: not known, as first steps solve no system
	GflopsInterval float64 `json:"gflops_interval"`
	Efficiency     float64 `json:"efficiency"` // share of the peak rate of the cores; 0: not known
	Messages       int64   `json:"messages"`   // that were simulated
	// Energy has joules of hosts and of links, the mean power and Gflops/W, as far as they are known.
	Energy []Part `json:"energy,omitempty"`
	Kinds  []Part `json:"time_by_kind"`
	Phases []Part `json:"time_by_phase"`
	// Path are the parts of the critical path, whose seconds add up to the makespan, the longest
	// first; nil if the study did not ask for them.
	Path []Part `json:"critical_path,omitempty"`
	// POP are POP's efficiencies; nil if the study did not ask for them.
	POP *Efficiencies `json:"pop,omitempty"`

	Random   bool     `json:"random"` // another seed has another result
	Warnings []string `json:"warnings,omitempty"`
}

// Part is time that the mean rank, or the critical path, spends on something.
type Part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"mean_s"`
}

// Efficiencies are POP's ([pop.Data]): parallel is the product of the others.
type Efficiencies struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Serialisation float64 `json:"serialisation"`
	Wire          float64 `json:"wire"`
	Contention    float64 `json:"contention"`
}

// Parts returns the efficiencies as parts of a table; they are no seconds.
func (e *Efficiencies) Parts() []Part {
	if e == nil {
		return nil
	}
	return []Part{{"parallel", e.Parallel}, {"load balance", e.LoadBalance}, {"serialisation", e.Serialisation},
		{"wire", e.Wire}, {"contention", e.Contention}}
}

// Evaluator makes runs, and keeps what several of them need: traces, platforms, kernel models. It
// may be used by several goroutines.
//
// An evaluator of a process is the only place where traces and machines are kept in memory: a study of 10,000 rows on
// one machine parses its platform once, and rows that differ in the seed alone replay the same bytes.
type Evaluator struct {
	plan        *Plan
	traces      cache[[]byte]       // by the identity of a run, weighed in bytes
	machines    cache[replay.Parts] // of each one part
	worthSaving time.Duration
}

// NewEvaluator returns an evaluator of the configurations of a plan.
func (p *Plan) NewEvaluator() *Evaluator {
	return &Evaluator{p, cache[[]byte]{limit: mostTraces}, cache[replay.Parts]{limit: mostParts}, worthSaving}
}

// RunOptions say how a configuration is run.
type RunOptions struct {
	Tolerance float64 // half-width of the interval, relative; 0: exact
	Seed      uint64
	// Checkpoint is a file in which the state of an exact replay is kept if the context ends, and
	// from which it resumes; "": none.
	Checkpoint string
	Responses  Responses // with any of them there is no checkpoint
}

// Evaluate makes a run. With the same seed the random numbers of two configurations are the same,
// as far as ranks and steps are: their difference has less noise than either.
func (e *Evaluator) Evaluate(asked context.Context, c *Config, o RunOptions) (_ *Outcome, err error) {
	defer textutil.Stopped(&err)
	// The replay's context ends with the caller's but has no deadline: an estimate would be as
	// good as the time allows, and differ from one at another time.
	// The deadline of a worker still ends the replay, by AfterFunc: the estimate then fails, and is
	// not cut short.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(asked))
	defer cancel(nil)
	defer context.AfterFunc(asked, func() { cancel(context.Cause(asked)) })()

	// The trace and the machine, from the caches.
	// Each replay of one run, and each window of an estimate, reads the trace by a reader of its
	// own.
	open := textutil.Must(e.traceOf(ctx, c.Run))
	t := textutil.Must(open())
	defer t.Close()
	m, ro, odd, err := e.load(c.Machine, t)
	textutil.Check(err)
	ro.Seed = o.Seed

	// An estimate, if one is wanted. It has one goroutine: a worker makes as many runs at once as
	// there are cores. ErrExact reports that an exact replay costs no more.
	var out *Outcome
	if o.Tolerance > 0 {
		so := replay.SampleOptions{Tolerance: o.Tolerance, Workers: 1}
		var windows *path.Windows // each window has a critical path of its own
		if o.Responses.CriticalPath {
			// The parts of the windows are weighed as the estimate weighs its windows, so that they
			// add up to the estimated makespan.
			windows = path.NewWindows(t.Header(), m, ro)
			so.Observe = windows.Observe
		}
		est, err := replay.Sample(ctx, open, m, ro, so)
		switch {
		case err == nil:
			out = &Outcome{Makespan: est.Seconds, Interval: est.Interval, Gflops: est.Gflops,
				GflopsInterval: est.GflopsInterval, Messages: est.Messages, Random: est.Seed != nil}
			part := func(s replay.EstimatedShare) Part { return Part{s.Name, s.Mean} }
			out.Kinds, out.Phases = mapped(est.Kinds, part), mapped(est.Phases, part)
			out.Energy = energyParts(est.Energy)
			if windows != nil {
				out.Path = pathParts(windows.Data(est))
			}
		case !errors.Is(err, sampling.ErrExact):
			return nil, err
		}
	}

	// Otherwise the exact replay, from its checkpoint if there is one, with the responses that the study asks for.
	if out == nil {
		var p *path.Path
		if o.Responses.CriticalPath {
			// The observer sees every event of the replay and changes none: the makespan has the
			// same bits as without it.
			p = path.New(t.Header(), m, ro)
			ro.Observers = []replay.Observer{p.Observer()}
		}
		if o.Checkpoint != "" && o.Responses == (Responses{}) {
			resumed := textutil.Must(e.checkpoint(ctx, &ro, o.Checkpoint))
			if resumed != nil {
				defer resumed.Close()
			}
		}
		res := textutil.Must(replay.Run(ctx, t, m, ro))
		out = &Outcome{Makespan: res.Makespan, Gflops: res.Gflops, Messages: res.Messages, Random: res.Seed != nil}
		part := func(s replay.Share) Part { return Part{s.Name, s.Mean} }
		out.Kinds, out.Phases = mapped(res.Kinds, part), mapped(res.Phases, part)
		out.Energy = energyParts(res.Energy)
		out.Warnings = mapped(res.Warnings, warning.Warning.String)
		if p != nil {
			out.Path = pathParts(p.Data())
		}
		if o.Responses.POP {
			// Two further replays, on changed machines, of which the efficiencies are quotients.
			d, err := pop.Of(ctx, res, m, ro,
				func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
					again, err := open()
					if err != nil {
						return nil, err
					}
					defer again.Close()
					return replay.Run(ctx, again, m, o)
				})
			textutil.Check(err)
			out.POP = &Efficiencies{d.Parallel, d.LoadBalance, d.Serialisation, d.Wire, d.Contention}
		}
	}
	if out.Makespan <= 0 {
		return nil, errors.New("the makespan is 0 s: by its kernel models and its platform nothing takes time")
	}
	// The efficiency is that of the command replay: 0 where the nominal speed of the hosts is
	// plainly not their peak rate.
	_, out.Efficiency = m.Efficiency(out.Gflops)
	// Notes on defaults are of one machine: each row would repeat them.
	for _, w := range odd {
		if w.Kind != warning.Choice {
			out.Warnings = append(out.Warnings, w.String())
		}
	}
	return out, nil
}

// checkpoint has a replay resume from a file, which it returns, if there is one, and save its
// state there at the end of its context. A short replay is not saved unless it was resumed.
func (e *Evaluator) checkpoint(ctx context.Context, o *replay.Options, file string) (resumed *os.File, err error) {
	// A checkpoint names the run, which names all that it depends on, so another run refuses it.
	o.Identity = []replay.Property{{Name: "run", Value: filepath.Base(file)},
		{Name: "version of Reprise", Value: e.plan.Version}}
	// A replay calls Write at its begin, when nothing is worth saving, and then once more when its context has ended.
	var begun time.Time
	o.Checkpoints = &replay.Checkpoints{Every: checkpointEvery, Write: func(p *replay.Pause) error {
		if ctx.Err() == nil { // the first call, at the begin
			if begun.IsZero() {
				begun = time.Now()
			}
			return nil
		}
		if resumed == nil && time.Since(begun) < e.worthSaving {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		return atomicfile.Replace(file, func(w io.Writer) error { return p.Save(w, 0) })
	}}
	// Resume from the state that another worker, or this one before, has left.
	f, err := regular.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	o.Resume = &replay.Checkpoint{File: f, Size: info.Size(), Name: file}
	return f, nil
}

// pathParts adds up the parts of a critical path that have one name, whatever phase or level of
// links they are of: kernels, overheads, polls, and the latency, wire and contention of messages.
func pathParts(d *path.Data) []Part {
	parts := []Part{}
	for _, of := range d.Parts {
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == of.Name })
		if i < 0 {
			i = len(parts)
			parts = append(parts, Part{Name: of.Name})
		}
		parts[i].Seconds += of.Seconds
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return parts
}

// traceOf returns a function that opens the trace of a configuration, for a goroutine each time.
func (e *Evaluator) traceOf(ctx context.Context, run *programs.Run) (func() (*trace.Trace, error), error) {
	text, err := e.traces.get(fmt.Sprint(run.Identity()), func() ([]byte, int, error) {
		text, err := run.Trace(ctx, "study "+e.plan.Version)
		return text, len(text), err
	})
	return func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(text), int64(len(text)), e.plan.program.Title)
	}, err
}

// load loads a machine for a trace, or for the outline of one, with the options that its platform and its settings ask
// for. Its parts are those of the plan's inputs; a built-in platform may depend on the number of ranks.
func (e *Evaluator) load(spec replay.MachineSpec,
	t replay.Traced) (replay.Machine, replay.Options, []warning.Warning, error) {
	ranks := t.Header().Ranks
	for _, in := range inputsOf(&spec) {
		// The number of ranks is part of the key: a built-in platform is as large as its ranks need.
		part, err := e.machines.get(fmt.Sprint(in.Word, in.Name, ranks), func() (p replay.Parts, weight int, err error) {
			found := e.plan.input(in.Word, in.Name)
			text, err := e.plan.textOf(found)
			switch {
			case err != nil:
			case in.Word == "kernels":
				p.Kernels, err = kernels.Parse(bytes.NewReader(text), in.Name)
			case in.Word == "network-noise":
				p.NetworkNoise, err = netmodel.ParseNoise(bytes.NewReader(text), in.Name)
			case in.Word == "hostfile":
				p.Hostfile = text
			case found.File == "":
				p.Platform, err = platforms.Builtin(in.Name, ranks)
			default:
				p.Platform, err = platforms.ParseAlone(bytes.NewReader(text), in.Name)
			}
			return p, 1, err
		})
		if err != nil {
			return replay.Machine{}, replay.Options{}, nil, err
		}
		of := &spec.Loaded
		of.Platform = cmp.Or(part.Platform, of.Platform)
		of.Kernels = cmp.Or(part.Kernels, of.Kernels)
		of.NetworkNoise = cmp.Or(part.NetworkNoise, of.NetworkNoise)
		if part.Hostfile != nil {
			of.Hostfile = part.Hostfile
		}
	}
	return replay.LoadMachine(spec, t)
}

// CachedEvaluator is an evaluator that keeps results, in the journals of a directory if it has
// one, and makes no run twice. It may be used by several goroutines, for different runs.
type CachedEvaluator struct {
	evaluator *Evaluator
	journal   *journal // nil: no directory
	results   *Results
}

// NewCachedEvaluator returns an evaluator of the configurations of a plan with the results of a
// directory, which is made if need be; "": there is none.
func (p *Plan) NewCachedEvaluator(dir string) (_ *CachedEvaluator, err error) {
	defer textutil.Stopped(&err)
	e := &CachedEvaluator{evaluator: p.NewEvaluator(), results: NewResults(dir)}
	if dir == "" {
		return e, nil
	}
	textutil.Check(atomicfile.MakeDir(dir))
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); err == nil {
		return nil, fmt.Errorf("%s is the directory of a study: take another one", dir)
	}
	textutil.Check(e.results.Update())
	e.journal, err = newJournal(dir, fmt.Sprintf("%d-%d", time.Now().UnixNano(), os.Getpid()))
	return e, err
}

// Evaluate returns the outcome of a run, and whether the directory had it from before. A new one is written to the
// journal. Runs are named as if the plan had the options' tolerance and responses.
func (e *CachedEvaluator) Evaluate(ctx context.Context, c *Config, o RunOptions) (out *Outcome, known bool, err error) {
	// The name of a run has tolerance and responses from the plan: a copy of it has those of the options. The evaluator
	// of a search is asked for runs that are in no plan, of other tolerances and seeds; their names follow the same
	// rules, so that a later search of the same directory finds them.
	p := *e.evaluator.plan
	p.Tolerance, p.Responses = o.Tolerance, o.Responses
	id := p.id(c, &Run{Seed: o.Seed, Noise: true})
	if old := e.results.Of(id); old != nil && old.Outcome != nil {
		return old.Outcome, true, nil
	}
	begin := time.Now()
	if out, err = e.evaluator.Evaluate(ctx, c, o); err != nil || e.journal == nil {
		return out, false, err
	}
	return out, false, e.journal.add(&Entry{Run: id, Outcome: out, Wall: time.Since(begin).Seconds()})
}

// cache keeps the values that were used last, to about a limit of their weights together, in two generations: when the
// young one has half of the limit it becomes the old one, and the old one is dropped.
type cache[V any] struct {
	limit      int
	mu         sync.Mutex
	young, old map[string]*cached[V]
	weight     int // of the young ones
}

// cached is a value, or one that is being made.
type cached[V any] struct {
	once    sync.Once
	value   V
	weight  int
	err     error
	counted bool
}

// get returns the value of a key, which make makes with its weight, once for all goroutines that
// ask for it. An error is forgotten: the context of the caller may have ended.
func (c *cache[V]) get(key string, make func() (v V, weight int, err error)) (V, error) {
	c.mu.Lock()
	// A value of the old generation that is used moves into the young one. While it is made, others wait
	// in once.Do, without holding the lock of the cache.
	// The map holds the value from before it is made on: a second goroutine with the same key finds
	// it.
	e := cmp.Or(c.young[key], c.old[key])
	if e == nil {
		e = &cached[V]{}
	}
	if c.young == nil {
		c.young = map[string]*cached[V]{}
	}
	c.young[key] = e
	c.mu.Unlock()
	e.once.Do(func() { e.value, e.weight, e.err = make() })
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.err != nil:
		delete(c.young, key)
	case !e.counted:
		e.counted = true
		// The weight is known only now. The generations change when the young one is full, so at
		// most the limit is kept, and one value that is larger than it.
		if c.weight += e.weight; c.weight > c.limit/2 {
			c.old, c.young, c.weight = c.young, nil, 0
		}
	}
	return e.value, e.err
}

// energyParts returns an energy as parts of a table; they are no seconds.
func energyParts(e *replay.Energy) (parts []Part) {
	if e == nil {
		return nil
	}
	if e.Joules != nil {
		parts = append(parts, Part{"energy_j", *e.Joules})
	}
	if e.LinkJoules != nil {
		parts = append(parts, Part{"link_energy_j", *e.LinkJoules})
	}
	parts = append(parts, Part{"mean_watts", e.MeanWatts})
	if e.GflopsPerWatt > 0 {
		parts = append(parts, Part{"gflops_per_watt", e.GflopsPerWatt})
	}
	return parts
}
