package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report"
)

// This file reads the results that are compared: Read.

// Kind is a kind of results.
type Kind string

// Kinds of results, by how they were made.
const (
	Exact       Kind = "replay"      // one, without noise
	Draw        Kind = "draw"        // one, of a seed
	Runs        Kind = "runs"        // several seeds
	Estimate    Kind = "estimate"    // from windows of steps
	Uncertainty Kind = "uncertainty" // replays of drawn machines
)

// Result is what a file says of a prediction.
type Result struct {
	File string
	Kind Kind
	Made replay.Provenance
	// What was played: all of a program, or some steps.
	Complete    bool
	First, Last int
	Seeds       []uint64 // of Draw, Runs and Uncertainty, and of an Estimate with noise

	// Page is all that the page has which the result is from; nil: it is from none.
	Page *report.Data

	makespan Figure          // seconds
	gflops   Figure          // 0: the program has no rate
	parts    [len(by)][]part // in the order of by, each in that of the file, which tables keep; nil: there are none
}

// part is the time of a kind, a phase or a kernel, in seconds of the mean rank.
type part struct {
	name string
	Figure
}

// by is what the times of parts are sorted by, in the order of tables.
var by = [4]string{"kind", "phase", "kernel", "device"}

// tellsParts reports whether a result says where the time went.
func (r *Result) tellsParts() bool { return len(slices.Concat(r.parts[:]...)) > 0 }

// what names a result in a few words.
func (r *Result) what() string {
	switch r.Kind {
	case Exact:
		return "a replay"
	case Draw:
		return fmt.Sprintf("a replay with noise of seed %d", r.Seeds[0])
	case Runs:
		return fmt.Sprintf("%d runs, %s", len(r.Seeds), seedText(r.Seeds))
	case Uncertainty:
		return fmt.Sprintf("%d draws of machines, %s", len(r.Seeds), seedText(r.Seeds))
	}
	if len(r.Seeds) > 0 {
		return fmt.Sprintf("an estimate, noise of seed %d", r.Seeds[0])
	}
	return "an estimate"
}

// seedText names seeds, which mostly follow one another.
func seedText(seeds []uint64) string {
	// Seeds of --runs are consecutive; a script may have kept some of them.
	first, last := seeds[0], seeds[len(seeds)-1]
	for i, s := range seeds {
		if s != first+uint64(i) {
			return fmt.Sprintf("seeds between %d and %d", slices.Min(seeds), slices.Max(seeds))
		}
	}
	return fmt.Sprintf("seeds %d to %d", first, last)
}

// mostBytes is how long a result may be; pages of long runs have some ten million.
const mostBytes = 1 << 28

// document is what is read of the JSON of a result, of any kind. Keys that are missing are 0 or empty: results of other
// programs need no more than a makespan.
type document struct {
	replay.Provenance // its Format is 0 where the result has no number, and read as 1

	// What the replay itself took is of no interest: a result of another program may have anything there.
	Wall   json.RawMessage `json:"wall_s"`
	Memory json.RawMessage `json:"peak_rss_bytes"`

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

	// Of other results than estimates the intervals are missing, and so 0.
	Kinds       []replay.EstimatedShare `json:"time_by_kind"`
	Phases      []replay.EstimatedShare `json:"time_by_phase"`
	KernelTimes []replay.EstimatedShare `json:"time_by_kernel"`
	States      []replay.EstimatedShare `json:"device_by_state"`
	Devices     []replay.EstimatedShare `json:"device_time"`
}

