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
		op.write(&b, string(op.Operation))
	}
	r.Route.write(&b, map[Between]string{Nodes: "network", Cores: "network, within a host"}[r.Between])
	if r.Within != nil {
		b.WriteString("\n")
		r.Within.PingPong.write(&b, "pingpong within a host")
		r.Within.Route.write(&b, "within a host")
	}
	r.writeThresholds(&b)
	r.writeSharing(&b)
	r.writePolls(&b)
	r.writeNoise(&b)
	b.WriteString("\n")
	for _, p := range r.Properties {
		fmt.Fprintf(&b, "%s:%s\n", p.Name, p.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTable writes lines whose columns are parted by tabs, aligned.
func writeTable(b *strings.Builder, header string, lines func(tab io.Writer)) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  %s\t\n", strings.ReplaceAll(header, "|", "\t"))
	lines(tab)
	_ = tab.Flush() // into memory
}

func (op *OperationFit) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%s: %d timings of %d sizes, log error %.4f\n", name, op.Timings, op.Sizes, op.LogError)
	writeTable(b, "above (bytes)|sizes|intercept (s)|std error|slope (s/byte)|std error", func(tab io.Writer) {
		for _, p := range op.Pieces {
			fmt.Fprintf(tab, "  %s\t%d\t%.6e\t%s\t%.6e\t%s\t\n", short(p.From), p.Sizes, p.Intercept, errorText(p.InterceptError), p.Slope, errorText(p.SlopeError))
		}
	})
}

// errorText writes a standard error, of which 0 is none.
func errorText(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1e", x)
}

func (t *Route) write(b *strings.Builder, name string) {
	if len(t.Transfers) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s: %.6e byte/s, latency %.6e s\n", name, t.Bandwidth, t.Latency)
	writeTable(b, "above (bytes)|latency (s)|per byte (s)|bandwidth factor|std error|latency factor|std error", func(tab io.Writer) {
		for _, p := range t.Transfers {
			fmt.Fprintf(tab, "  %s\t%.6e\t%.6e\t%.6f\t%s\t%.6f\t%s\t\n", short(p.From), p.Intercept, p.Slope, p.BandwidthFactor, errorText(p.BandwidthError), p.LatencyFactor, errorText(p.LatencyError))
		}
	})
}

func (r *NetworkReport) writeThresholds(b *strings.Builder) {
	for i, t := range r.Thresholds {
		if i == 0 {
			b.WriteString("\nthresholds:\n")
		}
		what := map[string]string{eagerName: "eager below", detachedName: "sends wait from"}[t.Name]
		fmt.Fprintf(b, "  %s %s bytes: %s\n", what, short(t.Bytes), t.why())
	}
}

// why says where a threshold is from.
func (t *Threshold) why() string {
	switch {
	case !t.Found:
		return "given"
	case t.Below == 0 && t.Above == 0:
		return "all that do not wait for their receive"
	case t.Above == 0:
		return "none waits of those that were timed"
	}
	return fmt.Sprintf("found between %s and %s bytes", short(t.Below), short(t.Above))
}

func (r *NetworkReport) writeSharing(b *strings.Builder) {
	for _, s := range r.Sharing {
		fmt.Fprintf(b, "\n%s: %s\n", map[Between]string{Nodes: "sharing of a cable", Cores: "sharing within a host"}[s.Between], s.verdict())
		writeTable(b, "messages at once|sizes|bytes take times as long|std error", func(tab io.Writer) {
			for _, p := range s.Points {
				name := fmt.Sprint(p.Messages)
				if p.Crossing {
					name += ", crossing"
				}
				fmt.Fprintf(tab, "  %s\t%d\t%.3f\t%s\t\n", name, p.Sizes, p.Slowdown, errorText(p.StdError))
			}
		})
	}
}

// verdict says what is shared.
func (f *SharingFit) verdict() string {
	crossing := ""
	if f.Between == Nodes {
		crossing = ", messages that cross share it (SHARED)"
		if f.Duplex {
			crossing = ", messages that cross have one each (SPLITDUPLEX)"
		}
	}
	switch {
	case f.Shared:
		return fmt.Sprintf("%.6e byte/s for all together (std error %s), %.6e for one%s", f.Capacity, errorText(f.Error), f.Single, crossing)
	case f.Capacity > 0:
		return fmt.Sprintf("%.6e byte/s for all together at least, as no number of messages that was timed slows them, %.6e for one%s", f.Capacity, f.Single, crossing)
	case f.Between == Nodes && len(f.Points) == 1 && f.Points[0].Crossing:
		return fmt.Sprintf("%.6e byte/s for one, no pairs at the same time were timed%s", f.Single, crossing)
	}
	return fmt.Sprintf("%.6e byte/s for each, no number of messages that was timed slows them (FATPIPE)%s", f.Single, crossing)
}

func (r *NetworkReport) writePolls(b *strings.Builder) {
	if first := r.FirstPolls; first != nil {
		fmt.Fprintf(b, "\npolls: the first after a message has come misses: %d of %d\n", first.Misses, first.Timings)
	} else if len(r.Polls) > 0 {
		b.WriteString("\npolls:\n")
	}
	if len(r.Polls) == 0 {
		return
	}
	writeTable(b, "operation|timings|median (s)|std error", func(tab io.Writer) {
		for _, p := range r.Polls {
			fmt.Fprintf(tab, "  %s\t%d\t%.3e\t%s\t\n", p.Operation, p.Timings, p.Seconds, errorText(p.StdError))
		}
	})
}
