package hosts

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/calibrate"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels/noise"
)

// This file draws machines from a model (Model.Draw) and writes them as kernel files.

// Uses of random numbers: each has numbers of its own, which are independent of a replay's with the same seed.
const (
	// The letters "host" in ASCII, which no use of a replay has.
	useClass noise.Use = 0x686f7374 + iota
	useBetween
	useWithin
)

// Limits of draws. Hosts and attempts are parts of the names of draws.
const (
	maxHosts     = 1 << 20
	mostAttempts = 1 << 10
)

// Drawn is a host, or a CPU of a host, that was drawn. Values are in the order of the model's variables.
type Drawn struct {
	Class    int       // index in the model
	Values   []float64 // by variable
	Attempts int       // how often values out of range were drawn again
}

// DrawOptions says which machine to draw.
type DrawOptions struct {
	// The hosts have numbers from 0, and each number its own draws: more hosts are those of fewer, and some besides.
	Hosts int
	Seed  uint64
	Day   int // from 1: the same machine on another day; 0: on average
}

// Validate returns the error of options that are out of range.
func (o DrawOptions) Validate() error {
	switch {
	case o.Hosts < 1 || o.Hosts > maxHosts:
		return fmt.Errorf("%d hosts, want 1 to %d", o.Hosts, maxHosts)
	case o.Day < 0 || o.Day > maxDays:
		return fmt.Errorf("day %d, want 0 to %d", o.Day, maxDays)
	}
	return nil
}

// maxDays is the last day; days are part of the names of draws.
const maxDays = 1 << 30

// Machine is a machine that was drawn. The CPUs of a host stand one after another in Processors,
// whose length is hosts times CPUs of each.
type Machine struct {
	Options    DrawOptions
	Model      *Model
	Processors []Drawn // by host, and by CPU of the host
}

// Draw draws a machine: of each host or CPU a class, its average and, unless the day is 0, its values on that day. The
// draws of a host do not depend on the number of hosts, and its average does not depend on the day.
func (m *Model) Draw(o DrawOptions) (machine *Machine, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	// The bound is that of the names of draws and of memory.
	if units := o.Hosts * m.CPUsPerHost; units > maxHosts {
		return nil, fmt.Errorf("%d hosts of %d CPUs, want at most %d CPUs in all", o.Hosts, m.CPUsPerHost, maxHosts)
	}
	// A model that was made by hand may be none: the factors below need covariances.
	textutil.Check(m.Validate())
	// Of each class the factors of both covariances, which make correlated values of independent ones.
	var spatial, temporal [][][]float64
	for i := range m.Classes {
		spatial = append(spatial, textutil.Must(factor(m.Classes[i].Spatial)))
		temporal = append(temporal, textutil.Must(factor(m.Classes[i].Temporal)))
	}
	source := noise.NewSource(o.Seed)
	var drawn []Drawn
	for host := range o.Hosts {
		for cpu := range m.CPUsPerHost {
			// The class is drawn by the weights; what rounding leaves of them is the last one's.
			u := Drawn{}
			bits := source.Draw(useClass, uint32(host), 0, name(cpu, 0, 0))
			left := float64(bits[0]) * 0x1p-32
			for u.Class < len(m.Classes)-1 && left >= m.Classes[u.Class].Weight {
				left -= m.Classes[u.Class].Weight
				u.Class++
			}
			// The average of the unit is drawn about the mean of its class, the day about that average.
			u.Values = m.Classes[u.Class].Mean
			u.move(m, source, spatial[u.Class], useBetween, host, cpu, 0)
			if o.Day > 0 {
				u.move(m, source, temporal[u.Class], useWithin, host, cpu, o.Day)
			}
			drawn = append(drawn, u)
		}
	}
	return &Machine{o, m, drawn}, nil
}

// name is the last part of the name of a draw: 10 bits for the CPU, 16 for the attempt and 6 for the variable.
func name(cpu, attempt, variable int) uint32 {
	return uint32(cpu)<<22 | uint32(attempt)<<6 | uint32(variable)
}

