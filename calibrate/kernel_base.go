package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"reprise/internal/yamlfile"
)

// CheckBase refuses a kernel file to whose text hosts cannot be added: one that has some,
// or whose keys do not begin their lines, or that says where it ends.
func CheckBase(text []byte) error {
	d := yamlfile.Document{File: "base"}
	root, err := d.Read(bytes.NewReader(text))
	if err != nil {
		return err
	}
	keys, err := d.Entries(root, "base")
	if err != nil {
		return err
	}
	for _, e := range keys {
		switch {
		case e.Key == "hosts" || e.Key == "cpus_per_host":
			return fmt.Errorf("the base has a key %q: want a kernel file without models of hosts", e.Key)
		case root.GetToken().Value == "{":
			return errors.New("the base is a mapping in braces: want one key on each line")
		case e.Node.GetToken().Position.Column > 1:
			return fmt.Errorf("the base has space before the key %q: want its keys at the beginning of their lines", e.Key)
		}
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "..." && line[0] == '.' {
			return errors.New(`the base has a line "...", which ends a YAML file: leave it out`)
		}
	}
	return nil
}

// WriteBase writes the text of a base, headed by a comment, and then cpus_per_host, if it
// is not 1, and the key hosts.
func WriteBase(b *strings.Builder, base []byte, comment string, cpusPerHost int) {
	fmt.Fprintf(b, "# %s\n%s\n", strings.Join(strings.Fields(comment), " "), strings.TrimRight(string(base), "\n"))
	if cpusPerHost > 1 {
		fmt.Fprintf(b, "cpus_per_host: %d\n", cpusPerHost)
	}
	b.WriteString("hosts:\n")
}

// writeOnBase writes the base with the models for hosts; those of all points are
// for all hosts that have none of their own.
func (r *KernelReport) writeOnBase(b *strings.Builder, o FileOptions) {
	WriteBase(b, o.Base, o.Description+" "+o.Source, r.cpus())
	r.writeHosts(b, o)
	r.writeUnfit(b)
	var models []string
	for i := range r.Functions {
		f := &r.Functions[i]
		models = append(models, f.All.yaml(f.Function, &o))
	}
	fmt.Fprintf(b, "  - host: \"*\"\n    kernels: {%s}\n", strings.Join(models, ", "))
}
