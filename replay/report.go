package replay

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/warning"
)

// The reports of this file print results, each with its Provenance: WriteText for people, WriteJSON everything. Report
// is for a Result, the others are for ensembles, estimates and uncertainties. JSON keys never change their meaning
// (ResultFormat).

// Report is a result with what it was made from and what making it cost.
type Report struct {
	*Result
	Provenance
	Speed float64 `json:"messages_per_wall_s"`
}

// NewReport returns the report of a result.
func NewReport(res *Result, p Provenance) *Report {
	r := &Report{Result: res, Provenance: p.of(res.Header)}
	if p.WallSeconds > 0 {
		r.Speed = float64(res.Messages) / p.WallSeconds
	}
	return r
}

// PartLabel says that only the steps first to last of a trace were played, and which part of a run they are.
func PartLabel(h *trace.Header, first, last int) string {
	steps := fmt.Sprintf("steps %d:%d of %d only", first, last+1, h.Steps)
	switch part := h.Part(); {
	case part == "":
		return steps
	case first == 0 && last+1 >= h.Steps:
		return part + " only"
	default:
		return part + ", " + steps
	}
}

// WriteJSON writes everything.
func (r *Report) WriteJSON(w io.Writer) error { return textutil.WriteJSON(w, r) }

// WriteText writes the report for people: the program's own result line, where
// the time went, and the cost of the replay.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	length := "makespan"
	switch {
	case r.StoppedAt != nil:
		step := ""
		if r.Header.Steps > 0 { // the trace marks its steps
			step = fmt.Sprintf(", in step %d of %d", r.Last, r.Header.Steps)
		}
		fmt.Fprintf(&b, "stopped at %.9g s of simulated time%s: no result line\n", *r.StoppedAt, step)
		length = "so far"
	case r.Complete:
		resultLine(&b, r.Header, r.Makespan, r.Gflops, "")
	default:
		b.WriteString(PartLabel(r.Header, r.First, r.Last) + ": no result line\n")
	}
	hosts := map[string]bool{}
	for _, rank := range r.Ranks {
		hosts[rank.Host] = true
	}
	fmt.Fprintf(&b, "\n%s %.9g s: %s on %s, %s on %s%s", length, r.Makespan, r.Trace, r.Platform,
		textutil.Count(len(r.Ranks), "rank"), textutil.Count(len(hosts), "host"), r.models())
	if r.Seed != nil {
		fmt.Fprintf(&b, ", noise of seed %d", *r.Seed)
	}
	b.WriteString("\n" + r.chosen(r.collectiveShare() > 0))
	b.WriteString(r.Energy.text(""))

	// Where the time went.
	rows := func(shares []Share) (rows []timeRow) {
		for _, s := range shares {
			rows = append(rows, timeRow{s.Name, s.Mean, fmt.Sprintf(" %12.6g %12.6g %12.6g", s.Mean, s.Min, s.Max)})
		}
		return rows
	}
	timeTables(&b, w, fmt.Sprintf(" %12s %12s %12s", "mean s", "min s", "max s"), r.meanEnd(),
		rows(r.Kinds), rows(r.Kernels), rows(r.Phases), rows(r.DeviceStates), rows(r.Devices))

	// What was played, and the cost of that.
	fmt.Fprintf(&b, "\n%s %s, %s, %s %s", textutil.Thousands(r.Messages), textutil.Noun(r.Messages, "message"),
		size(r.Bytes), textutil.Thousands(r.Actions), textutil.Noun(r.Actions, "action"))
	if r.Accesses > 0 {
		fmt.Fprintf(&b, ", %s of %s", textutil.Count(r.Accesses, "one-sided access"), size(r.AccessBytes))
	}
	if r.FileBytes > 0 {
		fmt.Fprintf(&b, ", %s of files", size(r.FileBytes))
	}
	if r.Polls > 0 {
		fmt.Fprintf(&b, ", %s polls", textutil.Thousands(r.Polls))
	}
	if r.Repeated > 0 {
		fmt.Fprintf(&b, "\n%s repeat the one before: once all ranks begin two of them alike, the others take as long",
			textutil.Count(r.Repeated, "step"))
	}
	fmt.Fprintf(&b, "\nreplayed in %.3g s: %s messages/s, %s of memory\n", r.WallSeconds,
		textutil.Thousands(int64(r.Speed)), size(r.PeakRSS))
	return finish(&b, w, r.Warnings)
}