// move adds l·z to the values, where z is a vector of standard normal deviates. It draws z again while a value is out
// of range, as a time below zero; after mostAttempts it ends [Model.Draw] with an error. The deviates are named by use,
// host, day, CPU, attempt and variable, so that the draws of a unit depend on nothing else.
func (u *Drawn) move(m *Model, source noise.Source, l [][]float64, use noise.Use, host, cpu, day int) {
	x, z := make([]float64, len(u.Values)), make([]float64, len(u.Values))
	for attempt := range mostAttempts {
		for i := range z {
			z[i] = source.Draw(use, uint32(host), uint32(day), name(cpu, attempt, i)).Normal()
		}
		// A vector is drawn again as a whole, which keeps the correlations of the values in range.
		valid := true
		for i := range x {
			x[i] = u.Values[i]
			for k := 0; k <= i; k++ {
				x[i] += float64(l[i][k] * z[k])
			}
			valid = valid && inRange(m.Variables, i, x[i])
		}
		if valid {
			u.Values = x
			return
		}
		u.Attempts++
	}
	textutil.Stop(fmt.Errorf("host %d: %d draws of class %q with times below zero: its deviations are too large for its "+
		"mean", host, mostAttempts, m.Classes[u.Class].Name))
}

// FileOptions has the parts of a kernel file besides the coefficients. {} in the name of a host
// stands for its number from 0; the noise is that of the model.
type FileOptions = calibrate.FileOptions

// WriteYAML writes the machine as a kernel file (docs/kernels.md): one entry for
// each host or CPU. Ranks on other hosts have the base's models, or, without one, the average.
func (m *Machine) WriteYAML(w io.Writer, o FileOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	// The text is kept in memory until it is complete: a file that is too long to be read is refused as a whole.
	var kernels []string // in the order of their first variables
	for _, v := range m.Model.Variables {
		if !slices.Contains(kernels, v.Kernel) {
			kernels = append(kernels, v.Kernel)
		}
	}
	var b strings.Builder
	// The head: that of the base, with its kernels, or a file of its own whose hosts without a name are average ones.
	if len(o.Base) > 0 {
		if err := calibrate.WriteBase(&b, o.Base, o, m.Model.CPUsPerHost); err != nil {
			return err
		}
	} else {
		b.WriteString("version: 1\n")
		calibrate.WriteTexts(&b, o.Description, o.Source)
		b.WriteString("unit: s\n")
		if m.Model.CPUsPerHost > 1 {
			fmt.Fprintf(&b, "cpus_per_host: %d\n", m.Model.CPUsPerHost)
		}
		b.WriteString("kernels: # of other hosts\n")
		// Ranks on hosts that were not drawn have the mean of the law.
		average := make([]float64, len(m.Model.Variables)) // over the classes
		for _, c := range m.Model.Classes {
			for i := range average {
				average[i] += float64(c.Weight * c.Mean[i])
			}
		}
		for _, kernel := range kernels {
			fmt.Fprintf(&b, "  %s\n", m.Model.entry(kernel, average, o))
		}
		b.WriteString("hosts:\n")
	}
	// A host has an entry for each of its CPUs, which replay takes for the ranks of that CPU.
	for i := range m.Processors {
		host, cpu := i/m.Model.CPUsPerHost, i%m.Model.CPUsPerHost
		fmt.Fprintf(&b, "  - host: %s\n", strconv.Quote(strings.ReplaceAll(o.HostName, "{}", strconv.Itoa(host))))
		if m.Model.PerCPU {
			fmt.Fprintf(&b, "    cpu: %d\n", cpu)
		}
		// All kernels of a unit stand on one line: files of thousands of hosts stay readable.
		entries := textutil.Texts(kernels, func(kernel string) string { return m.Model.entry(kernel, m.Processors[i].Values, o) })
		fmt.Fprintf(&b, "    kernels: {%s}", strings.Join(entries, ", "))
		if len(m.Model.Classes) > 1 {
			fmt.Fprintf(&b, " # %s", m.Model.Classes[m.Processors[i].Class].Name)
		}
		b.WriteString("\n")
		if b.Len() > yamlfile.MaxBytes {
			return fmt.Errorf("kernel file: at most %d bytes can be read, room for %d of the %d hosts", yamlfile.MaxBytes,
				host, m.Options.Hosts)
		}
	}
	return textutil.Write(w, b.String())
}

