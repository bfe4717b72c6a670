// Package importrules holds the rules of the source tree that the compiler does not
// check.
package importrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for each package of the core, which packages of this module and
// which modules from outside it may import. Commands may import everything.
var allowed = map[string]rule{
	"reprise/trace/vectors":      {},
	"reprise/trace":              {inside: []string{"reprise/trace/warning", "reprise/trace/vectors"}, outside: []string{"google.golang.org/protobuf", "github.com/klauspost/compress"}},
	"reprise/trace/stat":         {inside: []string{"reprise/trace"}},
	"reprise/trace/diff":         {inside: []string{"reprise/trace", "reprise/trace/stat", "reprise/trace/text"}},
	"reprise/trace/cut":          {inside: []string{"reprise/trace"}},
	"reprise/trace/extrapolate":  {inside: []string{"reprise/trace"}},
	"reprise/trace/verify":       {inside: []string{"reprise/trace"}},
	"reprise/trace/text":         {inside: []string{"reprise/trace"}},
	"reprise/platforms/machines": {},
	"reprise/platforms":          {inside: []string{"reprise/platforms/machines", "reprise/trace/warning"}, outside: []string{"golang.org/x/text"}},
	"reprise/platforms/compose":  {inside: []string{"reprise/smpi/option", "reprise/platforms"}},
	"reprise/smpi/option":        {},
	"reprise/smpi":               {inside: []string{"reprise/smpi/option", "reprise/trace/warning", "reprise/platforms", "reprise/netmodel"}},
	"reprise/netmodel":           {inside: []string{"reprise/netmodel/maxmin", "reprise/smpi/option", "reprise/trace/warning", "reprise/platforms", "reprise/kernels/noise"}, outside: []string{"github.com/goccy/go-yaml"}},
	"reprise/netmodel/maxmin":    {},
	"reprise/kernels/noise":      {},
	"reprise/kernels":            {inside: []string{"reprise/platforms/machines", "reprise/trace/warning", "reprise/kernels/noise"}, outside: []string{"github.com/goccy/go-yaml"}},
	"reprise/tracegen":           {inside: []string{"reprise/smpi/option", "reprise/trace/warning", "reprise/trace", "reprise/replay/collective"}},
	"reprise/tracegen/hpl":       {inside: []string{"reprise/smpi/option", "reprise/trace/warning", "reprise/trace", "reprise/trace/text", "reprise/trace/vectors", "reprise/tracegen"}},
	"reprise/tracegen/hpcg":      {inside: []string{"reprise/smpi/option", "reprise/trace", "reprise/trace/text", "reprise/tracegen"}},
	"reprise/tracegen/mxp":       {inside: []string{"reprise/smpi/option", "reprise/trace", "reprise/trace/text", "reprise/tracegen"}},
	"reprise/tracegen/programs":  {inside: []string{"reprise/smpi/option", "reprise/trace", "reprise/tracegen", "reprise/tracegen/hpcg", "reprise/tracegen/hpl", "reprise/tracegen/mxp"}},
	"reprise/tracegen/simgrid":   {inside: []string{"reprise/trace/warning", "reprise/trace", "reprise/tracegen"}},
	"reprise/tracegen/capture":   {inside: []string{"reprise/trace"}},
	"reprise/tracegen/foreign":   {inside: []string{"reprise/trace/warning", "reprise/trace", "reprise/tracegen"}, outside: []string{"google.golang.org/protobuf"}},
	"reprise/tracegen/goal":      {inside: []string{"reprise/trace/warning", "reprise/trace", "reprise/tracegen"}},
	"reprise/replay":             {inside: []string{"reprise/platforms/machines", "reprise/trace/warning", "reprise/kernels/noise", "reprise/trace", "reprise/netmodel", "reprise/smpi", "reprise/kernels", "reprise/platforms", "reprise/platforms/compose", "reprise/replay/collective", "reprise/replay/sampling", "reprise/replay/eventlog"}},
	"reprise/report/timeline":    {inside: []string{"reprise/replay", "reprise/trace", "reprise/report/typedarray", "reprise/report/record"}, outside: []string{"google.golang.org/protobuf"}},
	"reprise/report/profile":     {inside: []string{"reprise/replay", "reprise/trace"}, outside: []string{"github.com/google/pprof"}},
	"reprise/report/table":       {inside: []string{"reprise/replay", "reprise/trace"}, outside: []string{"github.com/parquet-go/parquet-go"}},
	"reprise/calibrate":          {inside: []string{"reprise/trace/warning", "reprise/calibrate/table", "reprise/calibrate/regress", "reprise/calibrate/mixture"}},
	"reprise/calibrate/charts":   {inside: []string{"reprise/trace/warning", "reprise/calibrate"}, outside: []string{"gonum.org/v1/plot"}},
	"reprise/calibrate/hosts":    {inside: []string{"reprise/trace/warning", "reprise/calibrate", "reprise/calibrate/table", "reprise/calibrate/mixture", "reprise/kernels/noise"}, outside: []string{"github.com/goccy/go-yaml", "gonum.org/v1/gonum"}},
	"reprise/calibrate/machine":  {inside: []string{"reprise/trace/warning", "reprise/calibrate/measure", "reprise/calibrate/measure/network", "reprise/kernels", "reprise/trace", "reprise/tracegen/capture", "reprise/tracegen/hpl"}},
	"reprise/calibrate/measure":  {inside: []string{"reprise/trace/warning", "reprise/kernels/noise"}, outside: []string{"golang.org/x/sys"}},
	"reprise/calibrate/mixture":  {},
	"reprise/calibrate/runs":     {inside: []string{"reprise/calibrate", "reprise/calibrate/measure", "reprise/kernels", "reprise/trace", "reprise/tracegen/hpcg"}},
	"reprise/calibrate/regress":  {outside: []string{"gonum.org/v1/gonum"}},
	"reprise/calibrate/sheet":    {inside: []string{"reprise/trace/warning", "reprise/kernels", "reprise/platforms", "reprise/platforms/compose", "reprise/platforms/machines"}, outside: []string{"github.com/goccy/go-yaml"}},
	"reprise/calibrate/table":    {inside: []string{"reprise/trace/warning"}},

	"reprise/calibrate/measure/hpl":     {},
	"reprise/calibrate/measure/network": {inside: []string{"reprise/trace/warning", "reprise/calibrate/measure"}},

	"reprise/report/pop":     {inside: []string{"reprise/netmodel", "reprise/replay"}},
	"reprise/report/path":    {inside: []string{"reprise/netmodel", "reprise/platforms", "reprise/replay", "reprise/replay/eventlog", "reprise/report/typedarray", "reprise/smpi", "reprise/trace"}},
	"reprise/report/compare": {inside: []string{"reprise/replay", "reprise/report"}, outside: []string{"gonum.org/v1/gonum"}},

	"reprise/study/slurm": {},

	"reprise/replay/sampling":   {},
	"reprise/replay/collective": {inside: []string{"reprise/trace"}},
	"reprise/replay/eventlog":   {inside: []string{"reprise/trace"}},
	"reprise/trace/warning":     {},

	"reprise/study":           {inside: []string{"reprise/trace/warning", "reprise/platforms/machines", "reprise/smpi/option", "reprise/trace", "reprise/tracegen/programs", "reprise/platforms", "reprise/platforms/compose", "reprise/calibrate/hosts", "reprise/kernels", "reprise/netmodel", "reprise/smpi", "reprise/replay", "reprise/replay/sampling", "reprise/report/compare", "reprise/report/path", "reprise/report/pop", "reprise/report/table", "reprise/study/design", "reprise/study/workqueue"}, outside: []string{"github.com/goccy/go-yaml", "github.com/parquet-go/parquet-go"}},
	"reprise/study/design":    {outside: []string{"gonum.org/v1/gonum/stat/combin"}},
	"reprise/study/effects":   {},
	"reprise/study/report":    {inside: []string{"reprise/study", "reprise/study/effects", "reprise/report/compare"}},
	"reprise/study/workqueue": {},
	"reprise/study/estimates": {inside: []string{"reprise/replay", "reprise/study/workqueue"}},
	"reprise/study/search":    {outside: []string{"gonum.org/v1/gonum/stat/distuv"}},
	"reprise/study/buy":       {inside: []string{"reprise/calibrate/sheet", "reprise/replay", "reprise/replay/sampling", "reprise/study", "reprise/study/tune", "reprise/trace", "reprise/trace/warning", "reprise/tracegen/hpcg", "reprise/tracegen/programs"}},
	"reprise/study/tune":      {inside: []string{"reprise/platforms/machines", "reprise/trace", "reprise/tracegen/hpl", "reprise/tracegen/hpcg", "reprise/replay", "reprise/replay/sampling", "reprise/report/compare", "reprise/study", "reprise/study/search"}},

	"reprise/report":            {inside: []string{"reprise/replay", "reprise/trace", "reprise/report/typedarray", "reprise/report/path", "reprise/report/pop", "reprise/report/record", "reprise/report/timeline"}, outside: []string{"github.com/klauspost/compress"}},
	"reprise/report/typedarray": {outside: []string{"github.com/klauspost/compress"}},
	"reprise/report/record":     {inside: []string{"reprise/replay", "reprise/trace", "reprise/platforms", "reprise/netmodel", "reprise/report/typedarray"}},
}

