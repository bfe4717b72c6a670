package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/slurmtest"
)

// scaled lists the commands of the pages that take too long as they stand: where
// the text contains whole, the test runs it with part in its place; where both are equal, it runs as it
// stands, but not in the short test. Everything else runs as written.
var scaled = []struct{ page, whole, part string }{
	// 10.4 million messages, 15 s; scripts/demo.sh runs all of it.
	{"README.md", "-N 50000 --NB 128", "-N 50000 --NB 128 --first-steps 3"},
	// Ten minutes.
	{"README.md", "machine here --for two.trace.zst", "machine here --for two.trace.zst --budget 15s"},
	{"docs/calibrate.md", "--budget 10m -o kernels.csv", "--budget 5s -o kernels.csv"},
	// Five minutes; the short test takes the table of testdata/docs.
	{"docs/calibrate.md", "measure network -o network.csv", "measure network --sizes 20 --max 200000 --reps 5 --budget 30s -o network.csv"},
	// A quarter of an hour each.
	{"docs/calibrate.md", "machine here --for two.trace.zst --budget 15m", "machine here --for two.trace.zst --budget 15s"},
	{"docs/tutorial.md", "--budget 15m", "--budget 20s"},
	{"docs/tutorial.md", "-N 100000 --NB 192 -P 8 -Q 8", "-N 100000 --NB 192 -P 8 -Q 8 --first-steps 20"},
	{"docs/tutorial.md", "--budget 45m -- srun -N 2 -n 4", "--budget 20s -- mpirun -np 2"},
	// Twenty seconds each.
	{"docs/calibrate.md", "--budget 20s -o loops.csv", "--budget 20s -o loops.csv"},
	{"docs/hpcg.md", "--platform p.xml run", "--platform p.xml run"},
	// Minutes each.
	{"docs/hpcg.md", "--budget 1m --noise auto", "--budget 12s --noise auto"},
	{"docs/hpcg.md", "--platform one.xml run", "--platform one.xml --steps 0:1 run"},
	{"docs/what-studies-say.md", " -o ", " --dry-run -o "},
	{"docs/sampling.md", "-N 3875000 --NB 1024", "-N 3875000 --NB 1024 --first-steps 1"},
}

// command is a command line of a page.
type command struct {
	page string
	line int
	text string
}

func (c command) String() string { return fmt.Sprintf("%s:%d: %s", c.page, c.line, c.text) }

var comment = regexp.MustCompile(`\s+#.*$`)

// commands returns the command lines of a page, as CONTRIBUTING.md defines them.
func commands(p page) []command {
	var list []command
	code, _ := split(p.text)
	for _, l := range code {
		text := comment.ReplaceAllString(strings.TrimPrefix(l.text, "$ "), "")
		first, _, _ := strings.Cut(text, " ")
		drawing := strings.ContainsAny(text, "─▶│")
		if slices.Contains([]string{"tracegen", "replay", "trace", "calibrate", "study", "make"}, first) && first != text && !drawing {
			list = append(list, command{p.path, l.number, text})
		}
	}
	return list
}

// choice matches the brackets or alternatives of a synopsis, which shows the form of a command: "trace stat [--json]
// FILE|-".
var choice = regexp.MustCompile(`\[|\S\|\S`)

// TestCommands compares the pages with the commands as they are built from here.
func TestCommands(t *testing.T) {
	bin := build(t)
	t.Run("run", func(t *testing.T) { testRun(t, bin) })
	t.Run("flags", func(t *testing.T) { testFlags(t, bin) })
	t.Run("buy", func(t *testing.T) { testBuy(t, bin) })
	t.Run("tools", func(t *testing.T) { testTools(t, bin) })
	t.Run("installed", func(t *testing.T) { testInstalled(t, bin) })
}

