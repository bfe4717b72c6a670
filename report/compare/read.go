package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/replay"
)

// mostBytes is how long a result may be; pages of long runs have some ten million.
const mostBytes = 1 << 28

// document is what is read of the JSON of a result, of any kind.
type document struct {
	Format        int               `json:"format"` // 0: of no number, read as 1
	Tool          string            `json:"tool"`
	Trace         string            `json:"trace"`
	Platform      string            `json:"platform"`
	Kernels       string            `json:"kernels"`
	NetworkNoise  string            `json:"network_noise"`
	HostSpeeds    []string          `json:"host_speed"`
	ComputeScale  float64           `json:"compute_scale"`
	FileBandwidth float64           `json:"file_bandwidth"`
	ComputeNoise  bool              `json:"compute_noise"`
	Changes       []string          `json:"machine_changes"`
	Program       string            `json:"program"`
	Parameters    map[string]string `json:"parameters"`

	Complete  *bool    `json:"complete"`
	First     int      `json:"first_step"`
	Last      int      `json:"last_step"`
	StoppedAt *float64 `json:"stopped_at_s"`
	Seed      *uint64  `json:"seed"`

	Makespan json.RawMessage `json:"makespan_s"` // a number, or a summary
	Gflops   json.RawMessage `json:"gflops"`

	Estimate       bool    `json:"estimate"`
	Interval       float64 `json:"interval_s"`
	GflopsInterval float64 `json:"gflops_interval"`

	Runs  []replay.SeedResult `json:"runs"`
	Draws []replay.SeedResult `json:"draws"`
	Names replay.PartNames    `json:"time_names"`

	Kinds       []share `json:"time_by_kind"`
	Phases      []share `json:"time_by_phase"`
	KernelTimes []share `json:"time_by_kernel"`
}

// share is the time of a part, in seconds.
type share struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean_s"`
	Interval float64 `json:"interval_s"` // half-width of 95 %, of an estimate
}

// Read reads a result: what replay --json prints, or a page of replay --report. Errors name the
// file.
func Read(name string, r io.Reader) (*Result, error) {
	head := sniff.Remember(r)
	res, err := read(head)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, textutil.Brief(err))
		if errors.Is(err, errKind) {
			err = head.Instead(err, name, sniff.Result)
		}
		return nil, err
	}
	res.File = name
	return res, nil
}

func read(r *sniff.Head) (*Result, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > mostBytes:
		return nil, fmt.Errorf("longer than %d MB, no result is", mostBytes>>20)
	case isPage(text):
		return readPage(text)
	}
	return decode(text)
}

// errKind is the error of what is no result.
var errKind = errors.New("want what replay --json prints, or a page of replay --report")

// limits are of the JSON of a result: objects are ranks, runs, and parts of their time, and no name or
// command line is longer than the string.
var limits = textutil.JSONLimits{Objects: 1 << 21, Values: 1 << 24, String: 1 << 20}

// decode reads the JSON of a result.
func decode(text []byte) (*Result, error) {
	var d document
	if err := limits.Check(text); err != nil {
		return nil, fmt.Errorf("no result is so large: %w", err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errKind, err)
	}
	if err := checkKeys(text); err != nil {
		return nil, err
	}
	switch {
	case d.Format < 0:
		return nil, fmt.Errorf("format %d, want 1 to %d", d.Format, replay.ResultFormat)
	case d.Format > replay.ResultFormat:
		return nil, fmt.Errorf("a result of format %d, newer than %d, which this version reads: compare with the version that wrote it, or replay again", d.Format, replay.ResultFormat)
	case len(bytes.TrimSpace(d.Makespan)) == 0:
		return nil, fmt.Errorf("%w: it has no makespan_s", errKind)
	case d.StoppedAt != nil:
		return nil, fmt.Errorf("the replay was stopped at %.9g s: it has no result to compare", *d.StoppedAt)
	}
	res := &Result{
		Made: Made{d.Tool, d.Trace, d.Platform, d.Kernels, d.NetworkNoise, d.HostSpeeds, d.ComputeScale, d.FileBandwidth,
			d.ComputeNoise, d.Changes, d.Program, d.Parameters},
		Complete: d.Complete == nil || *d.Complete, First: d.First, Last: d.Last,
	}
	return res, d.fill(res)
}

// fill reads the figures.
func (d *document) fill(r *Result) error {
	switch {
	case d.Runs != nil:
		r.Kind = Runs
		return r.addSeeds(d.Runs, &d.Names, meanOf)
	case d.Draws != nil:
		r.Kind = Uncertainty
		return d.fillDraws(r)
	}
	return d.fillOne(r)
}

