package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"reprise/internal/regular"
	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/report/record"
	"reprise/report/timeline"
	"reprise/trace"
)

// Format is the version of Data that this program writes and reads.
const Format = 1

// Data is everything that a report shows, and what its page carries as JSON. A page has one
// for each run that it shows. What a replay has not recorded is nil.
type Data struct {
	Format int    `json:"format"`
	Title  string `json:"title"` // what was run on what, in a line
	// what every figure is of, if not of a whole run: "estimate", "interrupted at 3.2 s", "noise of seed 1", ...
	Labels    []string `json:"labels"`
	Answer    Answer   `json:"answer"`    //
	Inputs    Inputs   `json:"inputs"`    //
	Diagnosis []string `json:"diagnosis"` // sentences, the most important first

	// Result is what replay --json prints.
	Result json.RawMessage `json:"result"`
	Record *record.Data    `json:"record,omitempty"`
	// Timelines are windows of the run, to be seen action by action.
	Timelines []*timeline.Window `json:"timelines,omitempty"`
	Path      *path.Data         `json:"path,omitempty"`
	POP       *pop.Data          `json:"pop,omitempty"`
	// Tables are where the time of an estimate went, from its windows, or that of several replays.
	Tables []TimeTable `json:"tables,omitempty"`
}

// Answer is what most people look for.
type Answer struct {
	Makespan   float64   `json:"makespan_s"`
	Gflops     float64   `json:"gflops"`                // 0: the program has no rate, or not all of it was played
	Peak       float64   `json:"peak_gflops,omitempty"` // of the cores that the ranks run on; 0: the platform does not say
	Efficiency float64   `json:"efficiency,omitempty"`  // Gflops / Peak
	Interval   *Interval `json:"interval_s,omitempty"`  // of the makespan
	Columns    []Column  `json:"columns,omitempty"`     // of the program's own result line
	Messages   int64     `json:"messages"`              // those of collective operations included
	Bytes      int64     `json:"bytes"`                 // in them
	Wall       float64   `json:"wall_s"`                // that the replay took
}

// Interval is that of a makespan, in seconds, and what it covers.
type Interval struct {
	Low    float64 `json:"low_s"`
	High   float64 `json:"high_s"`
	Level  float64 `json:"level"`  // such as 0.95
	Covers string  `json:"covers"` // in a sentence
}

// Column is one of a result line, such as N with its value.
type Column struct {
	Title string `json:"title"`
	Value string `json:"value"`
}

// Inputs say what a report was made from.
type Inputs struct {
	Command string  `json:"command"` // line, as it was typed
	Tool    string  `json:"tool"`    // name and version
	Files   []Input `json:"files"`
	// Parameters are those of the program, from the trace.
	Parameters []Column `json:"parameters"`
}

// Input is a file, or something built in.
type Input struct {
	What string `json:"what"` // "trace", "platform", "kernel models", ...
	Name string `json:"name"`
	Hash string `json:"sha256,omitempty"`
}

// TimeTable is where the mean rank's time went.
type TimeTable struct {
	By   string    `json:"by"` // "kind", "phase", "kernel"
	Rows []TimeRow `json:"rows"`
}

// TimeRow is how much of the mean rank's time one thing takes, in seconds.
type TimeRow struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean_s"`
	Interval float64 `json:"interval_s"` // half-width of 95 %, of an estimate
	Min      float64 `json:"min_s"`      // in one of several replays
	Max      float64 `json:"max_s"`      //
}

