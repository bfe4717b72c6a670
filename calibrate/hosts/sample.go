package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/calibrate"
	"reprise/calibrate/table"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file makes samples, from which Estimate estimates models: Sample.Read from tables, FromFits from fits.

// maxRecords bounds the number of rows of coefficients.
const maxRecords = 1 << 20

// noCPU is the CPU where the unit is a host.
const noCPU = -1

// Record has the coefficients of a unit on one day. Units are hosts, or their CPUs.
type Record struct {
	Host   string
	CPU    int       // -1 where the unit is a host
	Class  string    // to which the unit belongs, if that is known
	Values []float64 // by variable
	Errors []float64 // their standard errors, 0 where none is known; nil if the table had coefficients
}

// Sample has the records of a machine, one for each unit and day.
type Sample struct {
	Variables []Variable
	PerCPU    bool
	Shape     string // of the noise
	Records   []Record
	Warnings  []warning.Warning // about its source

	read map[dayKey]string // the place of the row that was read, by unit and date
}

// NewSample returns an empty sample of the variables, for each CPU or each host.
func NewSample(variables []Variable, perCPU bool, shape string) (*Sample, error) {
	if err := checkVariables(variables); err != nil {
		return nil, err
	}
	return &Sample{Variables: variables, PerCPU: perCPU, Shape: shape}, nil
}

// ReadOptions says how to read a table of coefficients. Columns of hosts, CPUs and dates have fixed names.
type ReadOptions struct {
	Columns []string // by variable: the column (name in lower case) that has it
	Class   string   // the column with the class of the unit; default: none
	Where   []calibrate.Condition
}

// Read adds the rows of a table of coefficients: each row is one day of a unit. Rows of one day
// that say different times count as days of their own; two with the same date are an error.
func (s *Sample) Read(r *table.Reader, o ReadOptions) (err error) {
	defer textutil.Stopped(&err)
	// Columns of the unit and of its day have several usual names; those of coefficients are the
	// user's. find returns the column of a name, -1 where it is not asked for.
	find := func(asked bool, missing string, names ...string) int {
		if !asked {
			return -1
		}
		at := textutil.Must(r.Column(names...))
		if at < 0 {
			textutil.Stop(r.Errorf("%s", missing))
		}
		return at
	}
	host := find(true, "no column host (or node, hostname)", "host", "node", "hostname")
	date := find(true, "no column date (or start_time, timestamp), by which days are told apart",
		"date", "start_time", "timestamp")
	cpu := find(s.PerCPU, "no column cpu, as a model per CPU needs", "cpu")
	class := find(o.Class != "", fmt.Sprintf("no column %q with the class of hosts", o.Class), o.Class)
	var values []int // columns of the coefficients, by variable
	for i, name := range o.Columns {
		values = append(values, find(true, fmt.Sprintf("no column %q with %s", name, s.Variables[i]), name))
	}
	asked := textutil.Must(calibrate.Filter(r, o.Where))
	if s.read == nil {
		s.read = map[dayKey]string{}
	}
	return r.Each(asked, func() error {
		if len(s.Records) == maxRecords {
			return r.Errorf("more than %d rows", maxRecords)
		}
		record := Record{Host: strings.Clone(r.Text(host)), CPU: noCPU} // fields are parts of a line, which is large
		if record.Host == "" {
			return r.Errorf("%w: no host", calibrate.ErrMeaningless)
		}
		if cpu >= 0 {
			number := textutil.Must(r.Count(cpu))
			if number >= maxCPUs {
				return r.Errorf("cpu %d, want less than %d", number, maxCPUs)
			}
			record.CPU = int(number)
		}

		// A date is read once of each unit.
		text := r.Text(date)
		if _, err := calibrate.DayOf(text); err != nil {
			return r.Errorf("%w", err)
		}
		key := dayKey{place{record.Host, record.CPU}, strings.Clone(text)}
		if before, ok := s.read[key]; ok {
			return r.Errorf("%w: host %v at date %s again, which %s has", calibrate.ErrMeaningless, key.place, text, before)
		}
		s.read[key] = r.Place()

		if class >= 0 {
			if record.Class = strings.Clone(r.Text(class)); record.Class == "" {
				return r.Errorf("no class")
			}
		}
		for i, column := range values {
			x := textutil.Must(r.Number(column))
			if !(x > -mostSeconds && x < mostSeconds) {
				return r.Errorf("%s: %g s, want less than %g: is the unit seconds?", s.Variables[i], x, mostSeconds)
			}
			// Other terms of fitted polynomials may be below zero.
			if x <= 0 && !s.Variables[i].Noise && isFirst(s.Variables, i) {
				return r.Errorf("%s: %g s, want more than 0", s.Variables[i], x)
			}
			record.Values = append(record.Values, x)
		}
		s.Records = append(s.Records, record)
		return nil
	})
}

// mostSeconds bounds coefficients, so that products of them stay finite.
const mostSeconds = 1e9

