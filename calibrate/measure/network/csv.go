package network

import (
	"fmt"
	"io"
	"strings"

	"reprise/calibrate/measure"
)

// WriteCSV writes the timings as calibrate network reads them, after facts about the
// measurement as comments.
func (r *Result) WriteCSV(w io.Writer, facts []measure.Fact) error {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, strings.Join(strings.Fields(f.Value), " "))
	}
	b.WriteString("operation,bytes,seconds,between,pairs\n")
	for _, t := range r.Timings {
		fmt.Fprintf(&b, "%s,%d,%.9e,%s,%d\n", t.Operation, t.Bytes, t.Seconds, t.Between, t.Pairs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
