package calibrate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people.
func (r *NetworkReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "points are the %s of the timings of each size", r.Statistic)
	if r.Trim > 0 {
		fmt.Fprintf(&b, ", without %g %% of them on both sides", 100*r.Trim)
	}
	b.WriteString("\n\n")
	for i, op := range r.Operations {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %d timings of %d sizes, log error %.4f\n", op.Operation, op.Timings, op.Sizes, op.LogError)
		tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(tab, "  above (bytes)\tsizes\tintercept (s)\tslope (s/byte)\t\n")
		for _, p := range op.Pieces {
			fmt.Fprintf(tab, "  %s\t%d\t%.6e\t%.6e\t\n", short(p.From), p.Sizes, p.Intercept, p.Slope)
		}
		_ = tab.Flush() // into memory
	}
	r.writeTransfers(&b)
	r.writeNoise(&b)
	b.WriteString("\n")
	for _, p := range r.Properties {
		fmt.Fprintf(&b, "%s:%s\n", p.Name, p.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *NetworkReport) writeTransfers(b *strings.Builder) {
	if len(r.Transfers) == 0 {
		return
	}
	fmt.Fprintf(b, "\nnetwork: %.6e byte/s, latency %.6e s\n", r.Bandwidth, r.Latency)
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  above (bytes)\tlatency (s)\tper byte (s)\tbandwidth factor\tlatency factor\t\n")
	for _, p := range r.Transfers {
		fmt.Fprintf(tab, "  %s\t%.6e\t%.6e\t%.6f\t%.6f\t\n", short(p.From), p.Intercept, p.Slope, p.BandwidthFactor, p.LatencyFactor)
	}
	_ = tab.Flush() // into memory
}
