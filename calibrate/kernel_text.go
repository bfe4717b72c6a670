package calibrate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people.
func (r *KernelReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "timings      %d", r.Timings)
	if r.FirstDate != "" {
		fmt.Fprintf(&b, ", %s to %s", r.FirstDate, r.LastDate)
	}
	b.WriteString("\n")
	for i := range r.Functions {
		f := &r.Functions[i]
		f.writeHead(&b, r.Criterion)
		writeFit(&b, "all", &f.All)
		for j := range f.Groups {
			g := &f.Groups[j]
			name := "host " + g.Host
			if g.CPU != nil {
				name += fmt.Sprintf(", CPU %d", *g.CPU)
			}
			writeFit(&b, name, g)
		}
	}
	for _, u := range r.Unfit {
		fmt.Fprintf(&b, "\n%v\n", u)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHead writes which model was chosen among which.
func (f *FunctionReport) writeHead(b *strings.Builder, criterion string) {
	fmt.Fprintf(b, "\n%s(%s)   model %s\n", f.Function, strings.Join(f.Dims, ","), f.Model)
	for _, c := range f.Candidates {
		if c.Refused != "" {
			fmt.Fprintf(b, "  %-5s refused: %s\n", c.Model, c.Refused)
		} else {
			fmt.Fprintf(b, "  %-5s %s %.1f   %s\n", c.Model, strings.ToUpper(criterion), c.Criterion, strings.Join(c.Terms, " + "))
		}
	}
}

func writeFit(b *strings.Builder, name string, f *Fit) {
	fmt.Fprintf(b, "\n  %s: %d timings of %d sizes\n", name, f.Timings, f.Points)
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "    term\tcoefficient (s)\tstandard error\tt\t\n")
	for _, c := range f.Coefficients {
		fmt.Fprintf(tab, "    %s\t%.9e\t%.2e\t%s\t\n", c.Term, c.Value, c.StdErr, c.t())
	}
	_ = tab.Flush() // into memory
	fmt.Fprintf(b, "    R2 %.6f   residual sd %.3e   relative error: mean %.2f %%, worst %.1f %%, of all time %.2f %%\n", f.R2, f.Sigma, 100*f.MeanError, 100*f.WorstError, 100*f.TimeError)
	if f.ResidualGrowth > uneven {
		fmt.Fprintf(b, "    residuals of the slower half of the sizes are %.0f times those of the faster half: the standard errors, t and the\n"+
			"    criterion suppose that they are equal, and say too much; --relative supposes equal percentages\n", f.ResidualGrowth)
	}
	if f.NegativeSizes > 0 {
		fmt.Fprintf(b, "    the fitted time of %d sizes is below zero and counts as none\n", f.NegativeSizes)
	}
	if f.NoiseModel != nil {
		f.NoiseModel.write(b)
	}
}

// uneven is the growth of residuals from which on a report speaks of it. Where they are
// equal, halves of five points differ as much once in a hundred times (F of 5 and 5
// degrees of freedom: 11), larger ones hardly ever.
const uneven = 3.3

// t returns the coefficient in standard errors, or how else it was found.
func (c Coefficient) t() string {
	if c.Fixed {
		return "shortest"
	}
	return fmt.Sprintf("%.1f", c.Value/c.StdErr)
}

func (n *Noise) write(b *strings.Builder) {
	fmt.Fprintf(b, "    noise: %.2f %% of the time", 100*n.Variation)
	if n.Skewness != nil {
		fmt.Fprintf(b, ", skewness %.2f", *n.Skewness)
	}
	for i, c := range n.Coefficients {
		sign := "; sd = "
		if i > 0 {
			sign = " + "
		}
		fmt.Fprintf(b, "%s%.4e %s", sign, c.Value, c.Term)
	}
	if n.Absurd > 0 {
		fmt.Fprintf(b, ", which is below zero or above the time for %d of %d sizes", n.Absurd, n.Points)
	}
	if n.Unfitted != "" {
		fmt.Fprintf(b, "; %s", n.Unfitted)
	}
	b.WriteString("\n")
}
