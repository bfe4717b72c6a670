package calibrate

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"reprise/internal/yamlfile"
	"reprise/kernels"
)

// entriesOf returns the keys of a kernel file, and its description and source.
func entriesOf(t *testing.T, text string) (keys []string, description, source string) {
	t.Helper()
	d := yamlfile.Document{File: "file"}
	root, err := d.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	list, err := d.Entries(root, "file")
	must(t, err)
	for _, e := range list {
		switch text, _ := d.Text(e.Value, e.Key); e.Key {
		case "description":
			description += text
		case "source":
			source += text
		default:
			keys = append(keys, e.Key)
		}
	}
	return keys, description, source
}

// TestBaseSaysWhatItIs: a file made from another one has its own description and source, which say
// what the other's are about, in whatever form that has them; all else is as it was.
func TestBaseSaysWhatItIs(t *testing.T) {
	const rest = "unit: s\n# of kernels\nkernels:\n  daxpy: 7\n  dscal: {terms: {N: 2}}\n"
	bases := map[string]string{
		"plain":     "# a comment\nversion: 1\ndescription: DESC\nsource: SRC\n" + rest,
		"quoted":    "version: 1\n\"description\": \"DESC\"\n'source': 'SRC'\n" + rest,
		"folded":    "version: 1\ndescription: >-\n  DESC\nsource: |\n  SRC\n\n# after it\n" + rest,
		"two lines": "version: 1\nsource: \"SR\\\n  C\"\ndescription: DESC\n" + rest,
		"at end":    rest + "source: SRC\ndescription: DESC # said\nversion: 1",
		"CR LF":     strings.ReplaceAll("---\nversion: 1\ndescription: DESC\nsource: >-\n  SRC\n"+rest, "\n", "\r\n"),
		"none":      "version: 1\n" + rest,
	}
	for _, name := range kernels.BuiltinNames() {
		text, err := kernels.BuiltinText(name)
		must(t, err)
		if CheckBase(text) == nil {
			bases[name] = string(text)
		}
	}
	for name, base := range bases {
		keys, description, source := entriesOf(t, base)
		if description == "" {
			description = "not said"
		}
		if source == "" {
			source = "not said"
		}
		var b strings.Builder
		if err := WriteBase(&b, []byte(base), FileOptions{Description: "drawn\nhosts", Source: "a law", BaseName: name}, 2); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b.WriteString("  - {host: a, kernels: {dgemm: 1}}\n")
		if _, err := kernels.Parse(bytes.NewReader([]byte(b.String())), name); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
		gotKeys, gotDescription, gotSource := entriesOf(t, b.String())
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == "network_error" }) // of the base's network
		if want := append(keys, "cpus_per_host", "hosts"); !slices.Equal(gotKeys, want) {
			t.Errorf("%s: keys %v, want %v", name, gotKeys, want)
		}
		if want := "drawn hosts; all else is from " + name + ": " + oneLine(description); gotDescription != want {
			t.Errorf("%s: description %q, want %q", name, gotDescription, want)
		}
		if want := "a law; all else is from " + name + ": " + oneLine(source); gotSource != want {
			t.Errorf("%s: source %q, want %q", name, gotSource, want)
		}
		if before, after := strings.Count(base, "#"), strings.Count(b.String(), "#"); name != "at end" && after != before+1 {
			t.Errorf("%s: %d comments, want %d and one more\n%s", name, after, before, b.String())
		}
	}
}

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