type rule struct {
	inside, outside []string
	everything      bool
}

type listedPackage struct {
	ImportPath, Doc       string
	Imports               []string
	GoFiles, XTestGoFiles []string
}

// below lists, of internal/, what may be imported besides the standard library. What the
// core uses stands below it; tests and scripts have some packages of their own above it.
var below = map[string]rule{
	"reprise/internal/eventqueue":  {inside: []string{"reprise/internal/snapshot"}},
	"reprise/internal/keyheap":     {},
	"reprise/internal/bounds":      {},
	"reprise/internal/hugepages":   {outside: []string{"golang.org/x/sys"}},
	"reprise/internal/command":     {inside: []string{"reprise/internal/terminal", "reprise/internal/atomicfile", "reprise/internal/textutil", "reprise/trace/warning"}, outside: []string{"github.com/urfave/cli/v2"}},
	"reprise/internal/docs":        {},
	"reprise/internal/importrules": {},
	"reprise/internal/invariants":  {},
	"reprise/internal/junit":       {},
	"reprise/internal/portable":    {},
	"reprise/internal/sniff":       {inside: []string{"reprise/internal/textutil"}},
	"reprise/internal/regular":     {},
	"reprise/internal/snapshot":    {outside: []string{"github.com/klauspost/compress"}},
	"reprise/internal/terminal":    {inside: []string{"reprise/internal/textutil"}, outside: []string{"github.com/schollz/progressbar/v3", "golang.org/x/term"}},
	"reprise/internal/atomicfile":  {inside: []string{"reprise/internal/regular", "reprise/internal/textutil"}, outside: []string{"golang.org/x/sys"}},
	"reprise/internal/textutil":    {inside: []string{"reprise/internal/bounds"}},
	"reprise/internal/yamlfile":    {inside: []string{"reprise/internal/bounds", "reprise/internal/textutil", "reprise/kernels/noise"}, outside: []string{"github.com/goccy/go-yaml"}},
}

