package measure

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/internal/wording"
)

// WriteCSV writes the timings as calibrate kernels reads them, after facts about
// the measurement as comments.
func (r *Result) WriteCSV(w io.Writer, host string, facts []Fact) error {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, strings.Join(strings.Fields(f.Value), " "))
	}
	b.WriteString("function,m,n,k,seconds,host,cpu,date\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for _, t := range r.Timings {
		seconds := strconv.FormatFloat(t.Seconds, 'e', 9, 64)
		date := t.Date.UTC().Format(time.RFC3339)
		if _, err := fmt.Fprintf(w, "dgemm,%d,%d,%d,%s,%s,%d,%s\n", t.Size.M, t.Size.N, t.Size.K, seconds, host, t.CPU, date); err != nil {
			return err
		}
	}
	return nil
}

// HostName returns a name as tables and kernel files have them; that of none is unknown.
func HostName(name string) string {
	if name == "" {
		return unknown
	}
	return wording.Plain(name)
}

// Speed is how fast a CPU was.
type Speed struct {
	CPU     int     `json:"cpu"`
	Timings int     `json:"timings"`
	Average float64 `json:"flop_per_s"`      // all operations / all seconds
	Best    float64 `json:"best_flop_per_s"` // of one call
}

// Speeds returns the speed of each CPU, in order.
func (r *Result) Speeds() []Speed {
	byCPU := map[int]*Speed{}
	flop, seconds := map[int]float64{}, map[int]float64{}
	var cpus []int
	for _, t := range r.Timings {
		s := byCPU[t.CPU]
		if s == nil {
			s = &Speed{CPU: t.CPU}
			byCPU[t.CPU] = s
			cpus = append(cpus, t.CPU)
		}
		s.Timings++
		flop[t.CPU] += t.Size.Flop()
		seconds[t.CPU] += t.Seconds
		if t.Seconds > 0 {
			s.Best = max(s.Best, t.Size.Flop()/t.Seconds)
		}
	}
	slices.Sort(cpus)
	var list []Speed
	for _, cpu := range cpus {
		s := *byCPU[cpu]
		if seconds[cpu] > 0 {
			s.Average = flop[cpu] / seconds[cpu]
		}
		list = append(list, s)
	}
	return list
}
