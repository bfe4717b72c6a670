package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/calibrate"
	"reprise/calibrate/table"
	"reprise/trace/warning"
)

// A sample is what was found of hosts, or of their CPUs (the unit, by --per), on some days: a
// record of coefficients for each.

// maxRecords bounds the number of rows of coefficients.
const maxRecords = 1 << 20

// noCPU is the CPU where the unit is a host.
const noCPU = -1

// Record is what was found of a unit on one day.
type Record struct {
	Host   string
	CPU    int       // -1 where the unit is a host
	Class  string    // to which the unit belongs, if that is known
	Values []float64 // by variable
	Errors []float64 // their standard errors, 0 where none is known; nil of coefficients
}

// Sample is what was found of a machine.
type Sample struct {
	Variables []Variable
	PerCPU    bool
	Shape     string // of the noise
	Records   []Record
	Warnings  []warning.Warning // about what it is from

	read map[dayKey]string // where the row of a unit and date is that was read
}

// NewSample returns an empty sample of the variables, for each CPU or each host.
func NewSample(variables []Variable, perCPU bool, shape string) (*Sample, error) {
	if err := checkVariables(variables); err != nil {
		return nil, err
	}
	return &Sample{Variables: variables, PerCPU: perCPU, Shape: shape}, nil
}

// ReadOptions says how to read a table of coefficients.
type ReadOptions struct {
	Columns []string // by variable: the column (name in lower case) that has it
	Class   string   // the column with the class of the unit; default: none
	Where   []calibrate.Condition
}

// Read adds the rows of a table of coefficients: each row is one day of a unit. Rows
// of one day that say different times count as days of their own; two with the same date are an error.
func (s *Sample) Read(r *table.Reader, o ReadOptions) error {
	c, err := s.findColumns(r, o)
	if err != nil {
		return err
	}
	asked, err := calibrate.Filter(r, o.Where)
	if err != nil {
		return err
	}
	if s.read == nil {
		s.read = map[dayKey]string{}
	}
	return r.Each(asked, func() error { return s.readRow(r, c) })
}

// columns is where a table of coefficients has what; -1: nowhere.
type columns struct {
	host, cpu, date, class int
	values                 []int
}

func (s *Sample) findColumns(r *table.Reader, o ReadOptions) (c columns, err error) {
	if err := r.CheckSeparator(); err != nil {
		return c, err
	}
	if c.host, err = r.Column("host", "node", "hostname"); err != nil {
		return c, err
	}
	if c.date, err = r.Column("date", "start_time", "timestamp"); err != nil {
		return c, err
	}
	c.cpu, c.class = -1, -1
	if s.PerCPU {
		if c.cpu, err = r.Column("cpu"); err != nil {
			return c, err
		}
	}
	if o.Class != "" {
		if c.class, err = r.Column(o.Class); err != nil {
			return c, err
		}
	}
	switch {
	case c.host < 0:
		return c, r.Errorf("no column host (or node, hostname)")
	case c.date < 0:
		return c, r.Errorf("no column date (or start_time, timestamp), by which days are told apart")
	case s.PerCPU && c.cpu < 0:
		return c, r.Errorf("no column cpu, as a model per CPU needs")
	case o.Class != "" && c.class < 0:
		return c, r.Errorf("no column %q with the class of hosts", o.Class)
	}
	for i, name := range o.Columns {
		at, err := r.Column(name)
		if err != nil {
			return c, err
		}
		if at < 0 {
			return c, r.Errorf("no column %q with %s", name, s.Variables[i])
		}
		c.values = append(c.values, at)
	}
	return c, nil
}

func (s *Sample) readRow(r *table.Reader, c columns) error {
	if len(s.Records) == maxRecords {
		return r.Errorf("more than %d rows", maxRecords)
	}
	record := Record{Host: strings.Clone(r.Text(c.host)), CPU: noCPU}
	if record.Host == "" {
		return r.Errorf("%w: no host", calibrate.ErrMeaningless)
	}
	if c.cpu >= 0 {
		cpu, err := r.Count(c.cpu)
		if err != nil {
			return err
		}
		if cpu >= maxCPUs {
			return r.Errorf("cpu %d, want less than %d", cpu, maxCPUs)
		}
		record.CPU = int(cpu)
	}
	if err := s.checkDate(r, record, r.Text(c.date)); err != nil {
		return err
	}
	if c.class >= 0 {
		if record.Class = strings.Clone(r.Text(c.class)); record.Class == "" {
			return r.Errorf("no class")
		}
	}
	for i, column := range c.values {
		x, err := r.Number(column)
		if err != nil {
			return err
		}
		if !(x > -mostSeconds && x < mostSeconds) {
			return r.Errorf("%s: %g s, want less than %g: is the unit seconds?", s.Variables[i], x, mostSeconds)
		}
		if x <= 0 && !s.Variables[i].Noise && isFirst(s.Variables, i) {
			return r.Errorf("%s: %g s, want more than 0", s.Variables[i], x)
		}
		record.Values = append(record.Values, x)
	}
	s.Records = append(s.Records, record)
	return nil
}

// checkDate refuses what is no date, and a second row of a unit at one date.
func (s *Sample) checkDate(r *table.Reader, of Record, date string) error {
	if _, err := calibrate.DayOf(date); err != nil {
		return r.Errorf("%w", err)
	}
	key := dayKey{of.Host, of.CPU, strings.Clone(date)}
	if place, ok := s.read[key]; ok {
		return r.Errorf("%w: host %s at date %s again, which %s has", calibrate.ErrMeaningless, unitName(of.Host, of.CPU),
			date, place)
	}
	s.read[key] = r.Place()
	return nil
}

