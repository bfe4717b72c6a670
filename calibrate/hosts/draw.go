package hosts

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/calibrate"
	"reprise/internal/yamlfile"
	"reprise/kernels/noise"
)

// What draws are for, beyond the uses of a replay: another part of the same seed's
// randomness.
const (
	useClass noise.Use = 0x686f7374 + iota
	useBetween
	useWithin
)

// Limits of draws. A name of a draw has 10 bits for the CPU, 16 for the attempt
// and 6 for the variable.
const (
	maxHosts     = 1 << 20
	mostAttempts = 1 << 10
)

// Drawn is a host, or a CPU of a host, that was drawn.
type Drawn struct {
	Class    int       // index in the model
	Values   []float64 // by variable
	Attempts int       // how often values out of range were drawn again
}

// drawer draws from a model.
type drawer struct {
	*Model
	source            noise.Source
	spatial, temporal [][][]float64 // factors, by class
}

func newDrawer(m *Model, seed uint64) (*drawer, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	d := &drawer{Model: m, source: noise.NewSource(seed)}
	for i := range m.Classes {
		s, err := factor(m.Classes[i].Spatial)
		if err != nil {
			return nil, err
		}
		t, err := factor(m.Classes[i].Temporal)
		if err != nil {
			return nil, err
		}
		d.spatial, d.temporal = append(d.spatial, s), append(d.temporal, t)
	}
	return d, nil
}

// draw returns a unit on a day, which is a function of the seed, the host's number, its
// CPU's, and the day's. On day 0 nothing is added to what the unit is on average. A value
// that no host can have (a time below zero) is drawn again.
func (d *drawer) draw(host, cpu, day int) (*Drawn, error) {
	r := &Drawn{Class: d.class(host, cpu)}
	c := &d.Classes[r.Class]
	mean, err := d.valid(r, c.Mean, d.spatial[r.Class], useBetween, host, cpu, 0)
	if err != nil {
		return nil, err
	}
	r.Values = mean
	if day > 0 {
		r.Values, err = d.valid(r, mean, d.temporal[r.Class], useWithin, host, cpu, day)
	}
	return r, err
}

// class returns the class of a unit.
func (d *drawer) class(host, cpu int) int {
	bits := d.source.Draw(useClass, uint32(host), 0, name(cpu, 0, 0))
	u := float64(bits[0]) * 0x1p-32
	last := len(d.Classes) - 1
	for i := range d.Classes[:last] {
		if u < d.Classes[i].Weight {
			return i
		}
		u -= d.Classes[i].Weight
	}
	return last
}

func name(cpu, attempt, variable int) uint32 {
	return uint32(cpu)<<22 | uint32(attempt)<<6 | uint32(variable)
}

// valid returns center + l·z of the first vector z of standard normal deviates
// with which all values are in range.
func (d *drawer) valid(r *Drawn, center []float64, l [][]float64, use noise.Use, host, cpu,
	day int) ([]float64, error) {
	x, z := make([]float64, len(center)), make([]float64, len(center))
	for attempt := range mostAttempts {
		for i := range z {
			z[i] = d.source.Draw(use, uint32(host), uint32(day), name(cpu, attempt, i)).Normal()
		}
		for i := range x {
			x[i] = center[i]
			for k := 0; k <= i; k++ {
				x[i] += float64(l[i][k] * z[k])
			}
		}
		invalid := false
		for i, v := range x {
			invalid = invalid || !inRange(d.Variables, i, v)
		}
		if !invalid {
			return x, nil
		}
		r.Attempts++
	}
	return nil, fmt.Errorf("host %d: %d draws of class %q with times below zero: its deviations are too large for its mean", host, mostAttempts, d.Classes[r.Class].Name)
}

// DrawOptions says which machine to draw.
type DrawOptions struct {
	Hosts int
	Seed  uint64
	Day   int // from 1: the same machine on another day; 0: on average
}

// Validate reports what is wrong with the options.
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

// Machine is a machine that was drawn.
type Machine struct {
	Options    DrawOptions
	Model      *Model
	Processors []Drawn // by host, and by CPU of the host
}

// Draw draws a machine. What is drawn for a host does not depend on how many
// there are, and its average not on the day.
func (m *Model) Draw(o DrawOptions) (*Machine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if units := o.Hosts * m.CPUsPerHost; units > maxHosts {
		return nil, fmt.Errorf("%d hosts of %d CPUs, want at most %d CPUs in all", o.Hosts, m.CPUsPerHost, maxHosts)
	}
	d, err := newDrawer(m, o.Seed)
	if err != nil {
		return nil, err
	}
	machine := &Machine{Options: o, Model: m}
	for host := range o.Hosts {
		for cpu := range m.CPUsPerHost {
			unit, err := d.draw(host, cpu, o.Day)
			if err != nil {
				return nil, err
			}
			machine.Processors = append(machine.Processors, *unit)
		}
	}
	return machine, nil
}