// Labels say what the figures of a replay are of, if not of a whole run on the machine as its
// files have it. None: of that.
func Labels(r *replay.Report) []string {
	labels := []string{}
	switch {
	case r.StoppedAt != nil:
		labels = append(labels, fmt.Sprintf("interrupted at %.6g s%s: figures up to there", *r.StoppedAt,
			stepReached(r.Result)))
	case !r.Complete:
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	if r.WallBefore > 0 {
		labels = append(labels, "resumed from a checkpoint: pictures begin there, totals are of the whole run")
	}
	return append(labels, modelLabels(r.Seed, &r.Provenance)...)
}

// EstimateLabels are those of an estimate.
func EstimateLabels(r *replay.EstimateReport) []string {
	labels := []string{fmt.Sprintf("estimate from %d of %d steps, ± %.2g %%, about %.0f %% sure", r.Simulated, r.Steps,
		100*r.Relative(), 100*r.Confidence)}
	if !r.Complete {
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	return append(labels, modelLabels(r.Seed, &r.Provenance)...)
}

// EnsembleLabels are those of replays with several seeds.
func EnsembleLabels(r *replay.EnsembleReport) []string {
	labels := []string{fmt.Sprintf("mean of %d runs, noise of seeds %d to %d", len(r.Runs), r.Runs[0].Seed,
		r.Runs[len(r.Runs)-1].Seed)}
	if !r.Complete {
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	return append(labels, modelLabels(nil, &r.Provenance)...)
}

// UncertaintyLabels are those of replays on drawn machines.
func UncertaintyLabels(r *replay.UncertaintyReport) []string {
	labels := []string{fmt.Sprintf("mean of %d drawn machines, seeds %d to %d", len(r.Draws), r.Draws[0].Seed,
		r.Draws[len(r.Draws)-1].Seed)}
	if !r.Complete {
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	return append(labels, modelLabels(nil, &r.Provenance)...)
}

// stepReached says in which step a replay has stopped, if the trace marks its steps.
func stepReached(r *replay.Result) string {
	if r.Header.Steps == 0 {
		return ""
	}
	return fmt.Sprintf(" in step %d of %d", r.Last, r.Header.Steps)
}

// modelLabels are those of what is not as the files have it.
func modelLabels(seed *uint64, p *replay.Provenance) []string {
	var labels []string
	if seed != nil {
		labels = append(labels, fmt.Sprintf("noise of seed %d", *seed))
	}
	if len(p.HostSpeeds) > 0 {
		labels = append(labels, "speeds of hosts changed: "+strings.Join(p.HostSpeeds, ", "))
	}
	if len(p.Changes) > 0 {
		labels = append(labels, "machine changed: "+strings.Join(p.Changes, ", "))
	}
	if p.ComputeScale != 0 {
		labels = append(labels, fmt.Sprintf("amounts of flop take %g times as long", p.ComputeScale))
	}
	if p.FileBandwidth != 0 {
		labels = append(labels, fmt.Sprintf("files at %g byte/s", p.FileBandwidth))
	}
	if p.ComputeNoise {
		labels = append(labels, "amounts of flop drawn by their spread")
	}
	return labels
}

// NewInputs says what a report was made from: p is its provenance, t the trace, m the machine,
// and command the command line.
func NewInputs(p *replay.Provenance, t replay.Traced, m *replay.Machine, command string) Inputs {
	platform, source := m.Platform.Hash(), &m.Source
	in := Inputs{Command: command, Tool: p.Tool, Parameters: []Column{}, Files: []Input{
		{What: "trace", Name: p.Trace, Hash: traceHash(t)},
		{What: "platform", Name: p.Platform, Hash: hex.EncodeToString(platform[:])},
	}}
	for _, f := range []struct{ what, name string }{
		{"kernel models", p.KernelFile}, {"network noise", p.NetworkNoise}, {"hostfile", source.Hostfile},
	} {
		if f.name != "" {
			in.Files = append(in.Files, Input{What: f.what, Name: f.name, Hash: fileHash(f.name)})
		}
	}
	if len(p.HostSpeeds) > 0 {
		in.Files = append(in.Files, Input{What: "speeds of hosts", Name: strings.Join(p.HostSpeeds, ", ")})
	}
	for _, x := range t.Header().Params {
		in.Parameters = append(in.Parameters, Column{x.Name, x.Value})
	}
	return in
}

// traceHash names a trace by its content: one of our own by the hash of its index, which is
// there once all of it was read.
func traceHash(t replay.Traced) string {
	switch t := t.(type) {
	case *trace.Trace:
		if hash, ok := t.Hash(); ok {
			return hex.EncodeToString(hash[:])
		}
	case interface {
		Hash() ([sha256.Size]byte, error)
	}:
		if hash, err := t.Hash(); err == nil {
			return hex.EncodeToString(hash[:])
		}
	}
	return ""
}

// fileHash names a file by its content. What is built in has none: its name and the version of
// the program say what it is. Neither has a file that is not there any more, or cannot be
// read twice.
func fileHash(name string) string {
	if info, err := os.Stat(name); !regular.IsFile(name) || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
