package calibrate

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteYAML writes the models as a kernel file (docs/kernels.md): those of all hosts, and, where there are any, those of
// each host or CPU. Coefficients have as many digits as it takes to read the same numbers again.
func (r *LearnReport) WriteYAML(w io.Writer, o FileOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := CheckCPUs(r.cpuNumbers); err != nil {
		return err
	}
	if o.HostName == "" {
		o.HostName = "{}"
	}
	var b strings.Builder
	cpus := slices.Max(append(r.cpuNumbers, 0)) + 1
	if len(o.Base) > 0 {
		if err := WriteBase(&b, o.Base, o, cpus); err != nil {
			return err
		}
		r.writeHosts(&b, o)
		b.WriteString("  - host: \"*\"\n    kernels:\n")
		r.writeKernels(&b, "      ", o, func(k *LearnedKernel) []LearnedPiece { return k.Pieces })
	} else {
		writeHead(&b, o, cpus, r.HostScatter)
		r.writeKernels(&b, "  ", o, func(k *LearnedKernel) []LearnedPiece { return k.Pieces })
		if slices.ContainsFunc(r.Kernels, func(k LearnedKernel) bool { return len(k.Groups) > 0 }) {
			b.WriteString("hosts:\n")
			r.writeHosts(&b, o)
		}
	}
	for _, u := range r.Unfit {
		fmt.Fprintf(&b, "# %s\n", strings.Join(strings.Fields(u.String()), " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHead writes a kernel file up to its kernels.
func writeHead(b *strings.Builder, o FileOptions, cpus int, scatter float64) {
	b.WriteString("version: 1\n")
	for _, text := range []struct{ key, value string }{{"description", o.Description}, {"source", o.Source}} {
		if text.value != "" {
			fmt.Fprintf(b, "%s: %s\n", text.key, strconv.Quote(text.value))
		}
	}
	b.WriteString("unit: s # coefficients: seconds per unit of the product; covariances: its square\n")
	if cpus > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", cpus)
	}
	if scatter > 0 {
		fmt.Fprintf(b, "host_scatter: %s%%\n", FormatNumber(100*scatter))
	}
	b.WriteString("kernels:\n")
}

// writeHosts writes the models of hosts and CPUs.
func (r *LearnReport) writeHosts(b *strings.Builder, o FileOptions) {
	type group struct {
		host string
		cpu  int // -1: all
	}
	var order []group
	of := func(g *LearnedGroup) group {
		if g.CPU == nil {
			return group{g.Host, -1}
		}
		return group{g.Host, *g.CPU}
	}
	for i := range r.Kernels {
		for j := range r.Kernels[i].Groups {
			if g := of(&r.Kernels[i].Groups[j]); !slices.Contains(order, g) {
				order = append(order, g)
			}
		}
	}
	slices.SortFunc(order, func(a, b group) int {
		if c := CompareHosts(a.host, b.host); c != 0 {
			return c
		}
		return a.cpu - b.cpu
	})
	for _, g := range order {
		fmt.Fprintf(b, "  - host: %s\n", strconv.Quote(strings.ReplaceAll(o.HostName, "{}", g.host)))
		if g.cpu >= 0 {
			fmt.Fprintf(b, "    cpu: %d\n", g.cpu)
		}
		b.WriteString("    kernels:\n")
		r.writeKernels(b, "      ", o, func(k *LearnedKernel) []LearnedPiece {
			for j := range k.Groups {
				if of(&k.Groups[j]) == g {
					return k.Groups[j].Pieces
				}
			}
			return nil
		})
	}
}

// writeKernels writes a model for each name, with the pieces of all attributes.
func (r *LearnReport) writeKernels(b *strings.Builder, indent string, o FileOptions, piecesOf func(*LearnedKernel) []LearnedPiece) {
	for _, name := range r.Names() {
		var lines, dims []string
		for _, k := range r.named(name) {
			pieces := piecesOf(k)
			for j := range pieces {
				lines = append(lines, fmt.Sprintf("%s    - {%s}\n", indent, k.pieceYAML(&pieces[j], j == len(pieces)-1, o)))
			}
			if len(pieces) > 0 {
				dims = k.Dims
			}
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(b, "%s%s:\n", indent, name)
		if len(o.Base) > 0 {
			fmt.Fprintf(b, "%s  unit: s\n", indent)
		}
		fmt.Fprintf(b, "%s  empty: %s\n%s  pieces:\n%s", indent, emptyYAML(dims, o), indent, strings.Join(lines, ""))
	}
}

// named returns the kernels of a name, one for all attributes last.
func (r *LearnReport) named(name string) (list []*LearnedKernel) {
	for i := range r.Kernels {
		if r.Kernels[i].Function == name {
			list = append(list, &r.Kernels[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *LearnedKernel) int { return min(1, len(b.Attrs)) - min(1, len(a.Attrs)) })
	return list
}

// emptyYAML says which calls cost nothing: those with an extent of zero. A label is none, and the rows of two
// kinds are one.
func emptyYAML(dims []string, o FileOptions) string {
	if o.Empty == "charged" {
		return "charged"
	}
	var list []string
	for _, d := range dims {
		switch {
		case slices.Contains(labelNames, d), d == "M1" && slices.Contains(dims, "M0"):
		case d == "M0" && slices.Contains(dims, "M1"):
			list = append(list, "M0+M1")
		default:
			list = append(list, d)
		}
	}
	if len(list) == 0 { // labels alone
		return "charged"
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// pieceYAML returns the keys of a piece. The last one for its attributes holds wherever no other does.
func (k *LearnedKernel) pieceYAML(p *LearnedPiece, last bool, o FileOptions) string {
	var keys []string
	if len(k.Attrs) > 0 {
		var when []string
		for _, a := range k.Attrs {
			when = append(when, fmt.Sprintf("%s: %s", a.Name, strconv.Quote(a.Value)))
		}
		keys = append(keys, "when: {"+strings.Join(when, ", ")+"}")
	}
	if p.If != "" && !last {
		keys = append(keys, "if: "+p.If)
	}
	keys = append(keys, "terms: {"+yamlTerms(p.Coefficients)+"}", "covariance: "+covarianceYAML(p.Covariance))
	switch noise := p.noise(o.Noise); {
	case noise != "":
		keys = append(keys, "noise: "+noise)
	case len(o.Base) > 0:
		keys = append(keys, "noise: none") // that of the base is of other models
	}
	return strings.Join(keys, ", ")
}

// noise returns the law of a kernel file, "" for none.
func (p *LearnedPiece) noise(law string) string {
	if law == "" || law == NoNoise || p.Variation == 0 {
		return ""
	}
	if law == Auto {
		law = Normal
		if IsHalfNormal(p.Skewness) {
			law = HalfNormal
		}
	}
	return fmt.Sprintf("{%s: %s%%}", law, FormatNumber(100*p.Variation))
}

// covarianceYAML returns the lower triangle, [[a], [b, c]].
func covarianceYAML(c [][]float64) string {
	var rows []string
	for i := range c {
		var cells []string
		for j := range i + 1 {
			cells = append(cells, FormatNumber(c[i][j]))
		}
		rows = append(rows, "["+strings.Join(cells, ", ")+"]")
	}
	return "[" + strings.Join(rows, ", ") + "]"
}