// finish adds the warnings to a report and writes it.
func finish(b *strings.Builder, w io.Writer, warnings []warning.Warning) error {
	for _, w := range warnings {
		fmt.Fprintf(b, "warning: %v\n", w)
	}
	return textutil.Write(w, b.String())
}

// resultLine writes a result in the layout of HPL: the program's columns, then time and rate, and a label if it is not
// exact.
func resultLine(b *strings.Builder, h *trace.Header, seconds, gflops float64, label string) {
	if len(h.Result) == 0 {
		return
	}
	// Widths of columns are those of HPL's own report: T/V, N, then the others.
	var title, value strings.Builder
	for i, c := range h.Result {
		format := " %5s"
		switch i {
		case 0:
			format = "%-8s"
		case 1:
			format = "%12s"
		}
		fmt.Fprintf(&title, format, c.Title)
		fmt.Fprintf(&value, format, c.Value)
	}
	fmt.Fprintf(&title, "%19s%23s", "Time", "Gflops")
	fmt.Fprintf(&value, "%19.2f%23.4e%s", seconds, gflops, label)
	fmt.Fprintf(b, "%s\n%s\n%s\n%s\n", strings.Repeat("=", 80), title.String(), strings.Repeat("-", 80), value.String())
}

// EstimateReport is an estimate with what it was made from and what making it cost.
// Nothing in it looks like an exact result.
type EstimateReport struct {
	IsEstimate bool `json:"estimate"` // true
	*Estimate
	Confidence float64 `json:"confidence"` // of the interval
	Tolerance  float64 `json:"tolerance"`  // that was asked for; 0: none
	Budget     float64 `json:"budget_s"`   // likewise
	Provenance
	Hosts int `json:"hosts"`
}

// NewEstimateReport returns the report of an estimate for a machine.
func NewEstimateReport(e *Estimate, m *Machine, p Provenance) *EstimateReport {
	used := slices.Compact(slices.Sorted(slices.Values(m.Hosts)))
	return &EstimateReport{IsEstimate: true, Estimate: e, Confidence: 0.95, Provenance: p.of(e.Header), Hosts: len(used)}
}

// WriteJSON writes everything.
func (r *EstimateReport) WriteJSON(w io.Writer) error { return textutil.WriteJSON(w, r) }

// WriteText writes the estimate and its interval, the windows that it comes from, and its cost.
func (r *EstimateReport) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Complete {
		resultLine(&b, r.Header, r.Seconds, r.Gflops, " estimate")
	} else {
		b.WriteString(PartLabel(r.Header, r.First, r.Last) + ": no result line\n")
	}
	fmt.Fprintf(&b, "\nmakespan %.6g \u00b1 %.2g s (\u00b1 %.2g %%, about %g %% sure)", r.Seconds, r.Interval,
		100*r.Relative(), 100*r.Confidence)
	if r.Gflops > 0 {
		fmt.Fprintf(&b, ", %.4e \u00b1 %.1e Gflops", r.Gflops, r.GflopsInterval)
	}
	fmt.Fprintf(&b, ": an estimate\n%s on %s, %s on %s%s", r.Trace, r.Platform, textutil.Count(r.Header.Ranks, "rank"),
		textutil.Count(r.Hosts, "host"), r.models())
	if r.Seed != nil {
		fmt.Fprintf(&b, ", noise of seed %d: the interval is that of this seed", *r.Seed)
	}
	b.WriteString("\n" + r.chosen(slices.ContainsFunc(r.Kinds, func(s EstimatedShare) bool { return s.Name == kindNames[TimeCollective] })))
	b.WriteString(r.Energy.text(fmt.Sprintf(" (together ± %.2g J)", r.EnergyInterval)))

	// Where the time went, each with its interval.
	rows := func(shares []EstimatedShare) (rows []timeRow) {
		for _, s := range shares {
			rows = append(rows, timeRow{s.Name, s.Mean, fmt.Sprintf(" %12.6g %12.2g", s.Mean, s.Interval)})
		}
		return rows
	}
	timeTables(&b, w, fmt.Sprintf(" %12s %12s", "mean s", "\u00b1 s"), r.MeanEnd,
		rows(r.Kinds), rows(r.Kernels), rows(r.Phases), rows(r.DeviceStates), rows(r.Devices))

	// Which steps were simulated for it.
	seen := "long enough as far as the steps after it tell"
	if r.Coupled {
		seen = "after which the cold start is forgotten"
	}
	fmt.Fprintf(&b, "\n%s in %s; warm-up of %s, %s\n", textutil.Count(len(r.Windows), "window"),
		textutil.Count(r.Rounds, "round"), textutil.Count(r.Warmup, "step"), seen)
	fmt.Fprintf(&b, "%14s %14s %14s\n", "simulated", "counted", "mean step s")
	for _, w := range r.Windows {
		fmt.Fprintf(&b, "%14s %14s %14.6g\n", fmt.Sprintf("%d:%d", w.From, w.To), fmt.Sprintf("%d:%d", w.Start, w.To),
			w.Seconds)
	}
	fmt.Fprintf(&b, "\nsimulated %s of %s steps (%.2g %%), %s messages; sampled in %.3g s with %s, %s of memory\n",
		textutil.Thousands(int64(r.Simulated)), textutil.Thousands(int64(r.Steps)),
		100*float64(r.Simulated)/float64(r.Steps), textutil.Thousands(r.Messages), r.WallSeconds,
		textutil.Count(r.Workers, "worker"), size(r.PeakRSS))
	return finish(&b, w, r.Warnings)
}

