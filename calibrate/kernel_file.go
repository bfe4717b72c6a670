package calibrate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/wording"
)

// FileOptions says what WriteYAML writes besides the coefficients.
type FileOptions struct {
	Description, Source string
	HostName            string // the name of a host on the platform, {} standing for the one in the table; default: {}
	Empty               string // "free" or "charged": what calls with a dimension of zero cost; default: free
	Noise               string // NoNoise, Normal, HalfNormal, or Auto by the skewness of the timings; default: NoNoise
	// Base is a kernel file, without models of hosts, whose other kernels are taken
	// over; default: none.
	Base     []byte
	BaseName string // for the description
}

// Validate reports what is wrong with the options.
func (o *FileOptions) Validate() error {
	var errs []error
	name := strings.ReplaceAll(o.HostName, "{}", "0")
	switch {
	case name == "":
	case name == o.HostName:
		errs = append(errs, fmt.Errorf("host name %q, want {} where the host's name in the table stands", o.HostName))
	case name != wording.Plain(name):
		errs = append(errs, fmt.Errorf("host name %q, want letters, digits, points, _ and - beside {}", o.HostName))
	}
	if o.Empty != "" && o.Empty != "free" && o.Empty != "charged" {
		errs = append(errs, fmt.Errorf("empty calls %q, want free or charged", o.Empty))
	}
	if o.Noise != "" && !slices.Contains([]string{NoNoise, Normal, HalfNormal, Auto}, o.Noise) {
		errs = append(errs, fmt.Errorf("noise %q, want none, normal, half-normal or auto", o.Noise))
	}
	if len(o.Base) > 0 {
		errs = append(errs, CheckBase(o.Base))
	}
	return errors.Join(errs...)
}

// WriteYAML writes the models as a kernel file (docs/kernels.md): those of all
// points, and, where there are any, those of each host or CPU. Coefficients have as many digits as it
// takes to read the same numbers again. Noise is asked for by the options; what has none is
// CheckNoise's to say.
func (r *KernelReport) WriteYAML(w io.Writer, o FileOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if r.hasDays() {
		return errors.New("fits of several days make no kernel file: read the timings without keeping days apart")
	}
	if err := CheckCPUs(r.cpuNumbers); err != nil {
		return err
	}
	if o.HostName == "" {
		o.HostName = "{}"
	}
	var b strings.Builder
	if len(o.Base) == 0 {
		r.writeFile(&b, o)
	} else if err := r.writeOnBase(&b, o); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFile writes a file of its own.
func (r *KernelReport) writeFile(b *strings.Builder, o FileOptions) {
	b.WriteString("version: 1\n")
	for _, text := range []struct{ key, value string }{{"description", o.Description}, {"source", o.Source}} {
		if text.value != "" {
			fmt.Fprintf(b, "%s: %s\n", text.key, strconv.Quote(text.value))
		}
	}
	b.WriteString("unit: s # coefficients: seconds per unit of the product\n")
	if n := r.cpus(); n > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", n)
	}
	b.WriteString("kernels:\n")
	for i := range r.Functions {
		f := &r.Functions[i]
		fmt.Fprintf(b, "  # %s, %d timings of %d sizes, R2 %.6f\n", f.Model, f.All.Timings, f.All.Points, f.All.R2)
		fmt.Fprintf(b, "  %s\n", f.All.yaml(f.Function, &o))
	}
	r.writeUnfit(b)
	if r.hasGroups() {
		b.WriteString("hosts:\n")
	}
	r.writeHosts(b, o)
}

func (r *KernelReport) hasGroups() bool {
	return slices.ContainsFunc(r.Functions, func(f FunctionReport) bool { return len(f.Groups) > 0 })
}

func (r *KernelReport) hasDays() bool {
	return slices.ContainsFunc(r.Functions, func(f FunctionReport) bool {
		return slices.ContainsFunc(f.Groups, func(g Fit) bool { return g.Day != "" })
	})
}

// writeHosts writes the models of hosts and CPUs, by function.
func (r *KernelReport) writeHosts(b *strings.Builder, o FileOptions) {
	for i := range r.Functions {
		f := &r.Functions[i]
		for j := range f.Groups {
			g := &f.Groups[j]
			fmt.Fprintf(b, "  - host: %s\n", strconv.Quote(strings.ReplaceAll(o.HostName, "{}", g.Host)))
			if g.CPU != nil {
				fmt.Fprintf(b, "    cpu: %d\n", *g.CPU)
			}
			fmt.Fprintf(b, "    kernels: {%s}\n", g.yaml(f.Function, &o))
		}
	}
}

// cpus returns the number of CPUs of a host, as far as timings tell: the largest number plus
// one. CPUs without a model of their own count, too, as ranks take all in turn.
func (r *KernelReport) cpus() int { return slices.Max(append(r.cpuNumbers, 0)) + 1 }

// CheckCPUs refuses numbers of CPUs, those of all hosts, that leave one out: ranks of a
// host take its CPUs in turn, from 0 on, so models of 1 and 2 alone would be for other ranks than meant.
func CheckCPUs(numbers []int) error {
	seen := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		seen[n] = true
	}
	for n := range len(seen) {
		if !seen[n] {
			return fmt.Errorf("%w: no host has timings of CPU %d, but some have of CPU %d: want the CPUs of a host numbered from 0", ErrMeaningless, n, slices.Max(numbers))
		}
	}
	return nil
}

// yaml returns "dgemm: {terms: {M*N*K: 7e-11, 1: 2e-7}}".
func (f *Fit) yaml(name string, o *FileOptions) string {
	noise := f.noise(o.Noise)
	if noise == "" && len(o.Base) > 0 {
		noise = NoNoise // that of the base is of other models
	}
	if noise != "" {
		noise = ", noise: " + noise
	}
	empty := ""
	if o.Empty != "" && o.Empty != "free" {
		empty = "empty: " + o.Empty + ", "
	}
	unit := ""
	if len(o.Base) > 0 {
		unit = "unit: s, " // that of the base may be another
	}
	return fmt.Sprintf("%s: {%s%sterms: {%s}%s}", name, unit, empty, yamlTerms(f.Coefficients), noise)
}

// FormatNumber returns the shortest text that reads as x, with a point so that every
// YAML reader takes it for a number: 7.0e-11.
func FormatNumber(x float64) string {
	s := strconv.FormatFloat(x, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	return mantissa + "e" + exponent
}
