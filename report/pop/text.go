package pop

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the efficiencies, what each of them is a part of, and the notes.
func (d *Data) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-17s %9s\n", "POP efficiency", "share")
	for _, l := range []struct {
		name  string
		share float64
		what  string
	}{
		{"parallel", d.Parallel, fmt.Sprintf("a rank computes %.6g s of %.6g s", d.MeanUseful, d.Runtime)},
		{"  load balance", d.LoadBalance, fmt.Sprintf("the busiest rank computes %.6g s", d.MostUseful)},
		{"  serialisation", d.Serialisation, fmt.Sprintf("of %.6g s on a network that takes no time", d.Ideal)},
		{"  transfer", d.Transfer, ""},
		{"    wire", d.Wire, fmt.Sprintf("of %.6g s where no message slows another", d.Uncontended)},
		{"    contention", d.Contention, fmt.Sprintf("of %.6g s", d.Runtime)},
	} {
		line := fmt.Sprintf("%-17s %8.2f%%  %s", l.name, 100*l.share, l.what)
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