// EnsembleReport is an ensemble with what it was made from and what making it cost.
type EnsembleReport struct {
	*Ensemble
	Provenance
	Ranks   int `json:"ranks"`
	Workers int `json:"workers"` // replays at once
}

// NewEnsembleReport returns the report of an ensemble.
func NewEnsembleReport(e *Ensemble, p Provenance) *EnsembleReport {
	return &EnsembleReport{Ensemble: e, Provenance: p.of(e.Header), Ranks: e.Header.Ranks}
}

// WriteJSON writes everything.
func (r *EnsembleReport) WriteJSON(w io.Writer) error { return textutil.WriteJSON(w, r) }

// WriteText writes the spread of the runs.
func (r *EnsembleReport) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.series("runs", r.Runs, &r.Names, r.Header))
	if !r.Complete {
		b.WriteString("\n" + PartLabel(r.Header, r.First, r.Last))
	}
	r.write(&b, fmt.Sprintf("%13s %10s %12s %13s %13s", "mean", "± (95 %)", "sd of a run", "min", "max"))
	fmt.Fprintf(&b, "\nreplayed in %.3g s, %d at once, %s of memory\n", r.WallSeconds, r.Workers, size(r.PeakRSS))
	return finish(&b, w, r.Warnings)
}

// ratingName is what reports call a program's own rating: HPCG's, in its words.
const ratingName = "GFLOP/s rating"

// write writes the table of the figures, with a head of its columns.
func (f *Figures[T]) write(b *strings.Builder, head string) {
	fmt.Fprintf(b, "\n\n%-14s %s\n", "", head)
	row := func(name string, of *T) {
		if of != nil {
			fmt.Fprintf(b, "%-14s %s\n", name, (*of).row())
		}
	}
	row("makespan s", &f.Makespan)
	if f.Gflops != *new(T) {
		row("Gflops", &f.Gflops)
	}
	row(ratingName, f.Rating)
	row("hosts J", f.Joules)
	row("links J", f.LinkJoules)
}

func (s Summary) mean() float64  { return s.Mean }
func (i Interval) mean() float64 { return i.Mean }

func (s Summary) row() string {
	return fmt.Sprintf("%13.8g %10.3g %12.3g %13.8g %13.8g", s.Mean, s.Interval, s.SD, s.Min, s.Max)
}

func (i Interval) row() string {
	return fmt.Sprintf("%14.8g  %-29s %10.3g", i.Mean, fmt.Sprintf("%.6g to %.6g", i.Low, i.High), i.SD)
}

// lineWidth is the longest line of folded text, in bytes.
const lineWidth = 100

// UncertaintyReport is an uncertainty with what it was made from and what making it cost.
type UncertaintyReport struct {
	*Uncertainty
	Provenance
	Ranks int `json:"ranks"`
}

// NewUncertaintyReport returns the report of an uncertainty.
func NewUncertaintyReport(u *Uncertainty, p Provenance) *UncertaintyReport {
	return &UncertaintyReport{Uncertainty: u, Provenance: p.of(u.Header), Ranks: u.Header.Ranks}
}

