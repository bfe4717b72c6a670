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

// This file writes kernel files (docs/kernels.md): KernelReport.WriteYAML here, LearnReport.WriteYAML by these parts.

// FileOptions are the parts of a kernel file besides the coefficients.
type FileOptions struct {
	Description, Source string
	HostName            string // the name of a host on the platform, {} standing for the one in the table; default: {}
	Empty               string // "free" or "charged": the cost of calls with a dimension of zero; default: free
	Noise               string // NoNoise, Normal, HalfNormal, or Auto by the skewness of the timings; default: NoNoise
	// Base is a kernel file, without models of hosts, whose other kernels are taken over; default: none.
	Base     []byte
	BaseName string // for the description

	alone string // the line that says how quick a rank is by itself, if that is known
}

// Validate refuses options that no kernel file can have, all at once.
func (o *FileOptions) Validate() error {
	var faults textutil.Faults
	switch name := strings.ReplaceAll(o.HostName, "{}", "0"); name {
	case "":
	case o.HostName:
		faults.Want(false, "host name %q, want {} where the host's name in the table stands", o.HostName)
	default:
		faults.Want(name == textutil.Plain(name), "host name %q, want letters, digits, points, _ and - beside {}",
			o.HostName)
	}
	faults.Want(slices.Contains([]string{"", "free", "charged"}, o.Empty),
		"empty calls %q, want free or charged", o.Empty)
	faults.Want(slices.Contains([]string{"", NoNoise, Normal, HalfNormal, Auto}, o.Noise),
		"noise %q, want none, normal, half-normal or auto", o.Noise)
	if len(o.Base) > 0 {
		faults = append(faults, CheckBase(o.Base))
	}
	return faults.Err()
}

// WriteYAML writes the models as a kernel file (docs/kernels.md): those of all points, and, where
// there are any, those of each host or CPU. Coefficients have as many digits as it takes to read
// the same numbers again. Noise is asked for by the options; CheckNoise names the fits without any.
func (r *KernelReport) WriteYAML(w io.Writer, o FileOptions) error {
	if slices.ContainsFunc(r.Functions, func(f FunctionReport) bool {
		return slices.ContainsFunc(f.Groups, func(g Fit) bool { return g.Day != "" })
	}) {
		return errors.New("fits of several days make no kernel file: read the timings without keeping days apart")
	}
	all := func(b *strings.Builder, o FileOptions) {
		var models []string
		for i := range r.Functions {
			f := &r.Functions[i]
			models = append(models, o.Model(f.Function, f.All.Coefficients, f.All.noise(o.Noise), false))
			if len(o.Base) == 0 {
				fmt.Fprintf(b, "  # %s, %d timings of %d sizes, R2 %.6f\n", f.Model, f.All.Timings, f.All.Points, f.All.R2)
				fmt.Fprintf(b, "  %s\n", models[i])
			}
		}
		r.writeUnfit(b, "  # ")
		if len(o.Base) > 0 {
			fmt.Fprintf(b, "  - host: \"*\"\n    kernels: {%s}\n", strings.Join(models, ", "))
		}
	}
	hosts := func(b *strings.Builder, o FileOptions) {
		for i := range r.Functions {
			f := &r.Functions[i]
			for j := range f.Groups {
				g := &f.Groups[j]
				g.writeYAML(b, o)
				fmt.Fprintf(b, "    kernels: {%s}\n", o.Model(f.Function, g.Coefficients, g.noise(o.Noise), false))
			}
		}
	}
	b, err := r.writeYAML(o, "", 0, all, hosts)
	if err == nil {
		_, err = io.WriteString(w, b.String())
	}
	return err
}

// writeYAML returns the text of a kernel file, up to its end: the models of all hosts and those of some. Without a
// base, the models of all hosts come first. A base has such models of its own, so with one they are the last entry,
// "*", of the list of hosts. more is added to the comment on the unit.
func (r *findings) writeYAML(o FileOptions, more string, scatter float64,
	all, hosts func(b *strings.Builder, o FileOptions)) (*strings.Builder, error) {
	if err := cmp.Or(o.Validate(), CheckCPUs(r.cpuNumbers)); err != nil {
		return nil, err
	}
	o.HostName = cmp.Or(o.HostName, "{}")
	b := &strings.Builder{}
	cpus := slices.Max(append(r.cpuNumbers, 0)) + 1 // those without a model count, too: ranks take all in turn
	if len(o.Base) > 0 {
		if err := WriteBase(b, o.Base, o, cpus); err != nil {
			return nil, err
		}
		hosts(b, o)
		all(b, o)
		return b, nil
	}
	b.WriteString("version: 1\n")
	WriteTexts(b, o.Description, o.Source)
	fmt.Fprintf(b, "unit: s # coefficients: seconds per unit of the product%s\n", more)
	if cpus > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", cpus)
	}
	b.WriteString(o.alone)
	if scatter > 0 {
		fmt.Fprintf(b, "host_scatter: %s%%\n", FormatNumber(100*scatter))
	}
	b.WriteString("kernels:\n")
	all(b, o)
	var list strings.Builder
	if hosts(&list, o); list.Len() > 0 {
		fmt.Fprintf(b, "hosts:\n%s", list.String())
	}
	return b, nil
}