// FileOptions says what WriteYAML writes besides the coefficients.
type FileOptions struct {
	Description, Source string
	HostName            string // the name of a host on the platform, {} standing for its number from 0
	Empty               string // "free" or "charged": what calls with a dimension of zero cost
	// Base is a kernel file, without models of hosts, whose kernels the machine has too.
	Base     []byte
	BaseName string // for the description
}

// WriteYAML writes the machine as a kernel file (docs/kernels.md): one entry for
// each host or CPU. Ranks on other hosts have the base's models, or, without one, the average.
func (m *Machine) WriteYAML(w io.Writer, o FileOptions) error {
	file := calibrate.FileOptions{Description: o.Description, Source: o.Source, HostName: o.HostName, Empty: o.Empty,
		Base: o.Base, BaseName: o.BaseName}
	if err := file.Validate(); err != nil {
		return err
	}
	var b strings.Builder
	if len(o.Base) == 0 {
		m.writeHead(&b, o)
	} else if err := calibrate.WriteBase(&b, o.Base, file, m.Model.CPUsPerHost); err != nil {
		return err
	}
	for i := range m.Processors {
		if m.writeUnit(&b, i, o); b.Len() > yamlfile.MaxBytes {
			return fmt.Errorf("kernel file: at most %d bytes can be read, room for %d of the %d hosts", yamlfile.MaxBytes,
				i/m.Model.CPUsPerHost, m.Options.Hosts)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHead writes what is before the hosts in a file without a base.
func (m *Machine) writeHead(b *strings.Builder, o FileOptions) {
	b.WriteString("version: 1\n")
	writeTexts(b, o.Description, o.Source)
	b.WriteString("unit: s\n")
	if m.Model.CPUsPerHost > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", m.Model.CPUsPerHost)
	}
	b.WriteString("kernels: # of other hosts\n")
	average := m.Model.average()
	for _, kernel := range m.Model.kernels() {
		fmt.Fprintf(b, "  %s\n", m.Model.entry(kernel, average, o))
	}
	b.WriteString("hosts:\n")
}

func (m *Machine) writeUnit(b *strings.Builder, i int, o FileOptions) {
	host, cpu := i/m.Model.CPUsPerHost, i%m.Model.CPUsPerHost
	fmt.Fprintf(b, "  - host: %s\n", strconv.Quote(strings.ReplaceAll(o.HostName, "{}", strconv.Itoa(host))))
	if m.Model.PerCPU {
		fmt.Fprintf(b, "    cpu: %d\n", cpu)
	}
	var entries []string
	for _, kernel := range m.Model.kernels() {
		entries = append(entries, m.Model.entry(kernel, m.Processors[i].Values, o))
	}
	fmt.Fprintf(b, "    kernels: {%s}", strings.Join(entries, ", "))
	if len(m.Model.Classes) > 1 {
		fmt.Fprintf(b, " # %s", m.Model.Classes[m.Processors[i].Class].Name)
	}
	b.WriteString("\n")
}

// average returns the mean over the classes.
func (m *Model) average() []float64 {
	x := make([]float64, len(m.Variables))
	for _, c := range m.Classes {
		for i := range x {
			x[i] += float64(c.Weight * c.Mean[i])
		}
	}
	return x
}

// kernels returns the kernels of the variables, in order of first appearance.
func (m *Model) kernels() []string {
	var list []string
	for _, v := range m.Variables {
		if !slices.Contains(list, v.Kernel) {
			list = append(list, v.Kernel)
		}
	}
	return list
}

// entry returns "dgemm: {terms: {M*N*K: 7e-11, 1: 2e-7}, noise: {half-normal: {M*N*K: 3e-12}}}".
func (m *Model) entry(kernel string, values []float64, o FileOptions) string {
	var terms, deviations []string
	for i, v := range m.Variables {
		text := v.Term + ": " + calibrate.FormatNumber(values[i])
		switch {
		case v.Kernel != kernel:
		case v.Noise:
			deviations = append(deviations, text)
		default:
			terms = append(terms, text)
		}
	}
	text := kernel + ": {unit: s, "
	if o.Empty == "charged" {
		text += "empty: charged, "
	}
	text += "terms: {" + strings.Join(terms, ", ") + "}"
	switch {
	case len(deviations) > 0:
		text += fmt.Sprintf(", noise: {%s: {%s}}", m.Shape, strings.Join(deviations, ", "))
	case len(o.Base) > 0:
		text += ", noise: " + calibrate.NoNoise // that of the base is of other models
	}
	return text + "}"
}
