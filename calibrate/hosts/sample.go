package hosts

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/calibrate"
	"reprise/trace/warning"
)

// This file makes samples, from which Estimate estimates models: FromFits.

// noCPU is the CPU where the unit is a host.
const noCPU = -1

// Record has the coefficients of a unit on one day. Units are hosts, or their CPUs.
type Record struct {
	Host   string
	CPU    int       // -1 where the unit is a host
	Values []float64 // by variable
	Errors []float64 // their standard errors, 0 where none is known; nil if that is so of all
}

// Sample has the records of a machine, one for each unit and day.
type Sample struct {
	Variables []Variable
	PerCPU    bool
	Shape     string // of the noise
	Records   []Record
	Warnings  []warning.Warning // about its source
}

// FromFits returns the sample of models that are one for each host or CPU and day: the coefficients
// of each kernel and, of kernels of which sizes were timed repeatedly, the noise as a multiple of
// the first term. Kernels of several pieces are left out.
func FromFits(r *calibrate.LearnReport, perCPU bool) (*Sample, error) {
	s := &Sample{PerCPU: perCPU, Shape: Normal, Warnings: r.Warnings}
	skewness, n := 0.0, 0
	at := map[dayKey]int{} // in Records
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if len(k.Pieces) > 1 {
			s.Warnings = append(s.Warnings, warning.New("%s: %d pieces, one for each of its labels, which a model of hosts "+
				"does not have: left out", k.Function, len(k.Pieces)))
			continue
		}
		if x := k.Pieces[0].Skewness; x != 0 {
			skewness, n = skewness+x, n+1
		}
		// Sizes of a kernel were timed repeatedly on each day of each host, or on none. The noise is
		// a variable of the kernel if all of its fits tell it: a vector has no holes.
		timedOnce := func(g calibrate.LearnedGroup) bool { return g.Pieces[0].Variation == 0 }
		without := slices.IndexFunc(k.Groups, timedOnce)
		if without >= 0 && slices.ContainsFunc(k.Groups, func(g calibrate.LearnedGroup) bool { return !timedOnce(g) }) {
			key := keyOf(k.Groups[without].Place)
			return nil, fmt.Errorf("%w: no size of %s was timed twice on %s on %s, though elsewhere some were: "+
				"leave that day of it out, or time it again", calibrate.ErrMeaningless, k.Function, key.place, key.day)
		}
		terms := k.Pieces[0].Coefficients
		for _, c := range terms {
			s.Variables = append(s.Variables, Variable{Kernel: k.Function, Term: c.Term})
		}
		// The deviation of a call is in proportion to the main term.
		if without < 0 && len(k.Groups) > 0 {
			s.Variables = append(s.Variables, Variable{Kernel: k.Function, Term: terms[0].Term, Noise: true})
		}

		// Each group is the model of one unit on one day. The first kernel makes the records, the others complete them.
		for j := range k.Groups {
			key, piece := keyOf(k.Groups[j].Place), &k.Groups[j].Pieces[0]
			in, ok := at[key]
			if !ok {
				in = len(s.Records)
				at[key] = in
				s.Records = append(s.Records, Record{Host: key.host, CPU: key.cpu})
			}
			// A model without a term has a coefficient of 0.
			values, errs := make([]float64, len(terms)), make([]float64, len(terms))
			for _, c := range piece.Coefficients {
				at := slices.IndexFunc(terms, func(t calibrate.Coefficient) bool { return t.Term == c.Term })
				values[at], errs[at] = c.Value, c.StdErr
			}
			if without < 0 {
				values, errs = append(values, piece.Variation*values[0]), append(errs, 0)
			}
			record := &s.Records[in]
			record.Values, record.Errors = append(record.Values, values...), append(record.Errors, errs...)
		}
		// A vector must have all its coordinates.
		for _, r := range s.Records {
			if len(r.Values) != len(s.Variables) {
				return nil, fmt.Errorf("%w: %s was not measured on each day of host %s, but other kernels were",
					calibrate.ErrMeaningless, k.Function, r.Host)
			}
		}
	}
	// Noise that is skewed to the right is taken for half-normal.
	if n > 0 && calibrate.IsHalfNormal(skewness/float64(n)) {
		s.Shape = HalfNormal
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

// dayKey is a unit on a day.
type dayKey struct {
	place
	day string
}

// keyOf returns the unit and the day of a model.
func keyOf(p calibrate.Place) dayKey {
	key := dayKey{place{p.Host, noCPU}, p.Day}
	if p.CPU != nil {
		key.cpu = *p.CPU
	}
	return key
}

// unitOf is a unit with its records.
type unitOf struct {
	place
	records []*Record
	mean    []float64 // over its days
}

// units gathers the records by unit, in order of hosts and CPUs.
func (s *Sample) units() []*unitOf {
	// Records of a unit need not be neighbours in the table.
	byPlace := map[place]*unitOf{}
	var list []*unitOf
	for i := range s.Records {
		r := &s.Records[i]
		at := place{r.Host, r.CPU}
		u := byPlace[at]
		if u == nil {
			u = &unitOf{place: at}
			byPlace[at] = u
			list = append(list, u)
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
	return list
}
