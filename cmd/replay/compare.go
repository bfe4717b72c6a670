package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/report"
	"reprise/report/compare"
)

const compareHelp = "A is the base. A file is what --json prints, of one replay, --runs, --tolerance or " +
	"--uncertainty, or a page of --report; - is standard input.\n" +
	"With --threshold the exit code is 1 if a result is worse: " +
	"its slowdown is above the threshold with 95 % confidence.\n\n" +
	"    replay compare base.json new.json\n" +
	"    replay compare --threshold 1% --markdown base.json new.json > summary.md\n" +
	"    replay --kernels noisy.yaml --runs 10 --json run.trace.zst | " +
	"replay compare --threshold 1% --junit result.xml base.json -"

// compareCommand is "replay compare", which compares results. Its flags are its own, also those that are called as
// flags of replays are.
func compareCommand() *cli.Command {
	return command.Prepare(&cli.Command{
		Name: "compare",
		Usage: "compare results: what is slower, where, and whether that is more than noise; " +
			"exit 0 not worse, 1 worse, 2 in trouble",
		ArgsUsage:   "A B ...",
		Description: compareHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "threshold", DefaultText: "no gate",
				Usage: "exit 1 if the makespan is more than `T` (1%, or 0.01) above that of A, with 95 % confidence"},
			&cli.StringFlag{Name: "test", Value: string(compare.Welch),
				Usage: "tell differences of several seeds from noise by `welch|permutation`: " +
					"Welch's t-test, or a permutation test"},
			command.Switch("paired", "compare seed by seed: A and B have the same seeds"),
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` names the random permutations of --test permutation"},
			command.Switch("markdown", "print Markdown"),
			command.Switch("json", "print JSON"),
			&cli.StringFlag{Name: "junit", Usage: "write a check for each B to `FILE`, too, as JUnit's XML"},
			&cli.StringFlag{Name: "report",
				Usage: "write a page with the runs on the same axes to `FILE`, too; A and B are such pages, of one run"},
		},
		Action: func(c *cli.Context) error {
			begun()
			command.InterruptedCode(command.Trouble)
			return command.Compared(compareFiles(c))
		},
	})
}

// compareFiles compares the files of a command line and writes the comparison. It reads all files before it compares
// any, so that a mistake in the last name does not cost the time of tests. The comparison is printed before files are
// written.
func compareFiles(c *cli.Context) (worse bool, err error) {
	defer textutil.Stopped(&err)
	// The command line. The first flag that stands before the word compare, where flags of replays are, is refused.
	o := compare.Options{Test: compare.Test(c.String("test")), Paired: c.Bool("paired"), Seed: c.Uint64("seed"),
		Gate: c.IsSet("threshold")}
	if o.Gate {
		o.Threshold = textutil.Must(parseShare("threshold", c.String("threshold"), true))
	}
	if names := c.Lineage()[1].LocalFlagNames(); len(names) > 0 {
		return false, command.Usagef("--%s is for replays: flags of replay compare come behind its name", names[0])
	}
	// Mistakes that need no file to be seen.
	files := c.Args().Slice()
	stdin := slices.Index(files, "-")
	switch {
	case len(files) < 2:
		return false, command.Usagef("compare: want 2 results or more, got %d", len(files))
	case o.Test != compare.Welch && o.Test != compare.Permutation:
		return false, command.Usagef("compare: --test %q, want welch or permutation", c.String("test"))
	case stdin >= 0 && slices.Contains(files[stdin+1:], "-"):
		return false, command.Usagef("compare: standard input can be read only once")
	case c.IsSet("seed") && o.Test != compare.Permutation:
		return false, command.Usagef("compare: --seed is of --test permutation")
	case c.Bool("json") && c.Bool("markdown"):
		return false, command.Usagef("compare: --json and --markdown exclude each other")
	}
	// Files to write may not replace those that are read, or each other.
	junit, page := c.String("junit"), c.String("report")
	for _, out := range [][2]string{{"junit", junit}, {"report", page}} {
		if out[1] == "-" {
			return false, command.Usagef("compare: --%s wants a file, as the comparison goes to standard output; "+
				"write ./- for a file named -", out[0])
		}
		command.CheckOutput(c, out[0], files...)
	}
	if err := atomicfile.Distinct(junit, page); err != nil {
		return false, command.Usagef("compare: %w", err)
	}

	// The results; with --report, the pages that have them, which are shown together.
	var results []*compare.Result
	var pages []*report.Data
	for _, path := range files {
		r := readResult(path, c.App.Reader)
		results, pages = append(results, r), append(pages, r.Page)
	}
	if i := slices.Index(pages, nil); i >= 0 && page != "" {
		return false, fmt.Errorf("%s is no page, and --report shows pages that replay --report has written", files[i])
	}
	// Tests of permutations take seconds for each figure. The number of figures is known once the results are read.
	bar := terminal.NewBar(c.App.ErrWriter, false, 1, "figures compared")
	o.Progress = bar.SetOf
	r, err := compare.Compare(results[0], results[1:], o)
	bar.Clear()
	textutil.Check(err)

	write := func(w io.Writer) error { return r.WriteText(terminal.Wide(w)) }
	switch {
	case c.Bool("json"):
		write = r.WriteJSON
	case c.Bool("markdown"):
		write = r.WriteMarkdown
	}
	textutil.Check(write(c.App.Writer))
	if junit != "" {
		err = atomicfile.Write(junit, r.WriteJUnit)
	}
	if page != "" {
		err = errors.Join(err, atomicfile.Write(page, func(w io.Writer) error {
			var text bytes.Buffer
			if err := r.WriteJSON(&text); err != nil {
				return err
			}
			return report.WriteCompared(w, text.Bytes(), pages...)
		}))
	}
	return r.Worse, err
}

// readResult reads a result from a file, or from standard input. A directory opens as well as a file, and fails when it
// is read, by an error that says little.
func readResult(path string, stdin io.Reader) *compare.Result {
	if path == "-" {
		return textutil.Must(compare.Read("stdin", stdin))
	}
	f := textutil.Must(os.Open(path))
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		textutil.Stop(fmt.Errorf("%s: a directory, want a file", path))
	}
	return textutil.Must(compare.Read(path, f))
}