// FromFits returns the sample of fits that are one for each host or CPU and day: the coefficients of each kernel and,
// of kernels of which sizes were timed repeatedly, the noise as a multiple of the first term.
func FromFits(r *calibrate.KernelReport, perCPU bool) (*Sample, error) {
	s := &Sample{PerCPU: perCPU, Shape: Normal, Warnings: r.Warnings}

	// Noise that is skewed to the right is taken for half-normal.
	skewness, n := 0.0, 0
	for _, f := range r.Functions {
		if noise := f.All.NoiseModel; noise != nil && noise.Skewness != nil {
			skewness += *noise.Skewness
			n++
		}
	}
	if n > 0 && calibrate.IsHalfNormal(skewness/float64(n)) {
		s.Shape = HalfNormal
	}

	at := map[dayKey]int{} // in Records
	for i := range r.Functions {
		f := &r.Functions[i]

		// Sizes of a kernel were timed repeatedly on each day of each host, or on none.
		without := slices.IndexFunc(f.Groups, func(g calibrate.Fit) bool { return g.NoiseModel == nil })
		if without >= 0 && slices.ContainsFunc(f.Groups, func(g calibrate.Fit) bool { return g.NoiseModel != nil }) {
			key := keyOf(&f.Groups[without])
			return nil, fmt.Errorf("%w: no size of %s was timed twice on %s on %s, though elsewhere some were: "+
				"leave that day of it out, or time it again", calibrate.ErrMeaningless, f.Function, key.place, key.day)
		}
		// The noise is a variable of the kernel if all of its fits tell it: a vector has no holes.
		noisy := without < 0

		// The terms of its models, the main one first. Fits have no constant that no host's fit has.
		var terms []string
		for _, g := range f.Groups {
			for _, c := range g.Coefficients {
				if !slices.Contains(terms, c.Term) {
					terms = append(terms, c.Term)
				}
			}
		}
		for _, term := range terms {
			s.Variables = append(s.Variables, Variable{Kernel: f.Function, Term: term})
		}
		// The deviation of a call is in proportion to the main term.
		if noisy && len(f.Groups) > 0 {
			s.Variables = append(s.Variables, Variable{Kernel: f.Function, Term: terms[0], Noise: true})
		}

		// Each group is the fit of one unit on one day. The first kernel makes the records, the others complete them.
		for j := range f.Groups {
			g := &f.Groups[j]
			key := keyOf(g)
			k, ok := at[key]
			if !ok {
				k = len(s.Records)
				at[key] = k
				s.Records = append(s.Records, Record{Host: key.host, CPU: key.cpu})
			}
			// A fit without a term has a coefficient of 0.
			values, errs := make([]float64, len(terms)), make([]float64, len(terms))
			for _, c := range g.Coefficients {
				i := slices.Index(terms, c.Term)
				values[i], errs[i] = c.Value, c.StdErr
			}
			if noisy {
				values, errs = append(values, g.NoiseModel.MainTerm), append(errs, 0)
			}
			s.Records[k].Values = append(s.Records[k].Values, values...)
			s.Records[k].Errors = append(s.Records[k].Errors, errs...)
		}
		// A vector must have all its coordinates.
		for _, r := range s.Records {
			if len(r.Values) != len(s.Variables) {
				return nil, fmt.Errorf("%w: %s was not measured on each day of host %s, but other kernels were",
					calibrate.ErrMeaningless, f.Function, r.Host)
			}
		}
	}
	return s, nil
}

// place is a host, or one of its CPUs.
type place struct {
	host string
	cpu  int // or noCPU
}

// String returns the name of a host, or HOST:CPU.
func (p place) String() string {
	if p.cpu == noCPU {
		return p.host
	}
	return fmt.Sprintf("%s:%d", p.host, p.cpu)
}

// dayKey is a unit on a day, or at a date.
type dayKey struct {
	place
	day string
}

// keyOf returns the unit and the day of a fit.
func keyOf(g *calibrate.Fit) dayKey {
	key := dayKey{place{g.Host, noCPU}, g.Day}
	if g.CPU != nil {
		key.cpu = *g.CPU
	}
	return key
}

// unitOf is a unit with its records.
type unitOf struct {
	place
	class   string
	records []*Record
	mean    []float64 // over its days
}

// units gathers the records by unit, in order of hosts and CPUs.
func (s *Sample) units() ([]*unitOf, error) {
	// Records of a unit need not be neighbours in the table.
	byPlace := map[place]*unitOf{}
	var list []*unitOf
	for i := range s.Records {
		r := &s.Records[i]
		at := place{r.Host, r.CPU}
		u := byPlace[at]
		if u == nil {
			u = &unitOf{place: at, class: r.Class}
			byPlace[at] = u
			list = append(list, u)
		}
		// A unit belongs to one class on all of its days.
		if u.class != r.Class {
			return nil, fmt.Errorf("%w: %s is in classes %q and %q", calibrate.ErrMeaningless, u, u.class, r.Class)
		}
		u.records = append(u.records, r)
	}
	// Days of a unit count alike, whatever the number of their timings.
	for _, u := range list {
		u.mean = make([]float64, len(s.Variables))
		for _, r := range u.records {
			for i, x := range r.Values {
				u.mean[i] += x / float64(len(u.records))
			}
		}
	}
	// The order of reports, and of sums, does not depend on that of the rows.
	slices.SortFunc(list, func(a, b *unitOf) int {
		return cmp.Or(calibrate.CompareHosts(a.host, b.host), cmp.Compare(a.cpu, b.cpu))
	})
	return list, nil
}
