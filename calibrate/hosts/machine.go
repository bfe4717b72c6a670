package hosts

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/calibrate"
	"reprise/internal/yamlfile"
)

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
	file := calibrate.FileOptions{Description: o.Description, Source: o.Source, HostName: o.HostName, Empty: o.Empty, Base: o.Base, BaseName: o.BaseName}
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
			return fmt.Errorf("kernel file: at most %d bytes can be read, room for %d of the %d hosts", yamlfile.MaxBytes, i/m.Model.CPUsPerHost, m.Options.Hosts)
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
