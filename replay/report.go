package replay

import (
	"fmt"
	"io"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

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

// PartLabel says that not all of a program was played, but the steps first to last of its trace,
// and which part of a run that is.
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
func (r *Report) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// WriteText writes the report for people: the program's own result line, where
// the time went, and what the replay cost.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	length := "makespan"
	switch {
	case r.StoppedAt != nil:
		fmt.Fprintf(&b, "stopped at %.9g s of simulated time%s: no result line\n", *r.StoppedAt, r.stepReached())
		length = "so far"
	case r.Complete:
		resultLine(&b, r.Header, r.Makespan, r.Gflops, "")
	default:
		b.WriteString(PartLabel(r.Header, r.First, r.Last) + ": no result line\n")
	}
	fmt.Fprintf(&b, "\n%s %.9g s: %s on %s\n", length, r.Makespan, r.Trace, r.machine())
	mean, l := r.meanEnd(), layoutOf(w, 3, namesOf(r.Kinds, r.Kernels, r.Phases))
	table(&b, l, "time of a rank", r.Kinds, mean)
	table(&b, l, "compute", r.Kernels, mean)
	table(&b, l, "phase", r.Phases, mean)
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
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// stepReached says in which step a replay has stopped, if the trace marks its steps.
func (r *Report) stepReached() string {
	if r.Header.Steps == 0 {
		return ""
	}
	return fmt.Sprintf(", in step %d of %d", r.Last, r.Header.Steps)
}

func (r *Report) machine() string {
	hosts := map[string]bool{}
	for _, rank := range r.Ranks {
		hosts[rank.Host] = true
	}
	text := fmt.Sprintf("%s, %s on %s", r.Platform, textutil.Count(len(r.Ranks), "rank"),
		textutil.Count(len(hosts), "host"))
	text += r.models()
	if r.Seed != nil {
		text += fmt.Sprintf(", noise of seed %d", *r.Seed)
	}
	return text
}

func (r *Result) meanEnd() float64 {
	sum := 0.0
	for _, rank := range r.Ranks {
		sum += rank.End
	}
	return sum / float64(len(r.Ranks))
}

// resultLine writes a result in the layout of HPL: the program's columns, then
// time and rate, and a label if it is not an exact one.
func resultLine(b *strings.Builder, h *trace.Header, seconds, gflops float64, label string) {
	if len(h.Result) == 0 {
		return
	}
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

// table writes shares of the ranks' time, in the order given.
func table(b *strings.Builder, l layout, title string, shares []Share, whole float64) {
	if len(shares) == 0 {
		return
	}
	width := l.width(title, namesOf(shares))
	fmt.Fprintf(b, "\n%-*s %12s %12s %12s %8s\n", width, title, "mean s", "min s", "max s", "share")
	for _, s := range shares {
		share := shareOf(s.Mean, whole)
		fmt.Fprintf(b, "%-*s %12.6g %12.6g %12.6g %7.2f%%%s\n", width, l.name(s.Name), s.Mean, s.Min, s.Max, 100*share,
			bar(share, l.bars))
	}
}

func namesOf(tables ...[]Share) (names []string) {
	for _, shares := range tables {
		for _, s := range shares {
			names = append(names, s.Name)
		}
	}
	return names
}

// shareOf returns what part of a whole something is; of nothing, none.
func shareOf(part, whole float64) float64 {
	if !(whole > 0) {
		return 0
	}
	return part / whole
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
func (r *EnsembleReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// WriteText writes the spread of the runs.
func (r *EnsembleReport) WriteText(w io.Writer) error {
	var b strings.Builder
	first, last := r.Runs[0].Seed, r.Runs[len(r.Runs)-1].Seed
	fmt.Fprintf(&b, "%d runs, seeds %d to %d: %s on %s, %d ranks", len(r.Runs), first, last, r.Trace, r.Platform, r.Ranks)
	b.WriteString(r.models())
	if !r.Complete {
		b.WriteString("\n" + PartLabel(r.Header, r.First, r.Last))
	}
	fmt.Fprintf(&b, "\n\n%-14s %13s %10s %12s %13s %13s\n", "", "mean", "± (95 %)", "sd of a run", "min", "max")
	r.Makespan.write(&b, "makespan s")
	if r.Gflops.Max > 0 {
		r.Gflops.write(&b, "Gflops")
	}
	if r.Rating != nil {
		r.Rating.write(&b, ratingName)
	}
	fmt.Fprintf(&b, "\nreplayed in %.3g s, %d at once, %s of memory\n", r.WallSeconds, r.Workers, size(r.PeakRSS))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ratingName is what reports call a program's own rating: HPCG's, in its words.
const ratingName = "GFLOP/s rating"

func (s *Summary) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%-14s %13.8g %10.3g %12.3g %13.8g %13.8g\n", name, s.Mean, s.Interval, s.SD, s.Min, s.Max)
}
