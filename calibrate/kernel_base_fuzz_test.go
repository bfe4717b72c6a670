package calibrate

import (
	"bytes"
	"strings"
	"testing"

	"reprise/kernels"
)

// FuzzBase: a kernel file to which hosts are added is refused, or becomes one with hosts.
func FuzzBase(f *testing.F) {
	const rest = "unit: s\n# of kernels\nkernels:\n  daxpy: 7\n  dscal: {terms: {N: 2}}\n"
	for _, text := range []string{
		"version: 1\n" + rest, "version: 1\ndescription: x\nsource: y\n" + rest, "version: 1\nsource: |\n  y\n\n# z\n" + rest,
		rest + "version: 1", "---\r\nversion: 1\r\n" + rest, "{version: 1}", "version: 1\n" + rest + "hosts: []\n", "\ufeffversion: 1\n" + rest, "version: 1\n" + rest + "...\n",
		"n: \re<n\rt?:", "version: 1\n" + rest + "!\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, base []byte) {
		_, invalid := kernels.Parse(bytes.NewReader(base), "base")
		var b strings.Builder
		if CheckBase(base) != nil || WriteBase(&b, base, FileOptions{Description: "drawn", Source: "a law", BaseName: "base"}, 2) != nil {
			return
		}
		b.WriteString("  - {host: a, kernels: {dgemm: 1}}\n")
		if _, err := kernels.Parse(strings.NewReader(b.String()), "made"); err != nil && invalid == nil {
			t.Errorf("%v\n%s", err, b.String())
		}
	})
}
