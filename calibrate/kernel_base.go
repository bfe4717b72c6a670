package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/yamlfile"
)

// CheckBase refuses a kernel file to whose text hosts cannot be added: one that has some,
// or whose keys do not begin their lines, or that says where it ends.
func CheckBase(text []byte) error {
	_, err := splitBase(text)
	return err
}

// baseText is the text of a kernel file without what it says of itself, which a file made
// from it does not inherit.
type baseText struct {
	head, rest          string // up to its version, and from there on
	description, source string
}

// splitBase takes a base apart. Its lines end with LF, by which the YAML parser counts them;
// a byte order mark would not stand at the beginning any more.
func splitBase(text []byte) (*baseText, error) {
	text = bytes.TrimPrefix(text, []byte(yamlfile.ByteOrderMark))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if bytes.IndexByte(text, '\r') >= 0 {
		return nil, errors.New("the base has lines that end in CR alone: want LF at the end of lines")
	}
	d := yamlfile.Document{File: "base"}
	root, err := d.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	keys, err := d.Entries(root, "base")
	if err != nil {
		return nil, err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "..." && line[0] == '.' {
			return nil, errors.New(`the base has a line "...", which ends a YAML file: leave it out`)
		}
	}
	var b baseText
	head := 0
	for i, e := range keys {
		at := e.Node.GetToken().Position
		switch {
		case e.Key == "hosts" || e.Key == "cpus_per_host":
			return nil, fmt.Errorf("the base has a key %q: want a kernel file without models of hosts", e.Key)
		case root.GetToken().Value == "{":
			return nil, errors.New("the base is a mapping in braces: want one key on each line")
		case at.Column > 1:
			return nil, fmt.Errorf("the base has space before the key %q: want its keys at the beginning of their lines", e.Key)
		case at.Line > len(lines) || !strings.Contains(lines[at.Line-1], e.Key):
			return nil, fmt.Errorf("the base has the key %q where no line begins with it: want LF at the end of lines", e.Key)
		}
		end := len(lines)
		if i+1 < len(keys) {
			end = min(end, keys[i+1].Node.GetToken().Position.Line-1)
		}
		for end > at.Line && aside(lines[end-1]) {
			end--
		}
		switch e.Key {
		case "version":
			head = end
		case "description", "source":
			if err := b.take(&d, e); err != nil {
				return nil, err
			}
			for line := at.Line - 1; line < end; line++ {
				lines[line] = ""
			}
		}
	}
	if err := continuable(text, len(keys)); err != nil {
		return nil, err
	}
	b.head, b.rest = strings.Join(lines[:head], ""), strings.Join(lines[head:], "")
	return &b, nil
}

// aside reports whether a line belongs to nothing before it: empty ones and comments that
// begin their line.
func aside(line string) bool { return strings.TrimSpace(line) == "" || line[0] == '#' }

// take reads the description or the source.
func (b *baseText) take(d *yamlfile.Document, e yamlfile.Entry) error {
	text, err := d.Text(e.Value, e.Key)
	if e.Key == "description" {
		b.description = oneLine(text)
	} else {
		b.source = oneLine(text)
	}
	return err
}

// oneLine returns the words of a text, with one blank between them.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// WriteBase writes the text of a base, to which models are added that the description and
// the source are about, and then cpus_per_host, if it is not 1, and the key hosts. What the
// base says of itself is said of all else in the file.
func WriteBase(b *strings.Builder, base []byte, o FileOptions, cpusPerHost int) error {
	text, err := splitBase(base)
	if err != nil {
		return err
	}
	name := o.BaseName
	if name == "" {
		name = "another kernel file"
	}
	fmt.Fprintf(b, "# Made from %s, of which the comments are.\n%s", oneLine(name), text.head)
	if !strings.HasSuffix(text.head, "\n") {
		b.WriteString("\n")
	}
	for _, key := range []struct{ name, own, base string }{{"description", o.Description, text.description}, {"source", o.Source, text.source}} {
		own, of := oneLine(key.own), key.base
		if own == "" {
			own = "not said"
		}
		if of == "" {
			of = "not said"
		}
		fmt.Fprintf(b, "%s: %s\n", key.name, strconv.Quote(fmt.Sprintf("%s; all else is from %s: %s", own, oneLine(name), of)))
	}
	b.WriteString(strings.TrimRight(text.rest, "\n"))
	b.WriteString("\n")
	if cpusPerHost > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", cpusPerHost)
	}
	b.WriteString("hosts:\n")
	return nil
}

// writeOnBase writes the base with the models for hosts; those of all points are
// for all hosts that have none of their own.
func (r *KernelReport) writeOnBase(b *strings.Builder, o FileOptions) error {
	if err := WriteBase(b, o.Base, o, r.cpus()); err != nil {
		return err
	}
	r.writeHosts(b, o)
	r.writeUnfit(b)
	var models []string
	for i := range r.Functions {
		f := &r.Functions[i]
		models = append(models, f.All.yaml(f.Function, &o))
	}
	fmt.Fprintf(b, "  - host: \"*\"\n    kernels: {%s}\n", strings.Join(models, ", "))
	return nil
}

// continuable refuses a text whose end would make something else of the keys that follow it.
func continuable(text []byte, keys int) error {
	d := yamlfile.Document{File: "base with hosts"}
	root, err := d.Read(strings.NewReader(string(text) + "\ncpus_per_host: 1\n"))
	if err != nil {
		return fmt.Errorf("the base has an end that no key can follow: %w", err)
	}
	list, err := d.Entries(root, "base")
	if err == nil && (len(list) != keys+1 || list[keys].Key != "cpus_per_host") {
		err = errors.New("the base has an end that no key can follow")
	}
	return err
}