// testRun runs each command of README.md and docs/*.md, those of a page one after
// the other in the same directory. The short test leaves out the scaled ones.
func testRun(t *testing.T, bin string) {
	used := make([]bool, len(scaled)) // each row by one page
	t.Run("page", func(t *testing.T) {
		for _, p := range readPages(t, "README.md", "docs/*.md") {
			list := commands(p)
			if len(list) == 0 {
				continue
			}
			t.Run(p.path, func(t *testing.T) {
				if testing.Short() { // pages that measure have the machine for themselves
					t.Parallel()
				}
				s := newShell(t, bin)
				for _, c := range list {
					text := c.text
					long := false
					for i, row := range scaled {
						if row.page == c.page && strings.Contains(text, row.whole) && !long {
							used[i], long = true, true
							text = strings.Replace(text, row.whole, row.part, 1)
						}
					}
					if !long || !testing.Short() {
						s.check(t, c, text)
					}
				}
			})
		}
	})
	for i, s := range scaled {
		if !used[i] {
			t.Errorf("%s has no command with %q any more: remove the row of scaled", s.page, s.whole)
		}
	}
}

// check runs c as text, or checks what cannot run: targets of make exist, and the
// flags of a synopsis.
func (s *shell) check(t *testing.T, c command, text string) {
	t.Helper()
	t.Log(text)
	_, missing := os.Stat(filepath.Join(s.dir, "here"))
	_, noRun := exec.LookPath("mpirun")
	_, noCompiler := exec.LookPath("mpicc")
	switch {
	case strings.HasPrefix(text, "make "):
		makefile := readPages(t, "Makefile")[0].text
		for _, target := range strings.Fields(c.text)[1:] {
			if !strings.Contains(target, "=") && !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("%v: no target %s", c, target)
			}
		}
	case choice.MatchString(c.text):
		name := commandName.FindString(c.text)
		help := s.mustRun(t, name+" --help", 0)
		for _, flag := range longFlag.FindAllString(c.text, -1) {
			if !mentions(help, flag) {
				t.Errorf("%v: %s has no flag %s", c, name, flag)
			}
		}
	case c.isSubmit():
		t.Log("needs a Slurm: TestClusters runs it")
	case strings.Contains(text, "-- mpirun") && errors.Join(noRun, noCompiler) != nil:
		t.Log("no MPI is installed: not run")
	case (strings.Contains(text, "--machine here") || strings.Contains(text, "node/")) && missing != nil:
		t.Log("no machine was calibrated: not run")
	case (strings.Contains(text, "measure kernels") || strings.Contains(text, "calibrate machine")) && !hasBLAS():
		t.Log("no BLAS is installed: not run")
	// The traces and results to compare are different.
	case strings.HasPrefix(c.text, "trace diff "), strings.HasPrefix(c.text, "study check "):
		s.mustRun(t, text, 1)
	default:
		s.mustRun(t, text, 0)
	}
}

// isSubmit reports that the command submits jobs to a scheduler.
func (c command) isSubmit() bool {
	return strings.HasPrefix(c.text, "study submit ") && !choice.MatchString(c.text)
}

// TestClusters runs the commands of docs/clusters.md where there is a Slurm.
func TestClusters(t *testing.T) {
	slurmtest.Start(t)
	s := newShell(t, build(t))
	for _, c := range commands(readPages(t, "docs/clusters.md")[0]) {
		if c.isSubmit() {
			s.mustRun(t, c.text, 0)
		} else {
			s.check(t, c, c.text)
		}
	}
}

// hasBLAS reports whether there is a library that calibrate measure kernels finds.
func hasBLAS() bool {
	for _, pattern := range []string{"/usr/lib/*/libopenblas.so.0", "/usr/lib/*/libblas.so.3", "/usr/lib64/libopenblas.so.0"} {
		if paths, err := filepath.Glob(pattern); err == nil && len(paths) > 0 {
			return true
		}
	}
	return false
}

var longFlag = regexp.MustCompile(`--[A-Za-z0-9-]+`)

var commandName = regexp.MustCompile(`^[a-z]+( [a-z]+){0,2}\b`)

// ofAll are the flags that all commands have; docs/commands.md has them.
var ofAll = []string{"--help", "--version", "--generate"}

