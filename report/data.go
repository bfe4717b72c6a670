package report

import (
	"encoding/json"

	"reprise/report/path"
	"reprise/report/pop"
	"reprise/report/record"
	"reprise/report/timeline"
)

// Format is the version of Data that this program writes and reads.
const Format = 1

// Data is everything that a report shows, and what its page carries as JSON. A page has one
// for each run that it shows. What a replay has not recorded is nil.
type Data struct {
	Format    int      `json:"format"`
	Title     string   `json:"title"`     // what was run on what, in a line
	Labels    []string `json:"labels"`    // what every figure is of, if not of a whole run: "estimate", "interrupted at 3.2 s", "noise of seed 1", ...
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