// WriteJSON writes everything.
func (r *UncertaintyReport) WriteJSON(w io.Writer) error { return textutil.WriteJSON(w, r) }

// WriteText writes the intervals and their parts.
func (r *UncertaintyReport) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.series("draws", r.Draws, &r.Names, r.Header))
	if !r.Complete {
		b.WriteString("\n" + PartLabel(r.Header, r.First, r.Last))
	}
	r.write(&b, fmt.Sprintf("%14s  %-29s %10s", "mean", fmt.Sprintf("%.0f %% interval", 100*r.Level), "sd"))
	if len(r.Parts) > 0 {
		fmt.Fprintf(&b, "\n%-14s %14s\n", "part", "sd, % of mean")
	}
	for _, p := range r.Parts {
		fmt.Fprintf(&b, "%-14s %14.2g\n", p.Name, 100*p.SD/r.Makespan.Mean)
	}
	// The sentence that says which errors the intervals cover is folded into lines.
	line := ""
	for _, word := range strings.Fields(r.Covers) {
		if line != "" && len(line)+1+len(word) > lineWidth {
			b.WriteString("\n" + line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	fmt.Fprintf(&b, "\n%s\n\nreplayed in %.3g s, %s of memory\n", line, r.WallSeconds, size(r.PeakRSS))
	return finish(&b, w, r.Warnings)
}

// wide is a writer whose lines have so many columns, as those of a terminal. Tables of where the time
// went have bars there, if there is room.
type wide interface{ Columns() int }

const (
	leastBar  = 10 // columns of a bar of 100 %, at least
	mostBar   = 40 // at most
	leastName = 16 // columns of a name, at least
)

// timeRow is a row of a table of where the time went.
type timeRow struct {
	name    string
	mean    float64 // of all ranks, seconds
	numbers string  // its columns between name and share
}

// timeTables writes the tables of kinds, kernels and phases of a rank's time, and of states and kernels of its device.
// whole is the mean end of the ranks in seconds. Each table has the given columns of numbers, the share of the whole and,
// if w has room for them, bars. Bars begin in the same column in all tables; without bars each table has the width that
// it needs, and names are cut if even that is too much.
func timeTables(b *strings.Builder, w io.Writer, columns string, whole float64, tables ...[]timeRow) {
	titles := [...]string{"time of a rank", "compute", "phase", "device", "in queues"}
	names, bars, most := 0, 0, math.MaxInt // columns of all names, of a bar of 100 %, and of the longest name
	if to, ok := w.(wide); ok {
		names = len(titles[0])
		for _, rows := range tables {
			for _, row := range rows {
				names = max(names, utf8.RuneCountInString(row.name))
			}
		}
		free := to.Columns() - names - utf8.RuneCountInString(columns) - len("  100.00%") - len("  ")
		if free >= leastBar {
			bars = min(free, mostBar)
		} else {
			names, most = 0, max(free+len("  ")+names, leastName)
		}
	}
	for i, rows := range tables {
		if len(rows) == 0 {
			continue
		}
		width, cut := max(names, len(titles[i])), make([]string, len(rows))
		for j, row := range rows {
			cut[j] = textutil.Fit(row.name, most)
			width = max(width, utf8.RuneCountInString(cut[j]))
		}
		fmt.Fprintf(b, "\n%-*s%s %8s\n", width, titles[i], columns, "share")
		for j, row := range rows {
			share := 0.0
			if whole > 0 {
				share = row.mean / whole
			}
			fmt.Fprintf(b, "%-*s%s %7.2f%%%s\n", width, cut[j], row.numbers, 100*share, bar(share, bars))
		}
	}
}

// bar draws a share of 1 in so many columns, to an eighth of one.
func bar(share float64, columns int) string {
	if columns == 0 || !(share > 0) {
		return ""
	}
	// Unicode has blocks of each eighth of a column.
	eighths := int(math.Round(8 * math.Min(share, 1) * float64(columns)))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	if text == "" {
		return ""
	}
	return "  " + text
}

// size writes bytes with a decimal prefix and three digits.
func size(bytes int64) string {
	v, units := float64(bytes), []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	for v >= 999.5 && len(units) > 1 {
		v /= 1000
		units = units[1:]
	}
	return fmt.Sprintf("%.3g %s", v, units[0])
}

// ResultFormat is the version of the JSON of results. It changes where a reader of an older one would misread them.
const ResultFormat = 1

// Provenance is what a report was made from, and what making it cost.
type Provenance struct {
	Format        int      `json:"format"` // ResultFormat
	Tool          string   `json:"tool"`   // name and version of the command
	Trace         string   `json:"trace"`
	Platform      string   `json:"platform"`
	KernelFile    string   `json:"kernels"`                  // "": none
	NetworkNoise  string   `json:"network_noise,omitempty"`  // file
	HostSpeeds    []string `json:"host_speed,omitempty"`     // PATTERN=FACTOR
	ComputeScale  float64  `json:"compute_scale,omitempty"`  // of amounts of flop; 0: as they are
	FileBandwidth float64  `json:"file_bandwidth,omitempty"` // byte/s of files of a rank; 0: no time
	ComputeNoise  bool     `json:"compute_noise,omitempty"`  // amounts of flop drawn by their spread
	Choices       Choices  `json:"choices"`                  // defaults, with their reasons
	// further parameters of the machine, as "bandwidth *=0.5"
	Changes    []string          `json:"machine_changes,omitempty"`
	Program    string            `json:"program"`    // by the trace's header
	Parameters map[string]string `json:"parameters"` // likewise

	WallSeconds float64 `json:"wall_s"`         // of the replay
	PeakRSS     int64   `json:"peak_rss_bytes"` // of the process
}

// of returns p with what the header of the trace tells.
func (p Provenance) of(h *trace.Header) Provenance {
	p.Format, p.Program, p.Parameters = ResultFormat, h.Program, map[string]string{}
	for _, x := range h.Params {
		p.Parameters[x.Name] = x.Value
	}
	return p
}

// On returns p with what was loaded as the machine.
func (p Provenance) On(m *Machine) Provenance {
	s := &m.Source
	p.Choices = m.Choices
	p.Platform, p.KernelFile, p.NetworkNoise, p.HostSpeeds = s.Platform, s.Kernels, s.NetworkNoise, texts(s.HostSpeeds)
	p.ComputeScale, p.ComputeNoise, p.FileBandwidth = s.ComputeScale, s.ComputeNoise, s.FileBandwidth
	for _, v := range s.Values() {
		switch v.Name {
		case "without", "kernel-noise", "bandwidth", "latency":
			p.Changes = append(p.Changes, v.Name+" "+v.Value)
		}
	}
	return p
}

// chosen has a line for each default that made a difference: the algorithms of collective operations, if these took
// time, and how recorded computations were played.
func (p *Provenance) chosen(collectives bool) (text string) {
	if c := &p.Choices.Collectives; collectives {
		text += fmt.Sprintf("collective operations by the selection %s (%s)\n", c.Value, c.Because)
	}
	if r := p.Choices.Recording; r != nil {
		text += r.String() + "\n"
	}
	return text
}

// models names the models besides the platform, for texts.
func (p *Provenance) models() string {
	text := ""
	for _, part := range []struct {
		said bool
		text string
	}{
		{p.KernelFile != "", "kernels " + p.KernelFile},
		{len(p.HostSpeeds) > 0, "speeds " + strings.Join(p.HostSpeeds, ", ")},
		{len(p.Changes) > 0, strings.Join(p.Changes, ", ")},
		{p.ComputeScale != 0, fmt.Sprintf("flop times %g", p.ComputeScale)},
		{p.FileBandwidth != 0, fmt.Sprintf("files at %g byte/s", p.FileBandwidth)},
		{p.ComputeNoise, "flop by its spread"},
		{p.NetworkNoise != "", "network noise " + p.NetworkNoise},
	} {
		if part.said {
			text += ", " + part.text
		}
	}
	return text
}

// series names replays that were repeated, the models and the defaults.
func (p *Provenance) series(what string, runs []SeedResult, names *PartNames, h *trace.Header) string {
	kind := slices.Index(names.Kinds, kindNames[TimeCollective])
	collectives := slices.ContainsFunc(runs, func(s SeedResult) bool { return kind >= 0 && s.Times != nil && s.Times.Kinds[kind] > 0 })
	text := fmt.Sprintf("%d %s, seeds %d to %d: %s on %s, %d ranks%s\n%s", len(runs), what, runs[0].Seed, runs[len(runs)-1].Seed,
		p.Trace, p.Platform, h.Ranks, p.models(), p.chosen(collectives))
	return strings.TrimSuffix(text, "\n")
}
