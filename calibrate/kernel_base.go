package calibrate

import (
	"errors"
	"fmt"
	"strings"
)

// CheckBase refuses a kernel file to whose text hosts cannot be added.
func CheckBase(text []byte) error {
	for line := range strings.Lines(string(text)) {
		for _, key := range []string{"hosts", "cpus_per_host"} {
			if after, ok := strings.CutPrefix(line, key); ok && strings.HasPrefix(strings.TrimSpace(after), ":") {
				return fmt.Errorf("the base has a key %q: want a kernel file without models of hosts", key)
			}
		}
		if strings.HasPrefix(line, "{") {
			return errors.New("the base is a mapping in braces: want one key on each line")
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
func (r *KernelReport) writeOnBase(b *strings.Builder, o FileOptions) error {
	WriteBase(b, o.Base, o.Description+" "+o.Source, r.cpus())
	if err := r.writeHosts(b, o); err != nil {
		return err
	}
	var models []string
	for i := range r.Functions {
		f := &r.Functions[i]
		model, err := f.All.yaml(f.Function, &o)
		if err != nil {
			return err
		}
		models = append(models, model)
	}
	fmt.Fprintf(b, "  - host: \"*\"\n    kernels: {%s}\n", strings.Join(models, ", "))
	return nil
}