// mostSeconds bounds coefficients, so that products of them stay finite.
const mostSeconds = 1e9

// FromFits returns the sample of fits that are one for each host or CPU and day:
// the coefficients of each kernel and, of kernels of which sizes were timed repeatedly, the
// noise as a multiple of the first term.
func FromFits(r *calibrate.KernelReport, perCPU bool) (*Sample, error) {
	s := &Sample{PerCPU: perCPU, Shape: shapeOf(r), Warnings: r.Warnings}
	at := map[dayKey]int{}
	for i := range r.Functions {
		f := &r.Functions[i]
		noisy, err := hasNoise(f)
		if err != nil {
			return nil, err
		}
		terms := termsOf(f)
		for _, term := range terms {
			s.Variables = append(s.Variables, Variable{Kernel: f.Function, Term: term})
		}
		if noisy && len(f.Groups) > 0 {
			s.Variables = append(s.Variables, Variable{Kernel: f.Function, Term: terms[0], Noise: true})
		}
		for j := range f.Groups {
			g := &f.Groups[j]
			key := keyOf(g)
			k, ok := at[key]
			if !ok {
				k = len(s.Records)
				at[key] = k
				s.Records = append(s.Records, Record{Host: key.host, CPU: key.cpu})
			}
			// a term that it does not have costs nothing
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
		for _, r := range s.Records {
			if len(r.Values) != len(s.Variables) {
				return nil, fmt.Errorf("%w: %s was not measured on each day of host %s, but other kernels were",
					calibrate.ErrMeaningless, f.Function, r.Host)
			}
		}
	}
	return s, nil
}

// hasNoise reports whether sizes of a kernel were timed repeatedly: on each day of each
// host, or on none.
func hasNoise(f *calibrate.FunctionReport) (bool, error) {
	without := slices.IndexFunc(f.Groups, func(g calibrate.Fit) bool { return g.NoiseModel == nil })
	if without < 0 {
		return true, nil
	}
	if slices.ContainsFunc(f.Groups, func(g calibrate.Fit) bool { return g.NoiseModel != nil }) {
		key := keyOf(&f.Groups[without])
		return false, fmt.Errorf("%w: no size of %s was timed twice on %s on %s, though elsewhere some were: leave that day of it out, or time it again", calibrate.ErrMeaningless, f.Function, unitName(key.host, key.cpu), key.day)
	}
	return false, nil
}

// dayKey is a unit on a day, or at a date.
type dayKey struct {
	host string
	cpu  int
	day  string
}

func keyOf(g *calibrate.Fit) dayKey {
	key := dayKey{g.Host, noCPU, g.Day}
	if g.CPU != nil {
		key.cpu = *g.CPU
	}
	return key
}

// termsOf returns the terms of a kernel's model, the main one first. A constant
// that no host's fit has is left out with the fits.
func termsOf(f *calibrate.FunctionReport) []string {
	var terms []string
	for _, g := range f.Groups {
		for _, c := range g.Coefficients {
			if !slices.Contains(terms, c.Term) {
				terms = append(terms, c.Term)
			}
		}
	}
	return terms
}

// shapeOf takes noise that is skewed to the right for half-normal.
func shapeOf(r *calibrate.KernelReport) string {
	sum, n := 0.0, 0
	for _, f := range r.Functions {
		if noise := f.All.NoiseModel; noise != nil && noise.Skewness != nil {
			sum += *noise.Skewness
			n++
		}
	}
	if n > 0 && calibrate.IsHalfNormal(sum/float64(n)) {
		return HalfNormal
	}
	return Normal
}

// unitOf is a host, or one of its CPUs, with what was found of it.
type unitOf struct {
	host, class string
	cpu         int
	records     []*Record
	mean        []float64 // over its days
}

// units gathers the records by unit, in order of hosts and CPUs.
func (s *Sample) units() ([]*unitOf, error) {
	type key struct {
		host string
		cpu  int
	}
	byKey := map[key]*unitOf{}
	var list []*unitOf
	for i := range s.Records {
		r := &s.Records[i]
		u := byKey[key{r.Host, r.CPU}]
		if u == nil {
			u = &unitOf{host: r.Host, cpu: r.CPU, class: r.Class}
			byKey[key{r.Host, r.CPU}] = u
			list = append(list, u)
		}
		if u.class != r.Class {
			return nil, fmt.Errorf("%w: %s is in classes %q and %q", calibrate.ErrMeaningless, u.name(), u.class, r.Class)
		}
		u.records = append(u.records, r)
	}
	for _, u := range list {
		u.mean = make([]float64, len(s.Variables))
		for _, r := range u.records {
			for i, x := range r.Values {
				u.mean[i] += x / float64(len(u.records))
			}
		}
	}
	slices.SortFunc(list, func(a, b *unitOf) int {
		return cmp.Or(calibrate.CompareHosts(a.host, b.host), cmp.Compare(a.cpu, b.cpu))
	})
	return list, nil
}

func (u *unitOf) name() string { return unitName(u.host, u.cpu) }

// unitName returns the name of a host, or HOST:CPU.
func unitName(host string, cpu int) string {
	if cpu == noCPU {
		return host
	}
	return fmt.Sprintf("%s:%d", host, cpu)
}
