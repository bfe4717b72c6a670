package hosts

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/calibrate"
)

// WriteYAML writes the model; Parse reads the same numbers again.
func (m *Model) WriteYAML(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version: %d\n", formatVersion)
	writeTexts(&b, m.Description, m.Source)
	b.WriteString("unit: s # per unit of the term; covariances: the square of it\n")
	if m.PerCPU {
		fmt.Fprintf(&b, "per: cpu\ncpus_per_host: %d\n", m.CPUsPerHost)
	} else {
		b.WriteString("per: host\n")
	}
	fmt.Fprintf(&b, "noise_shape: %s\nvariables:\n", m.Shape)
	for _, v := range m.Variables {
		key := "term"
		if v.Noise {
			key = "noise"
		}
		fmt.Fprintf(&b, "  - {kernel: %s, %s: %s}\n", v.Kernel, key, v.Term)
	}
	b.WriteString("classes:\n")
	for i := range m.Classes {
		c := &m.Classes[i]
		fmt.Fprintf(&b, "  - name: %s\n    weight: %s\n    mean: %s\n", strconv.Quote(c.Name), calibrate.FormatNumber(c.Weight), row(c.Mean))
		writeMatrix(&b, "spatial", "between "+m.unit()+"s", c.Spatial)
		writeMatrix(&b, "temporal", "between the days of a "+m.unit(), c.Temporal)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeTexts(b *strings.Builder, description, source string) {
	for _, text := range []struct{ key, value string }{{"description", description}, {"source", source}} {
		if text.value != "" {
			fmt.Fprintf(b, "%s: %s\n", text.key, strconv.Quote(text.value))
		}
	}
}

func writeMatrix(b *strings.Builder, key, what string, m [][]float64) {
	fmt.Fprintf(b, "    %s: # covariance %s\n", key, what)
	for _, r := range m {
		fmt.Fprintf(b, "      - %s\n", row(r))
	}
}

func row(list []float64) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, calibrate.FormatNumber(x))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
