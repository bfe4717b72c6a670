package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/study/buy"
)

const (
	mostSheets = 3
	mostDraws  = 1000
	// mostFill leaves room for what HPL allocates besides the matrix.
	mostFill = 0.95
	// Levels of intervals that few draws can give.
	leastLevel, mostLevel = 0.5, 0.99
)

// buyCommand is study buy, which answers by data sheets alone.
func buyCommand() *cli.Command {
	return &cli.Command{
		Name:      "buy",
		Usage:     "predict machines from their data sheets",
		UsageText: "study buy SHEET.yaml [SHEET.yaml [SHEET.yaml]] [options]",
		Description: "HPL and HPCG with intervals, the best parameters of HPL, and what changes of the machine would bring, side by\n" +
			"side for up to three machines. docs/calibrate.md has the keys of a sheet.\n\n" +
			"    study buy sheet.yaml --dry-run\n" +
			"    study buy sheet.yaml other.yaml --budget 30m -o page.html",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "fill", Usage: "the matrix, and HPCG's boxes, take this `SHARE` of the memory", Value: "80%"},
			&cli.StringFlag{Name: "level", Usage: "intervals hold with probability `P`", Value: "80%"},
			&cli.IntFlag{Name: "draws", Usage: "`N` drawn machines for each interval", Value: 5},
			&cli.StringFlag{Name: "tolerance", Usage: "replay to within `T`", Value: "2%"},
			&cli.DurationFlag{Name: "budget", DefaultText: "none", Usage: "stop after this `TIME`, such as 10m, and print what is known"},
			outputFlag("write a page, `FILE.html`", "none"),
			jobsFlag("use `N` cores"),
			command.Switch("dry-run", "say what would be replayed and what it may cost, and stop"),
			command.Switch("json", "print the result as JSON"),
			command.Switch("quiet", "no progress on stderr"),
		},
		Action: runBuy,
	}
}

// runBuy is the command buy.
func runBuy(c *cli.Context) (err error) {
	if n := c.NArg(); n < 1 || n > mostSheets {
		return command.Usagef("buy: %d arguments, want data sheets of 1 to %d machines", n, mostSheets)
	}
	r := buy.Request{Draws: c.Int("draws"), Jobs: jobsOf(c, runtime.GOMAXPROCS(0)), Tool: "study " + version(), Budget: c.Duration("budget")}
	if r.Draws < 3 || r.Draws > mostDraws {
		return command.Usagef("buy: --draws %d, want 3 to %d", r.Draws, mostDraws)
	}
	for _, of := range []struct {
		flag, whole string
		value       *float64
		least, most float64
	}{{"fill", "the memory", &r.Fill, 0, mostFill}, {"level", "all runs", &r.Level, leastLevel, mostLevel},
		{"tolerance", "the makespan", &r.Tolerance, 0, 1}} {
		*of.value, err = textutil.ParsePercent(c.String(of.flag), of.whole, false)
		command.CheckFlag(c, of.flag, err)
		if *of.value < of.least || *of.value > of.most {
			return command.Usagef("buy: --%s %s, want %g%% to %g%%", of.flag, c.String(of.flag), 100*of.least, 100*of.most)
		}
	}
	for _, path := range c.Args().Slice() {
		r.Sheets = append(r.Sheets, buy.Sheet{File: path, Text: textutil.Must(regular.Read(path, yamlfile.MaxBytes))})
	}
	// Machines are on the disk for as long as the command runs: the commands of the result make them anew.
	r.Dir = textutil.Must(os.MkdirTemp("", "study-buy-"))
	defer os.RemoveAll(r.Dir)
	if c.Bool("dry-run") {
		p := textutil.Must(buy.Predict(r))
		command.Warn(c, p.Warnings)
		fmt.Fprint(c.App.Writer, p.Text)
		return nil
	}

	ctx, stop, stopped := searchTime(c)
	defer stop()
	bar := terminal.NewCount(c.App.ErrWriter, c.Bool("quiet"), "replays")
	r.Progress, r.Note = bar.SetLeft, bar.Note
	r.Begin = func(p buy.Prediction) {
		if !c.Bool("quiet") && p.Time > worthTelling {
			command.Tell(c.App.ErrWriter, "study", p.Line)
		}
	}
	result, err := buy.Run(ctx, r)
	bar.Clear()
	if err != nil {
		return cmp.Or(stopped(""), tooShort(c, err))
	}
	if path := c.String("output"); path != "" {
		err = atomicfile.Write(path, result.WriteHTML)
	}
	return errors.Join(show(c, result), err, stopped(""))
}

// worthTelling is how long a command lasts at least that says so before.
const worthTelling = 10 * time.Second