// flags returns the flags of a command, but for those of all, each with all its names: those that its help
// lists, or, where it lists no other than --help, those of the synopsis.
func (s *shell) flags(t *testing.T, name string) [][]string {
	t.Helper()
	var flags [][]string
	help := s.mustRun(t, name+" --help", 0)
	for _, line := range strings.Split(help, "\n") {
		line, ok := strings.CutPrefix(line, "   -")
		if !ok {
			continue
		}
		forms, _, _ := strings.Cut("-"+line, "  ") // the description is some spaces away
		var names []string
		for _, form := range strings.Split(forms, ", ") {
			names = append(names, strings.Fields(form)[0])
		}
		flags = append(flags, names)
	}
	if len(flags) == 1 && !strings.Contains(help, "\nCOMMANDS:\n") { // in the usage; examples of groups are other commands
		for _, flag := range longFlag.FindAllString(help, -1) {
			flags = append(flags, []string{flag})
		}
	}
	return slices.DeleteFunc(flags, func(names []string) bool { return slices.Contains(ofAll, names[0]) })
}

// testFlags: each flag that a command has stands on its page.
func testFlags(t *testing.T, bin string) {
	s := &shell{bin, t.TempDir()}
	for _, flag := range ofAll {
		if !mentions(readPages(t, "docs/commands.md")[0].text, flag) {
			t.Errorf("docs/commands.md does not mention %s", flag)
		}
	}
	for page, commands := range map[string][]string{
		"docs/hpl.md": {"tracegen hpl", "tracegen hpl-mxp"}, "docs/hpcg.md": {"tracegen hpcg"}, "docs/capture.md": {"tracegen mpi"},
		"docs/replay.md": {"replay"}, "docs/compare.md": {"replay compare"}, "docs/interop.md": {"trace convert"},
		"docs/platforms.md":   {"replay platform", "replay platform new"},
		"docs/trace-tools.md": {"trace cat", "trace stat", "trace verify", "trace diff"},
		"docs/studies.md": {"study run", "study worker", "study status", "study report", "study archive", "study rerun",
			"study check"},
		"docs/tuning.md": {"study tune"}, "docs/clusters.md": {"study submit"},
		"docs/calibrate.md": {"calibrate kernels", "calibrate network", "calibrate hosts", "calibrate measure kernels",
			"calibrate measure network"},
	} {
		text := readPages(t, page)[0].text
		for _, command := range commands {
			for _, names := range s.flags(t, command) {
				if !slices.ContainsFunc(names, func(name string) bool { return mentions(text, "--?"+strings.TrimLeft(name, "-")) }) {
					t.Errorf("%s does not mention %s of %s", page, names[0], command)
				}
			}
		}
	}
}

// mentions reports whether something in the text matches as a word of its own.
func mentions(text, pattern string) bool {
	return regexp.MustCompile(`(^|[^\w-])` + pattern + `($|[^\w-])`).MatchString(text)
}

// testTools: each command of trace is on the page of the tools, in the README and in
// the list of changes.
func testTools(t *testing.T, bin string) {
	s := &shell{bin, t.TempDir()}
	_, help, found := strings.Cut(s.mustRun(t, "trace --help", 0), "COMMANDS:\n")
	if !found {
		t.Fatal("trace --help: no list of commands")
	}
	list, _, _ := strings.Cut(help, "\n\n")
	pages := readPages(t, "docs/trace-tools.md", "README.md", "CHANGELOG.md")
	for _, line := range strings.Split(list, "\n") {
		name := strings.Fields(line)[0]
		for _, p := range pages {
			if !mentions(p.text, name) {
				t.Errorf("%s does not mention trace %s", p.path, name)
			}
		}
	}
}

// TestDemo: the demonstration runs the command of the README's first screen.
func TestDemo(t *testing.T) {
	readme := readPages(t, "README.md")[0]
	demo := readPages(t, "scripts/demo.sh")[0].text
	i := slices.IndexFunc(commands(readme), func(c command) bool { return strings.HasPrefix(c.text, "tracegen ") })
	if first := commands(readme)[i].text; !strings.Contains(demo, first) {
		t.Errorf("scripts/demo.sh does not run %q", first)
	}
}