// above are the packages of internal/ that tests and scripts alone import.
var above = map[string]rule{
	"reprise/internal/command/commandtest":   {inside: []string{"reprise/internal/command"}, outside: []string{"github.com/urfave/cli/v2"}},
	"reprise/internal/actiontimes":           {inside: []string{"reprise/internal/textutil", "reprise/replay", "reprise/trace", "reprise/tracegen/simgrid"}},
	"reprise/internal/sniff/snifftest":       {},
	"reprise/internal/regular/regulartest":   {},
	"reprise/internal/snapshot/snapshottest": {inside: []string{"reprise/internal/snapshot"}},
	"reprise/internal/testprogram":           {inside: []string{"reprise/trace"}},
	"reprise/internal/replaytest":            {inside: []string{"reprise/replay", "reprise/trace", "reprise/tracegen/hpl"}},
	"reprise/internal/slurmtest":             {},
	"reprise/internal/tracetest":             {inside: []string{"reprise/trace"}},
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range list(t, "reprise/...") {
		r, ok := ruleOf(p.ImportPath)
		if !ok {
			t.Errorf("%s: a package without a rule; add it to the table of rules or move it", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if ok && !r.permits(imp) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// ruleOf returns the rule of a package. That of the core is in allowed, and it may import
// the packages below it.
func ruleOf(path string) (rule, bool) {
	if isProgram(path) {
		return rule{everything: true}, true
	}
	if r, ok := below[path]; ok {
		return r, true
	}
	if r, ok := above[path]; ok {
		return r, true
	}
	r, ok := allowed[path]
	for path := range below {
		r.inside = append(r.inside, path)
	}
	return r, ok
}

func (r rule) permits(imp string) bool {
	switch {
	case r.everything:
		return true
	case imp == "C":
		return false
	case strings.HasPrefix(imp, "reprise/"):
		return slices.Contains(r.inside, imp)
	case !strings.Contains(strings.Split(imp, "/")[0], "."):
		return true // standard library
	}
	return slices.ContainsFunc(r.outside, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") })
}

func list(t *testing.T, pattern string) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,GoFiles,XTestGoFiles", pattern).Output()
	must(t, err)
	var all []listedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, p)
	}
}

// isProgram reports whether a package is a program, which may import everything.
func isProgram(path string) bool {
	return strings.HasPrefix(path, "reprise/cmd/") || strings.HasPrefix(path, "reprise/scripts/")
}

// TestManuals: the documentation of a package that others can import shows how it is called,
// and says in which units things are, which errors there are, and where its method comes from.
func TestManuals(t *testing.T) {
	for p := range allowed {
		dir := filepath.Join("..", "..", strings.TrimPrefix(p, "reprise/"))
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", p, err)
		}
		text := ""
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
			must(t, err)
			if !strings.HasSuffix(file, "_test.go") {
				text += f.Doc.Text()
			}
		}
		for _, part := range []string{"\n\t", "\n# Units\n", "\n# Errors\n", "\n# Source\n"} {
			if !strings.Contains(text, part) {
				t.Errorf("the documentation of %s has no %q", p, part)
			}
		}
	}
}

// TestPackagesAreDocumented: each package has documentation, and those of the core show it,
// but for what only the commands use.
func TestPackagesAreDocumented(t *testing.T) {
	bare := []string{"reprise/tracegen", "reprise/calibrate/charts", "reprise/calibrate/machine", "reprise/calibrate/mixture", "reprise/calibrate/regress", "reprise/calibrate/runs", "reprise/calibrate/table",
		"reprise/tracegen/programs"}
	for _, p := range list(t, "reprise/...") {
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no documentation", p.ImportPath)
		}
		if _, core := allowed[p.ImportPath]; core && !slices.Contains(bare, p.ImportPath) && !slices.Contains(p.XTestGoFiles, "example_test.go") {
			t.Errorf("%s has no example_test.go", p.ImportPath)
		}
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