// entry returns the model of a kernel, with the model's noise if it has any.
func (m *Model) entry(kernel string, values []float64, o FileOptions) string {
	var terms, deviations []calibrate.Coefficient
	for i, v := range m.Variables {
		c := calibrate.Coefficient{Term: v.Term, Value: values[i]}
		switch {
		case v.Kernel != kernel:
		case v.Noise:
			deviations = append(deviations, c)
		default:
			terms = append(terms, c)
		}
	}
	law := ""
	if len(deviations) > 0 {
		law = fmt.Sprintf("{%s: {%s}}", m.Shape, calibrate.FormatTerms(deviations))
	}
	return o.Model(kernel, terms, law, true)
}

// Summary describes a machine that was drawn.
type Summary struct {
	Hosts   int            `json:"hosts"`
	Seed    uint64         `json:"seed"`
	Day     int            `json:"day"`
	Redrawn int            `json:"redrawn"` // values out of range that were drawn again
	Classes []ClassSummary `json:"classes"`
}

// ClassSummary describes the hosts or CPUs of a class that were drawn.
type ClassSummary struct {
	Name  string          `json:"name"`
	Units int             `json:"units"` // hosts, or CPUs
	Range []VariableRange `json:"variables,omitempty"`
}

// VariableRange is the range of the draws of a variable, in seconds per unit of the term.
type VariableRange struct {
	Variable string  `json:"variable"`
	Mean     float64 `json:"mean"`
	Least    float64 `json:"least"`
	Most     float64 `json:"most"`
}

// Summary describes the machine, class by class.
func (m *Machine) Summary() *Summary {
	s := &Summary{Hosts: m.Options.Hosts, Seed: m.Options.Seed, Day: m.Options.Day}
	// The summary is for people who check a machine: draws of a class lie about its mean.
	// A class of which no unit was drawn has no ranges.
	for i, class := range m.Model.Classes {
		c := ClassSummary{Name: class.Name}
		var members [][]float64
		for _, u := range m.Processors {
			if u.Class == i {
				s.Redrawn += u.Attempts
				members = append(members, u.Values)
			}
		}
		if c.Units = len(members); c.Units > 0 {
			for j, v := range m.Model.Variables {
				r := VariableRange{Variable: v.String(), Least: math.Inf(1), Most: math.Inf(-1)}
				for _, x := range members {
					r.Mean += x[j] / float64(len(members))
					r.Least, r.Most = min(r.Least, x[j]), max(r.Most, x[j])
				}
				c.Range = append(c.Range, r)
			}
		}
		s.Classes = append(s.Classes, c)
	}
	return s
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d hosts drawn, seed %d, day %d", s.Hosts, s.Seed, s.Day)
	if s.Redrawn > 0 {
		fmt.Fprintf(&b, "; %d draws below zero were repeated", s.Redrawn)
	}
	b.WriteString("\n")
	for _, c := range s.Classes {
		fmt.Fprintf(&b, "\n%s: %d\n", c.Name, c.Units)
		textutil.WriteAligned(&b, "variable|mean (s)|least|most", func(tab io.Writer) {
			for _, v := range c.Range {
				fmt.Fprintf(tab, "  %s\t%.6e\t%.6e\t%.6e\t\n", v.Variable, v.Mean, v.Least, v.Most)
			}
		})
	}
	return textutil.Write(w, b.String())
}
