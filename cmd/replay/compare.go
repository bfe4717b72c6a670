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
	"reprise/report"
	"reprise/report/compare"
)

// trouble is the exit code of a comparison that could not be made.
const trouble = 2

const compareHelp = "A is the base. A file is what --json prints, of one replay, --runs, --tolerance or --uncertainty, or a page of --report; - is standard input.\n" +
	"With --threshold the exit code is 1 if a result is worse: its slowdown is above the threshold with 95 % confidence.\n\n" +
	"    replay compare base.json new.json\n" +
	"    replay compare --threshold 1% --markdown base.json new.json > summary.md\n" +
	"    replay --kernels noisy.yaml --runs 10 --json run.trace.zst | replay compare --threshold 1% --junit result.xml base.json -"

// compareCommand is "replay compare", which compares results.
func compareCommand() *cli.Command {
	return command.Prepare(&cli.Command{
		Name:        "compare",
		Usage:       "compare results: what is slower, where, and whether that is more than noise; exit 0 not worse, 1 worse, 2 in trouble",
		ArgsUsage:   "A B ...",
		Description: compareHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "threshold",
				Usage: "exit 1 if the makespan is more than `T` (1%, or 0.01) above that of A, with 95 % confidence", DefaultText: "no gate"},
			&cli.StringFlag{Name: "test", Value: string(compare.Welch),
				Usage: "tell differences of several seeds from noise by `welch|permutation`: Welch's t-test, or a permutation test"},
			&cli.BoolFlag{Name: "paired", Usage: "compare seed by seed: A and B have the same seeds", DisableDefaultText: true},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` names the random permutations of --test permutation"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown", DisableDefaultText: true},
			&cli.BoolFlag{Name: "json", Usage: "print JSON", DisableDefaultText: true},
			&cli.StringFlag{Name: "junit", Usage: "write a check for each B to `FILE`, too, as JUnit's XML"},
			&cli.StringFlag{Name: "report",
				Usage: "write a page with the runs on the same axes to `FILE`, too; A and B are such pages, of one run"},
		},
		Action: func(c *cli.Context) error {
			begun()
			command.InterruptedCode(trouble)
			worse, err := compareFiles(c)
			if err != nil {
				return command.Code(err, trouble)
			}
			if worse {
				return command.Silent
			}
			return nil
		},
	})
}

// compareFiles compares the files of a command line and writes what was asked for.
func compareFiles(c *cli.Context) (worse bool, err error) {
	o, err := compareOptions(c)
	if err != nil {
		return false, err
	}
	results, err := readResults(c)
	if err != nil {
		return false, err
	}
	pages, err := pagesOf(c, results)
	if err != nil {
		return false, err
	}
	bar := terminal.NewBar(c.App.ErrWriter, false, 1, "figures compared")
	o.Progress = bar.SetOf
	r, err := compare.Compare(results[0], results[1:], o)
	bar.Clear()
	if err != nil {
		return false, err
	}
	write := func(w io.Writer) error { return r.WriteText(terminal.Wide(w)) }
	switch {
	case c.Bool("json"):
		write = r.WriteJSON
	case c.Bool("markdown"):
		write = r.WriteMarkdown
	}
	if err := write(c.App.Writer); err != nil {
		return false, err
	}
	if path := c.String("junit"); path != "" {
		err = atomicfile.Write(path, r.WriteJUnit)
	}
	if path := c.String("report"); path != "" {
		err = errors.Join(err, atomicfile.Write(path, func(w io.Writer) error { return writeCompared(w, r, pages) }))
	}
	return r.Worse, err
}

// writeCompared writes the page of runs with what their comparison says.
func writeCompared(w io.Writer, r *compare.Comparison, pages []*report.Data) error {
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		return err
	}
	return report.WriteCompared(w, text.Bytes(), pages...)
}

// pagesOf returns what the pages have that are to be shown together; nil if none are.
func pagesOf(c *cli.Context, results []*compare.Result) (pages []*report.Data, err error) {
	if c.String("report") == "" {
		return nil, nil
	}
	for _, r := range results {
		if r.Page == nil {
			return nil, fmt.Errorf("%s is no page, and --report shows pages that replay --report has written", r.File)
		}
		pages = append(pages, r.Page)
	}
	return pages, nil
}

func compareOptions(c *cli.Context) (o compare.Options, err error) {
	o = compare.Options{Test: compare.Test(c.String("test")), Paired: c.Bool("paired"), Seed: c.Uint64("seed"),
		Gate: c.IsSet("threshold")}
	if o.Gate {
		if o.Threshold, err = parseShare("threshold", c.String("threshold"), true); err != nil {
			return o, err
		}
	}
	if names := c.Lineage()[1].LocalFlagNames(); len(names) > 0 {
		return o, command.Usagef("--%s is for replays: flags of replay compare come behind its name", names[0])
	}
	switch {
	case c.NArg() < 2:
		return o, command.Usagef("compare: want 2 results or more, got %d", c.NArg())
	case o.Test != compare.Welch && o.Test != compare.Permutation:
		return o, command.Usagef("compare: --test %q, want welch or permutation", c.String("test"))
	case count(c.Args().Slice(), "-") > 1:
		return o, command.Usagef("compare: standard input can be read only once")
	case c.IsSet("seed") && o.Test != compare.Permutation:
		return o, command.Usagef("compare: --seed is of --test permutation")
	case c.Bool("json") && c.Bool("markdown"):
		return o, command.Usagef("compare: --json and --markdown exclude each other")
	}
	return o, checkCompared(c)
}

// checkCompared refuses files to write that would replace what is read, or each other.
func checkCompared(c *cli.Context) error {
	for _, name := range []string{"junit", "report"} {
		if c.String(name) == "-" {
			return command.Usagef("compare: --%s wants a file, as the comparison goes to standard output; ./- is one of the name -", name)
		}
		if err := atomicfile.CheckOverwrite(c.String(name), c.Args().Slice()...); err != nil {
			return command.Usagef("compare: --%s %w", name, err)
		}
		if err := atomicfile.Check(c.String(name)); err != nil {
			return err
		}
	}
	if err := atomicfile.Distinct(c.String("junit"), c.String("report")); err != nil {
		return command.Usagef("compare: %w", err)
	}
	return nil
}

// count returns how often a word is among words.
func count(words []string, word string) int {
	return len(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w != word }))
}

// readResults reads the files of a command line.
func readResults(c *cli.Context) (list []*compare.Result, err error) {
	for _, path := range c.Args().Slice() {
		r, err := readResult(path, c.App.Reader)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func readResult(path string, stdin io.Reader) (*compare.Result, error) {
	if path == "-" {
		return compare.Read("stdin", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: %w", path, errors.New("a directory, want a file"))
	}
	return compare.Read(path, f)
}
