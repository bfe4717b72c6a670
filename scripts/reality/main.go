package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/internal/page"
)

func main() {
	if err := reality(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reality:", err)
		os.Exit(1)
	}
}

// config is the command line.
type config struct {
	bin, work, page, budget string
	short                   bool
}

func parseFlags(args []string) (*config, error) {
	o := &config{}
	f := flag.NewFlagSet("reality", flag.ContinueOnError)
	f.StringVar(&o.bin, "bin", "bin", "directory of calibrate, tracegen and replay")
	f.StringVar(&o.work, "o", "out/reality", "directory of machines, predictions and runs, kept between calls")
	f.StringVar(&o.page, "page", "docs/reality.md", "the page to write in")
	f.StringVar(&o.budget, "budget", "4m", "time for measuring each machine: one for each grid and size")
	f.BoolVar(&o.short, "short", false, "two small runs, and no page: whether all of it works")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("want flags only, not %q", f.Args())
	}
	var err error
	o.bin, err = filepath.Abs(o.bin)
	return o, err
}

func reality(args []string, out io.Writer) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	l := lab{config: o, plan: &fullPlan, out: out}
	if o.short {
		l.plan = &shortPlan
	}
	if err := os.MkdirAll(o.work, 0o777); err != nil {
		return err
	}
	predicted, err := l.predictions()
	if err != nil {
		return err
	}
	measured, err := l.runs()
	if err != nil {
		return err
	}
	results, err := join(l.plan, predicted, measured)
	if err != nil {
		return err
	}
	table := results.table()
	fmt.Fprintln(out, table)
	if !o.short {
		if err := page.RewriteSection(o.page, "results", l.conditions(measured)+"\n"+table+"\n"+results.verdict()); err != nil {
			return err
		}
	}
	fmt.Fprint(out, results.verdict())
	_, err = fmt.Fprintln(out, results.lastLine())
	return err
}