// WriteTexts writes the description and the source of a file, each unless it is empty.
func WriteTexts(b *strings.Builder, description, source string) {
	for _, text := range []struct{ key, value string }{{"description", description}, {"source", source}} {
		if text.value != "" {
			fmt.Fprintf(b, "%s: %s\n", text.key, strconv.Quote(text.value))
		}
	}
}

// writeUnfit names in a kernel file the kernels and groups without a model, in comments.
func (r *findings) writeUnfit(b *strings.Builder, comment string) {
	for _, u := range r.Unfit {
		fmt.Fprintf(b, "%s%s\n", comment, oneLine(u.String()))
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

// Model returns the entry of a model, "dgemm: {terms: {M*N*K: 7e-11, 1: 2e-7}, noise: {normal: 2%}}"; noise is "" for none.
// Beside a base the unit and the noise are said in any case, as those of the base are of other models.
func (o *FileOptions) Model(name string, terms []Coefficient, noise string, sayUnit bool) string {
	text := name + ": {"
	if sayUnit || len(o.Base) > 0 {
		text += "unit: s, "
	}
	if o.Empty == "charged" {
		text += "empty: charged, "
	}
	if noise == "" && len(o.Base) > 0 {
		noise = NoNoise
	}
	if noise != "" {
		noise = ", noise: " + noise
	}
	return text + "terms: {" + FormatTerms(terms) + "}" + noise + "}"
}

// FormatTerms returns the terms of a kernel file, without the braces: "M*N*K: 7.0e-11, 1: 2.0e-07".
func FormatTerms(list []Coefficient) string {
	return strings.Join(textutil.Texts(list, func(c Coefficient) string { return c.Term + ": " + FormatNumber(c.Value) }), ", ")
}

// noise returns the law of a kernel file, "" for none, as where no size was timed twice: the deviation by the terms of
// the fit where there is one that grows with the size, else in percent of the time.
func (f *Fit) noise(law string) string {
	n := f.NoiseModel
	if law == "" || law == NoNoise || n == nil {
		return ""
	}
	skewness := 0.0
	if n.Skewness != nil {
		skewness = *n.Skewness
	}
	law = lawOf(law, skewness)
	if len(n.Coefficients) == 0 || n.Coefficients[0].Value <= 0 {
		return fmt.Sprintf("{%s: %s%%}", law, FormatNumber(100*n.Variation))
	}
	return fmt.Sprintf("{%s: {%s}}", law, FormatTerms(n.Coefficients))
}

// writeYAML begins the entry of the place in the list of hosts of a kernel file.
func (p Place) writeYAML(b *strings.Builder, o FileOptions) {
	fmt.Fprintf(b, "  - host: %s\n", strconv.Quote(strings.ReplaceAll(o.HostName, "{}", p.Host)))
	if p.CPU != nil {
		fmt.Fprintf(b, "    cpu: %d\n", *p.CPU)
	}
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

// FormatNumbers returns a list of numbers in brackets.
func FormatNumbers(list []float64) string {
	return "[" + strings.Join(textutil.Texts(list, FormatNumber), ", ") + "]"
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
	keys := d.Entries(root, "base")
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
			said[e.Key] = oneLine(d.Text(e.Value, e.Key))
			clear(lines[at.Line-1 : max(at.Line-1, end)])
		case "network_error", "alone": // of a network and a host that are not the new file's
			clear(lines[at.Line-1 : max(at.Line-1, end)])
		}
	}
	// The end of the text must not make something else of the keys that will follow it.
	d.File = "base with hosts"
	if root, err = d.Read(strings.NewReader(string(text) + "\ncpus_per_host: 1\n")); err != nil {
		return fmt.Errorf("the base has an end that no key can follow: %w", err)
	}
	list := d.Entries(root, "base")
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
	b.WriteString(o.alone)
	b.WriteString("hosts:\n")
	return nil
}
