package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/internal/page"
)

func main() {
	if err := report(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// config is the command line.
type config struct {
	only []string // names of parts; none: all, or all that are not long
	long bool
	runs int
	bin  string
	page string
}

func parseFlags(args []string) (*config, error) {
	o := &config{}
	f := flag.NewFlagSet("report", flag.ContinueOnError)
	only := f.String("only", "", "comma-separated parts: "+strings.Join(partNames(), ", "))
	f.BoolVar(&o.long, "long", false, "measure the parts that take longer than minutes too")
	f.IntVar(&o.runs, "runs", 3, "runs of short measurements, of which the median counts")
	f.StringVar(&o.bin, "bin", "bin", "directory of tracegen, replay and trace")
	f.StringVar(&o.page, "page", "docs/performance.md", "the page to write in")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 || o.runs < 1 {
		return nil, fmt.Errorf("want flags only, and at least one run")
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	return o, nil
}

// report measures the chosen parts, one after the other, and writes each to the
// page when it is done. Several parts have a process each: Linux counts the peak
// memory of a process, which drawing plots raises, as that of all it starts later.
func report(args []string, log io.Writer) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	chosen, err := chooseParts(o.only, o.long)
	if err != nil {
		return err
	}
	if len(chosen) == 1 {
		return o.reportPart(chosen[0], log)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, p := range chosen {
		cmd := exec.Command(self, append(slices.Clone(args), "-only", p.name)...)
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// reportPart measures a part and writes it to the page.
func (o *config) reportPart(p part, log io.Writer) error {
	l, err := newRunner(o, log)
	if err != nil {
		return err
	}
	defer l.close()
	begin := time.Now()
	body, err := p.measure(l)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if err := page.RewriteSection(o.page, p.name, body+l.stamp(p.name)); err != nil {
		return err
	}
	fmt.Fprintf(log, "report: %s took %.0f s\n", p.name, time.Since(begin).Seconds())
	return nil
}

// newRunner checks that the programs are there and makes a directory for traces.
func newRunner(o *config, log io.Writer) (*runner, error) {
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, err
	}
	l := &runner{bin: bin, plots: strings.TrimSuffix(o.page, ".md"), runs: o.runs, log: log, traces: map[string]generated{}}
	out, err := exec.Command(filepath.Join(bin, "replay"), "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%w (make build)", err)
	}
	l.version = strings.TrimPrefix(strings.TrimSpace(string(out)), "replay version ")
	if err := os.MkdirAll(l.plots, 0o755); err != nil {
		return nil, err
	}
	l.dir, err = os.MkdirTemp("", "report")
	return l, err
}
