package calibrate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
)

// This file writes kernel files (docs/kernels.md): LearnReport.WriteYAML, and WriteBase, the text to which models of
// hosts are added.

// FileOptions are the parts of a kernel file besides the coefficients.
type FileOptions struct {
	Description, Source string
	HostName            string // the name of a host on the platform, {} standing for the one in the table; default: {}
	Empty               string // "free" or "charged": the cost of calls with a dimension of zero; default: free
	Noise               string // NoNoise, Normal, HalfNormal, or Auto by the skewness of the timings; default: NoNoise
	// Base is a kernel file, without models of hosts, whose other kernels are taken over; default: none.
	Base     []byte
	BaseName string // for the description
}

// Validate refuses options that no kernel file can have, all at once.
func (o *FileOptions) Validate() error {
	var errs []error
	name := strings.ReplaceAll(o.HostName, "{}", "0")
	switch {
	case name == "":
	case name == o.HostName:
		errs = append(errs, fmt.Errorf("host name %q, want {} where the host's name in the table stands", o.HostName))
	case name != textutil.Plain(name):
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

// WriteYAML writes the models as a kernel file (docs/kernels.md): those of all hosts, and, where
// there are any, those of each host or CPU. Without a base, the models of all hosts come first. A
// base has such models of its own, so with one they are the last entry, "*", of the list of hosts.
// Coefficients have as many digits as it takes to read the same numbers again.
func (r *LearnReport) WriteYAML(w io.Writer, o FileOptions) error {
	if err := cmp.Or(o.Validate(), CheckCPUs(r.cpuNumbers)); err != nil {
		return err
	}
	o.HostName = cmp.Or(o.HostName, "{}")
	var b strings.Builder
	cpus := slices.Max(append(r.cpuNumbers, 0)) + 1 // those without a model count, too: ranks take all in turn
	all := func(k *LearnedKernel) []LearnedPiece { return k.Pieces }
	if len(o.Base) > 0 {
		if err := WriteBase(&b, o.Base, o, cpus); err != nil {
			return err
		}
		r.writeHosts(&b, o)
		b.WriteString("  - host: \"*\"\n    kernels:\n")
		r.writeKernels(&b, "      ", o, all)
	} else {
		b.WriteString("version: 1\n")
		WriteTexts(&b, o.Description, o.Source)
		b.WriteString("unit: s # coefficients: seconds per unit of the product; covariances: its square\n")
		if cpus > 1 {
			fmt.Fprintf(&b, "cpus_per_host: %d\n", cpus)
		}
		if r.HostScatter > 0 {
			fmt.Fprintf(&b, "host_scatter: %s%%\n", FormatNumber(100*r.HostScatter))
		}
		b.WriteString("kernels:\n")
		r.writeKernels(&b, "  ", o, all)
		var list strings.Builder
		if r.writeHosts(&list, o); list.Len() > 0 {
			fmt.Fprintf(&b, "hosts:\n%s", list.String())
		}
	}
	for _, u := range r.Unfit {
		fmt.Fprintf(&b, "# %s\n", oneLine(u.String()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHosts writes the models of hosts and CPUs.
func (r *LearnReport) writeHosts(b *strings.Builder, o FileOptions) {
	// A file has one entry for each host or CPU, with all its kernels, while reports go by kernel.
	var order []Place
	for i := range r.Kernels {
		for j := range r.Kernels[i].Groups {
			order = append(order, r.Kernels[i].Groups[j].Place)
		}
	}
	slices.SortFunc(order, Place.compare)
	for _, p := range slices.CompactFunc(order, func(p, q Place) bool { return p.compare(q) == 0 }) {
		fmt.Fprintf(b, "  - host: %s\n", strconv.Quote(strings.ReplaceAll(o.HostName, "{}", p.Host)))
		if p.CPU != nil {
			fmt.Fprintf(b, "    cpu: %d\n", *p.CPU)
		}
		b.WriteString("    kernels:\n")
		r.writeKernels(b, "      ", o, func(k *LearnedKernel) []LearnedPiece {
			for j := range k.Groups {
				if k.Groups[j].compare(p) == 0 {
					return k.Groups[j].Pieces
				}
			}
			return nil
		})
	}
}

// writeKernels writes a model for each name, with the pieces of all attributes; the
// kernel for all attributes is the last.
func (r *LearnReport) writeKernels(b *strings.Builder, indent string, o FileOptions,
	piecesOf func(*LearnedKernel) []LearnedPiece) {
	for _, name := range r.Names() {
		var named []*LearnedKernel
		for i := range r.Kernels {
			if r.Kernels[i].Function == name {
				named = append(named, &r.Kernels[i])
			}
		}
		slices.SortStableFunc(named, func(a, b *LearnedKernel) int { return min(1, len(b.Attrs)) - min(1, len(a.Attrs)) })
		var lines, dims []string
		for _, k := range named {
			pieces := piecesOf(k)
			for j := range pieces {
				p := &pieces[j]
				var keys []string
				if len(k.Attrs) > 0 {
					var when []string
					for _, a := range k.Attrs {
						when = append(when, fmt.Sprintf("%s: %s", a.Name, strconv.Quote(a.Value)))
					}
					keys = append(keys, "when: {"+strings.Join(when, ", ")+"}")
				}
				// The last piece for its attributes holds wherever no other does.
				if p.If != "" && j < len(pieces)-1 {
					keys = append(keys, "if: "+p.If)
				}
				var rows []string // of the lower triangle, [[a], [b, c]]
				for i, row := range p.Covariance {
					var cells []string
					for _, v := range row[:i+1] {
						cells = append(cells, FormatNumber(v))
					}
					rows = append(rows, "["+strings.Join(cells, ", ")+"]")
				}
				keys = append(keys, "terms: {"+yamlTerms(p.Coefficients)+"}", "covariance: ["+strings.Join(rows, ", ")+"]")
				switch {
				case o.Noise != "" && o.Noise != NoNoise && p.Variation != 0:
					keys = append(keys, fmt.Sprintf("noise: {%s: %s%%}", lawOf(o.Noise, p.Skewness), FormatNumber(100*p.Variation)))
				case len(o.Base) > 0:
					keys = append(keys, "noise: none") // that of the base is of other models
				}
				lines = append(lines, fmt.Sprintf("%s    - {%s}\n", indent, strings.Join(keys, ", ")))
			}
			if len(pieces) > 0 {
				dims = k.Dims
			}
		}
		if len(lines) == 0 {
			continue
		}
		// Calls with an extent of zero cost nothing. A label is no extent, and the rows of two kinds are one.
		var extents []string
		for _, d := range dims {
			switch {
			case slices.Contains(labelNames, d), d == "M1" && slices.Contains(dims, "M0"):
			case d == "M0" && slices.Contains(dims, "M1"):
				extents = append(extents, "M0+M1")
			default:
				extents = append(extents, d)
			}
		}
		empty := "[" + strings.Join(extents, ", ") + "]"
		if o.Empty == "charged" || len(extents) == 0 {
			empty = "charged"
		}
		fmt.Fprintf(b, "%s%s:\n", indent, name)
		if len(o.Base) > 0 {
			fmt.Fprintf(b, "%s  unit: s\n", indent)
		}
		fmt.Fprintf(b, "%s  empty: %s\n%s  pieces:\n%s", indent, empty, indent, strings.Join(lines, ""))
	}
}

// WriteTexts writes the description and the source of a file, each unless it is empty.
func WriteTexts(b *strings.Builder, description, source string) {
	for _, text := range []struct{ key, value string }{{"description", description}, {"source", source}} {
		if text.value != "" {
			fmt.Fprintf(b, "%s: %s\n", text.key, strconv.Quote(text.value))
		}
	}
}

// CheckCPUs refuses numbers of CPUs, those of all hosts, that leave one out: ranks of a host take
// its CPUs in turn, from 0 on, so models of 1 and 2 alone would be for other ranks than meant.
func CheckCPUs(numbers []int) error {
	for n := range len(numbers) {
		if most := slices.Max(numbers); n < most && !slices.Contains(numbers, n) {
			return fmt.Errorf("%w: no host has timings of CPU %d, but some have of CPU %d: "+
				"want the CPUs of a host numbered from 0", ErrMeaningless, n, most)
		}
	}
	return nil
}

// yamlTerms returns the terms of a kernel file, without the braces: "M*N*K: 7.0e-11, 1: 2.0e-07".
func yamlTerms(list []Coefficient) string {
	var terms []string
	for _, c := range list {
		terms = append(terms, c.Term+": "+FormatNumber(c.Value))
	}
	return strings.Join(terms, ", ")
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

// oneLine returns the words of a text, with one blank between them.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// CheckBase refuses a kernel file to whose text hosts cannot be added: one that has
// some, or whose keys do not begin their lines, or that says where it ends.
func CheckBase(text []byte) error { return WriteBase(&strings.Builder{}, text, FileOptions{}, 1) }

// WriteBase writes the text of a base, to which models are added that the description and the
// source are about, and then cpus_per_host, if it is not 1, and the key hosts. Description and
// source of the base are said of all else in the file. Lines of the base end with LF, by which the
// YAML parser counts them; a byte order mark would not stand at the beginning any more.
func WriteBase(b *strings.Builder, base []byte, o FileOptions, cpusPerHost int) (err error) {
	defer textutil.Stopped(&err)
	text := bytes.TrimPrefix(base, []byte(yamlfile.ByteOrderMark))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if bytes.IndexByte(text, '\r') >= 0 {
		return errors.New("the base has lines that end in CR alone: want LF at the end of lines")
	}
	d := yamlfile.Document{File: "base"}
	root := textutil.Must(d.Read(bytes.NewReader(text)))
	keys := textutil.Must(d.Entries(root, "base"))
	// The text is taken apart by lines, not written anew from what was parsed: comments and form stay.
	lines := slices.Collect(strings.Lines(string(text)))
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "..." && line[0] == '.' {
			return errors.New(`the base has a line "...", which ends a YAML file: leave it out`)
		}
	}
	head := 0                   // lines up to the version
	said := map[string]string{} // description and source
	for i, e := range keys {
		at := e.Node.GetToken().Position
		switch {
		case e.Key == "hosts" || e.Key == "cpus_per_host":
			return fmt.Errorf("the base has a key %q: want a kernel file without models of hosts", e.Key)
		case root.GetToken().Value == "{":
			return errors.New("the base is a mapping in braces: want one key on each line")
		case at.Column > 1:
			return fmt.Errorf("the base has space before the key %q: want its keys at the beginning of their lines", e.Key)
		case at.Line > len(lines) || !strings.Contains(lines[at.Line-1], e.Key):
			return fmt.Errorf("the base has the key %q where no line begins with it: want LF at the end of lines", e.Key)
		}
		end := len(lines)
		if i+1 < len(keys) {
			end = min(end, keys[i+1].Node.GetToken().Position.Line-1)
		}
		// Empty lines and comments that begin their line belong to nothing before them.
		for end > at.Line && (strings.TrimSpace(lines[end-1]) == "" || lines[end-1][0] == '#') {
			end--
		}
		switch e.Key {
		case "version":
			head = end
		case "description", "source": // which the new file does not inherit
			said[e.Key] = oneLine(textutil.Must(d.Text(e.Value, e.Key)))
			clear(lines[at.Line-1 : max(at.Line-1, end)])
		case "network_error": // of a network that is not the new file's
			clear(lines[at.Line-1 : max(at.Line-1, end)])
		}
	}
	// The end of the text must not make something else of the keys that will follow it.
	d.File = "base with hosts"
	if root, err = d.Read(strings.NewReader(string(text) + "\ncpus_per_host: 1\n")); err != nil {
		return fmt.Errorf("the base has an end that no key can follow: %w", err)
	}
	list := textutil.Must(d.Entries(root, "base"))
	if len(list) != len(keys)+1 || list[len(keys)].Key != "cpus_per_host" {
		return errors.New("the base has an end that no key can follow")
	}
	name, first := oneLine(cmp.Or(o.BaseName, "another kernel file")), strings.Join(lines[:head], "")
	fmt.Fprintf(b, "# Made from %s, of which the comments are.\n%s", name, first)
	if !strings.HasSuffix(first, "\n") {
		b.WriteString("\n")
	}
	for _, key := range []struct{ name, own string }{{"description", o.Description}, {"source", o.Source}} {
		own, of := cmp.Or(oneLine(key.own), "not said"), cmp.Or(said[key.name], "not said")
		fmt.Fprintf(b, "%s: %s\n", key.name, strconv.Quote(fmt.Sprintf("%s; all else is from %s: %s", own, name, of)))
	}
	fmt.Fprintf(b, "%s\n", strings.TrimRight(strings.Join(lines[head:], ""), "\n"))
	if cpusPerHost > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", cpusPerHost)
	}
	b.WriteString("hosts:\n")
	return nil
}

// Noise that a kernel file can have.
const (
	NoNoise    = "none"
	Auto       = "auto" // by the skewness of the timings
	Normal     = "normal"
	HalfNormal = "half-normal"
)

// IsHalfNormal reports whether noise of a skewness is rather half-normal than normal.
func IsHalfNormal(skewness float64) bool { return skewness > halfNormalSkewness/2 }

// halfNormalSkewness is the skewness of half-normal noise, sqrt(2)(4-pi)/(pi-2)^1.5.
const halfNormalSkewness = 0.99527

// lawOf returns the law for noise of a skewness: the one that is asked for or, where it
// is to be chosen, the one whose skewness is nearer.
func lawOf(asked string, skewness float64) string {
	switch {
	case asked != Auto:
		return asked
	case IsHalfNormal(skewness):
		return HalfNormal
	}
	return Normal
}