// Read reads a result: what replay --json prints, or a page of replay --report. Errors name the file.
func Read(name string, r io.Reader) (*Result, error) {
	// Of what is no result the beginning is remembered, to name the format that it is instead.
	head := sniff.Remember(r)
	text, err := io.ReadAll(io.LimitReader(head, mostBytes+1))
	var res *Result
	switch {
	case err != nil:
	case len(text) > mostBytes:
		err = fmt.Errorf("longer than %d MB, no result is", mostBytes>>20)
	case bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")): // a page, and no JSON
		res, err = readPage(text)
	default:
		res, err = decode(text)
	}
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

// readPage reads the result in a page of one run.
func readPage(text []byte) (*Result, error) {
	runs, err := report.Read(bytes.NewReader(text))
	switch {
	case errors.Is(err, report.ErrNoReport):
		return nil, fmt.Errorf("%w: %w", errKind, err)
	case err != nil:
		return nil, err
	case len(runs) != 1:
		return nil, fmt.Errorf("a page of %d runs: compare pages of one", len(runs))
	}
	r, err := decode(runs[0].Result)
	if err != nil {
		return nil, err
	}
	r.Page = runs[0]
	return r, nil
}

// errKind is the error of what is no result. Read then looks which format the file is of, and names that.
var errKind = errors.New("want what replay --json prints, or a page of replay --report")

// limits are of the JSON of a result: objects are ranks, runs, and parts of their time, and no name or
// command line is longer than the string.
var limits = textutil.JSONLimits{Objects: 1 << 21, Values: 1 << 24, String: 1 << 20}

// decode reads the JSON of a result: its limits and keys are checked before it is believed, as pages and files come
// from anywhere, then its format, then the figures by the kind of the result.
func decode(text []byte) (_ *Result, err error) {
	defer textutil.Stopped(&err)
	var d document
	if err := limits.Check(text); err != nil {
		return nil, fmt.Errorf("no result is so large: %w", err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errKind, err)
	}
	checkValue(json.NewDecoder(bytes.NewReader(text)), "")
	switch {
	case d.Format < 0:
		return nil, fmt.Errorf("format %d, want 1 to %d", d.Format, replay.ResultFormat)
	case d.Format > replay.ResultFormat:
		return nil, fmt.Errorf("a result of format %d, newer than %d, which this version reads: "+
			"compare with the version that wrote it, or replay again", d.Format, replay.ResultFormat)
	case len(bytes.TrimSpace(d.Makespan)) == 0:
		return nil, fmt.Errorf("%w: it has no makespan_s", errKind)
	case d.StoppedAt != nil:
		return nil, fmt.Errorf("the replay was stopped at %.9g s: it has no result to compare", *d.StoppedAt)
	}
	res := &Result{Made: d.Provenance, Complete: d.Complete == nil || *d.Complete, First: d.First, Last: d.Last}
	if d.Runs != nil {
		res.Kind = Runs
		return res, res.addSeeds(d.Runs, &d.Names, MeanFigure)
	}

	// Of --uncertainty the figures are those of one more run on a drawn machine.
	if d.Draws != nil {
		res.Kind = Uncertainty
		var makespan, gflops struct{ SD float64 }
		if err := errors.Join(json.Unmarshal(d.Makespan, &makespan), json.Unmarshal(d.Gflops, &gflops)); err != nil {
			return nil, fmt.Errorf("%w: %w", errKind, err)
		}
		textutil.Check(cmp.Or(plausible("sd of makespan_s", makespan.SD), plausible("sd of gflops", gflops.SD)))
		next := func(values []float64) Figure { return nextOf(values, 0) }
		textutil.Check(res.addSeeds(d.Draws, &d.Names, next))
		// The deviation of one draw that the file states holds what draws that are estimates do not show.
		for f, sd := range map[*Figure]float64{&res.makespan: makespan.SD, &res.gflops: gflops.SD} {
			_, shown := moments(f.values)
			*f = nextOf(f.values, max(0, float64(sd*sd)-shown))
		}
		return res, nil
	}

	// One replay, or an estimate.
	var makespan, gflops float64
	if err := json.Unmarshal(d.Makespan, &makespan); err != nil {
		return nil, fmt.Errorf("%w: makespan_s: %w", errKind, err)
	}
	if len(d.Gflops) > 0 {
		if err := json.Unmarshal(d.Gflops, &gflops); err != nil {
			return nil, fmt.Errorf("%w: gflops: %w", errKind, err)
		}
	}
	if makespan == 0 {
		return nil, errors.New("its makespan_s is 0: there is nothing to compare")
	}
	textutil.Check(cmp.Or(plausible("makespan_s", makespan), plausible("gflops", gflops),
		plausible("interval_s", d.Interval), plausible("gflops_interval", d.GflopsInterval)))
	res.makespan, res.gflops = ExactFigure(makespan), ExactFigure(gflops)
	if d.Seed != nil {
		res.Seeds = []uint64{*d.Seed}
	}
	switch {
	case d.Estimate:
		res.Kind, res.makespan = Estimate, EstimatedFigure(makespan, d.Interval)
		res.gflops = EstimatedFigure(gflops, d.GflopsInterval)
	case d.Seed != nil:
		res.Kind, res.makespan.unsure, res.gflops.unsure = Draw, true, true
	default:
		res.Kind = Exact
	}
	for i, shares := range [][]replay.EstimatedShare{d.Kinds, d.Phases, d.KernelTimes, append(d.States, d.Devices...)} {
		for _, s := range shares {
			if err := cmp.Or(plausible("mean_s", s.Mean), plausible("interval_s", s.Interval)); err != nil {
				return nil, fmt.Errorf("time by %s: %s: %w", by[i], textutil.Quote(s.Name), err)
			}
			f := ExactFigure(s.Mean)
			if res.Kind == Estimate {
				f = EstimatedFigure(s.Mean, s.Interval)
			}
			f.unsure = res.Kind == Draw
			res.parts[i] = append(res.parts[i], part{s.Name, f})
		}
	}
	return res, nil
}

// addSeeds adds the figures of several seeds, of which of makes one of the values of all. Summaries in the file are not
// read: results from which a script has taken some seeds, or which it has put together, are as good.
func (r *Result) addSeeds(list []replay.SeedResult, names *replay.PartNames, of func([]float64) Figure) error {
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
	// Times of parts, if all seeds have them: a mean over some of the seeds would be of other runs than the makespan.
	// Columns are parts, rows are seeds.
	for i, names := range [][]string{names.Kinds, names.Phases, names.Kernels} {
		if len(names) == 0 || slices.ContainsFunc(list, func(s replay.SeedResult) bool { return s.Times == nil }) {
			continue
		}
		columns := make([][]float64, len(names))
		for _, s := range list {
			row := [][]float64{s.Times.Kinds, s.Times.Phases, s.Times.Kernels}[i]
			if len(row) != len(names) {
				return fmt.Errorf("seed %d: times of %d of %d parts by %s", s.Seed, len(row), len(names), by[i])
			}
			for k, v := range row {
				if err := plausible(textutil.Quote(names[k]), v); err != nil {
					return fmt.Errorf("seed %d: time by %s: %w", s.Seed, by[i], err)
				}
				columns[k] = append(columns[k], v)
			}
		}
		for k, name := range names {
			r.parts[i] = append(r.parts[i], part{name, of(columns[k])})
		}
	}
	return nil
}

// mostSeconds is more than any run takes, and as Gflops more than any machine has.
const mostSeconds = 1e18

// plausible refuses a number that no result has. NaN and infinity are no JSON, and the bound keeps sums and squares of
// what is accepted finite.
func plausible(name string, v float64) error {
	if v < 0 || v > mostSeconds {
		return fmt.Errorf("%s: %v, want a number from 0 to %g", name, v, mostSeconds)
	}
	return nil
}

// keys are those that are read, by the key of the object that has them; "": the whole. Objects in lists have the key of
// the list.
var keys = map[string][]string{
	"": keysOf(document{}), "makespan_s": keysOf(replay.Summary{}), "gflops": keysOf(replay.Summary{}),
	"runs": keysOf(replay.SeedResult{}), "draws": keysOf(replay.SeedResult{}),
	"time_s": keysOf(replay.PartTimes{}), "time_names": keysOf(replay.PartNames{}),
	"time_by_kind": keysOf(replay.EstimatedShare{}), "time_by_phase": keysOf(replay.EstimatedShare{}), "time_by_kernel": keysOf(replay.EstimatedShare{}),
	"device_by_state": keysOf(replay.EstimatedShare{}), "device_time": keysOf(replay.EstimatedShare{}),
}

// keysOf returns the keys of the fields of a struct.
func keysOf(of any) (list []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, key)
	}
	return list
}

// checkValue refuses the next value, that of a key, if an object in it has a key twice, or one that is read in
// other case: encoding/json would take the last of them for the value. Keys that are not read may be anything.
func checkValue(d *json.Decoder, of string) {
	switch textutil.Must(d.Token()) {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key := textutil.Must(d.Token()).(string)
			if seen[key] {
				textutil.Stop(fmt.Errorf("the key %s twice in one object: which of them holds?", textutil.Quote(key)))
			}
			seen[key] = true
			for _, k := range keys[of] {
				if key != k && strings.EqualFold(key, k) {
					textutil.Stop(fmt.Errorf("the key %s: want %s", textutil.Quote(key), textutil.Quote(k)))
				}
			}
			checkValue(d, key)
		}
	case json.Delim('['):
		for d.More() {
			checkValue(d, of)
		}
	default:
		return
	}
	textutil.Must(d.Token()) // the end of the object or list
}
