package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"reprise/internal/regular"
	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/report/record"
	"reprise/report/timeline"
	"reprise/trace"
)

// This file has the data of a page (Data), which page.go writes and the scripts of the page read.

// Format is the version of Data that this program writes and reads.
const Format = 1

// Data is everything that a report shows, and its page carries as JSON. A page has one for each run that it shows.
// Parts that a replay has not recorded are nil.
//
// Keys are read by the scripts of the page and by replay compare: a change that either could not read needs another
// Format. Names of keys end with their unit, as in replay --json.
type Data struct {
	Format int    `json:"format"`
	Title  string `json:"title"` // the run and the machine, in a line
	// Program and Machine are what was replayed, and on what, in words (Describe).
	Program string `json:"program,omitempty"`
	Machine string `json:"machine,omitempty"`
	// Labels of every figure, if not of a whole run: "estimate", "interrupted at 3.2 s", "noise of seed 1", ...
	Labels    []string `json:"labels"`
	Answer    Answer   `json:"answer"`
	Inputs    Inputs   `json:"inputs"`
	Diagnosis []string `json:"diagnosis"` // sentences, the most important first

	// Result is what replay --json prints. Its time_by_* are the bars of the answer at the top of the page (answer.js).
	Result json.RawMessage `json:"result"`
	Record *record.Data    `json:"record,omitempty"`
	// Timelines are windows of the run, to be seen action by action.
	Timelines []*timeline.Window `json:"timelines,omitempty"`
	Path      *path.Data         `json:"path,omitempty"`
	POP       *pop.Data          `json:"pop,omitempty"`
	// Tables are where the time of an estimate went, from its windows, or that of several replays.
	Tables []TimeTable `json:"tables,omitempty"`
}

// Answer holds the numbers that most people look for: of one replay its own, of an estimate the estimate, of several
// replays their means.
type Answer struct {
	Makespan   float64   `json:"makespan_s"`
	Gflops     float64   `json:"gflops"`                // 0: the program has no rate, or not all of it was played
	Peak       float64   `json:"peak_gflops,omitempty"` // of the cores that the ranks run on; 0: the platform does not say
	Efficiency float64   `json:"efficiency,omitempty"`  // Gflops / Peak
	Interval   *Interval `json:"interval_s,omitempty"`  // of the makespan
	NoInterval string    `json:"no_interval,omitempty"` // why there is none, in a sentence
	Columns    []Column  `json:"columns,omitempty"`     // of the program's own result line
	Messages   int64     `json:"messages"`              // those of collective operations included
	Bytes      int64     `json:"bytes"`                 // in them
	Wall       float64   `json:"wall_s"`                // that the replay took
	Energy     *Energy   `json:"energy,omitempty"`      // nil: the platform does not say what anything draws
}

// Energy is that of an answer, hosts and links together.
type Energy struct {
	Joules        float64 `json:"total_j"`
	MeanWatts     float64 `json:"mean_watts"`
	PeakWatts     float64 `json:"peak_watts"`      // 0: not known
	PeakSeconds   float64 `json:"peak_interval_s"` // of which it is the mean
	GflopsPerWatt float64 `json:"gflops_per_watt"` // 0: not known
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

// Inputs are the origins of a report.
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
	Max      float64 `json:"max_s"`      // likewise
}

// NewInputs returns the inputs of a report: p is its provenance, t the trace, m the machine, and command the command
// line.
func NewInputs(p *replay.Provenance, t replay.Traced, m *replay.Machine, command string) Inputs {
	platform, source := m.Platform.Hash(), &m.Source
	// A trace has the hash of its content; one of our own that of its index, once all of it was read.
	hash := ""
	switch t := t.(type) {
	case *trace.Trace:
		if sum, ok := t.Hash(); ok {
			hash = hex.EncodeToString(sum[:])
		}
	case interface {
		Hash() ([sha256.Size]byte, error)
	}:
		if sum, err := t.Hash(); err == nil {
			hash = hex.EncodeToString(sum[:])
		}
	}
	in := Inputs{Command: command, Tool: p.Tool, Parameters: []Column{}, Files: []Input{
		{What: "trace", Name: p.Trace, Hash: hash},
		{What: "platform", Name: p.Platform, Hash: hex.EncodeToString(platform[:])},
	}}
	for _, f := range []struct{ what, name string }{
		{"kernel models", p.KernelFile}, {"network noise", p.NetworkNoise}, {"hostfile", source.Hostfile},
	} {
		if f.name == "" {
			continue
		}
		// Built-in models have no hash: their name and the version of the program name them. Neither has a file that is
		// not there any more, or cannot be read twice.
		hash := ""
		if regular.IsFile(f.name) {
			hash, _ = regular.Hash(f.name)
		}
		in.Files = append(in.Files, Input{What: f.what, Name: f.name, Hash: hash})
	}
	if len(p.HostSpeeds) > 0 {
		in.Files = append(in.Files, Input{What: "speeds of hosts", Name: strings.Join(p.HostSpeeds, ", ")})
	}
	// Defaults that the run was played by.
	if c := p.Choices.Collectives; c.Value != "" { // results of other programs have none
		in.Files = append(in.Files, Input{What: "collective operations", Name: said(c)},
			Input{What: "placement of ranks", Name: said(p.Choices.Placement)})
	}
	if r := p.Choices.Recording; r != nil {
		in.Files = append(in.Files, Input{What: "computations", Name: r.String()})
	}
	for _, x := range t.Header().Params {
		in.Parameters = append(in.Parameters, Column{x.Name, x.Value})
	}
	return in
}

// said is a choice with its reason.
func said(c replay.Choice) string { return c.Value + " (" + c.Because + ")" }