// fillOne reads the figures of one replay or estimate.
func (d *document) fillOne(r *Result) error {
	var makespan, gflops float64
	if err := json.Unmarshal(d.Makespan, &makespan); err != nil {
		return fmt.Errorf("%w: makespan_s: %w", errKind, err)
	}
	if len(d.Gflops) > 0 {
		if err := json.Unmarshal(d.Gflops, &gflops); err != nil {
			return fmt.Errorf("%w: gflops: %w", errKind, err)
		}
	}
	if makespan == 0 {
		return errors.New("its makespan_s is 0: there is nothing to compare")
	}
	if err := cmp.Or(plausible("makespan_s", makespan), plausible("gflops", gflops),
		plausible("interval_s", d.Interval), plausible("gflops_interval", d.GflopsInterval)); err != nil {
		return err
	}
	r.makespan, r.gflops = exact(makespan), exact(gflops)
	if d.Seed != nil {
		r.Seeds = []uint64{*d.Seed}
	}
	switch {
	case d.Estimate:
		r.Kind, r.makespan, r.gflops = Estimate, estimated(makespan, d.Interval), estimated(gflops, d.GflopsInterval)
	case d.Seed != nil:
		r.Kind, r.makespan.unsure, r.gflops.unsure = Draw, true, true
	default:
		r.Kind = Exact
	}
	for i, shares := range [][]share{d.Kinds, d.Phases, d.KernelTimes} {
		if err := r.addShares(by[i], shares); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) addShares(by string, shares []share) error {
	if len(shares) == 0 {
		return nil
	}
	g := group{by: by}
	for _, s := range shares {
		if err := cmp.Or(plausible("mean_s", s.Mean), plausible("interval_s", s.Interval)); err != nil {
			return fmt.Errorf("time by %s: %s: %w", by, textutil.Quote(s.Name), err)
		}
		f := exact(s.Mean)
		if r.Kind == Estimate {
			f = estimated(s.Mean, s.Interval)
		}
		f.unsure = r.Kind == Draw
		g.parts = append(g.parts, part{s.Name, f})
	}
	r.parts = append(r.parts, g)
	return nil
}

// fillDraws reads the figures of --uncertainty: those of one more run.
func (d *document) fillDraws(r *Result) error {
	var makespan, gflops struct{ SD float64 }
	if err := errors.Join(json.Unmarshal(d.Makespan, &makespan), json.Unmarshal(d.Gflops, &gflops)); err != nil {
		return fmt.Errorf("%w: %w", errKind, err)
	}
	if err := cmp.Or(plausible("sd of makespan_s", makespan.SD), plausible("sd of gflops", gflops.SD)); err != nil {
		return err
	}
	next := func(values []float64) figure { return nextOf(values, 0) }
	if err := r.addSeeds(d.Draws, &d.Names, next); err != nil {
		return err
	}
	r.makespan, r.gflops = withDeviation(&r.makespan, makespan.SD), withDeviation(&r.gflops, gflops.SD)
	return nil
}

// withDeviation is the figure of draws with the deviation that the file states of one: it holds
// what draws that are estimates do not show.
func withDeviation(f *figure, sd float64) figure {
	_, shown := moments(f.values)
	return nextOf(f.values, max(0, float64(sd*sd)-shown))
}

// addSeeds adds the figures of several seeds.
func (r *Result) addSeeds(list []replay.SeedResult, names *replay.PartNames, of func([]float64) figure) error {
	if len(list) < 2 {
		return fmt.Errorf("%s, want at least 2", textutil.Count(len(list), "run"))
	}
	var makespans, gflops []float64
	seen := map[uint64]bool{}
	for _, s := range list {
		if seen[s.Seed] {
			return fmt.Errorf("seed %d twice: runs of one seed are one run", s.Seed)
		}
		seen[s.Seed] = true
		if s.Makespan == 0 {
			return fmt.Errorf("seed %d: its makespan_s is 0: there is nothing to compare", s.Seed)
		}
		if err := cmp.Or(plausible("makespan_s", s.Makespan), plausible("gflops", s.Gflops)); err != nil {
			return fmt.Errorf("seed %d: %w", s.Seed, err)
		}
		r.Seeds = append(r.Seeds, s.Seed)
		makespans, gflops = append(makespans, s.Makespan), append(gflops, s.Gflops)
	}
	r.makespan, r.gflops = of(makespans), of(gflops)
	for i, names := range [][]string{names.Kinds, names.Phases, names.Kernels} {
		values := func(t *replay.PartTimes) []float64 { return [][]float64{t.Kinds, t.Phases, t.Kernels}[i] }
		if err := r.addTimes(by[i], names, list, values, of); err != nil {
			return err
		}
	}
	return nil
}

// addTimes adds the times of parts, if all seeds have them.
func (r *Result) addTimes(by string, names []string, list []replay.SeedResult, values func(*replay.PartTimes) []float64,
	of func([]float64) figure) error {
	if len(names) == 0 {
		return nil
	}
	columns := make([][]float64, len(names))
	for _, s := range list {
		if s.Times == nil {
			return nil
		}
		row := values(s.Times)
		if len(row) != len(names) {
			return fmt.Errorf("seed %d: times of %d of %d parts by %s", s.Seed, len(row), len(names), by)
		}
		for i, v := range row {
			if err := plausible(textutil.Quote(names[i]), v); err != nil {
				return fmt.Errorf("seed %d: time by %s: %w", s.Seed, by, err)
			}
			columns[i] = append(columns[i], v)
		}
	}
	g := group{by: by}
	for i, name := range names {
		g.parts = append(g.parts, part{name, of(columns[i])})
	}
	r.parts = append(r.parts, g)
	return nil
}

// mostSeconds is more than any run takes, and as Gflops more than any machine has.
const mostSeconds = 1e18

// plausible refuses a number that no result has.
func plausible(name string, v float64) error {
	if v < 0 || v > mostSeconds {
		return fmt.Errorf("%s: %v, want a number from 0 to %g", name, v, mostSeconds)
	}
	return nil
}
