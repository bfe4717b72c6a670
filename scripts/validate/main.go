package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"reprise/internal/page"
)

func main() {
	if err := validate(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	}
}

// config is the command line.
type config struct {
	data, work, bin, page string
	only                  []string // names of parts; none: all
	jobs                  int
	all                   bool // complete runs, for hours (doc.go)
	short                 bool
	facts                 string   // directory of the short version's figures
	intervals             []uint64 // seeds of runs to compare with their estimates
}

func parseFlags(args []string) (*config, error) {
	o := &config{}
	f := flag.NewFlagSet("validate", flag.ContinueOnError)
	f.StringVar(&o.data, "data", "", "directory of the published data")
	f.StringVar(&o.work, "work", "out/validation", "directory of results, kept between validations")
	f.StringVar(&o.bin, "bin", "bin", "directory of tracegen and replay")
	f.StringVar(&o.page, "page", "docs/validation.md", "the page to write in")
	f.StringVar(&o.facts, "facts", "testdata/validation", "directory of the figures for -short")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "number of replays at once")
	f.BoolVar(&o.all, "all", false, "complete runs instead of estimates, but of Stampede, and more of them: hours more")
	f.BoolVar(&o.short, "short", false, "compare some small runs with figures of the repository, and write nothing")
	seeds := f.String("intervals", "", "comma-separated seeds: compare 50 estimates of runs drawn from each with the complete runs, and write nothing")
	only := f.String("only", "", "comma-separated parts: "+strings.Join(partNames(), ", "))
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	var err error
	if o.intervals, err = parseSeeds(*seeds); err != nil {
		return nil, err
	}
	for _, name := range o.only {
		if !slices.Contains(partNames(), name) {
			return nil, fmt.Errorf("-only: %q is none of %s", name, strings.Join(partNames(), ", "))
		}
	}
	switch {
	case f.NArg() > 0 || o.jobs < 1:
		return nil, fmt.Errorf("want flags only, and at least one job")
	case o.data == "" && o.needsData():
		return nil, fmt.Errorf("want -data DIR, the published data, or -short, -intervals, -only=intervals")
	}
	return o, nil
}

// parseSeeds reads a list of seeds; "": none.
func parseSeeds(text string) ([]uint64, error) {
	if text == "" {
		return nil, nil
	}
	var seeds []uint64
	for _, s := range strings.Split(text, ",") {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("-intervals %q: want numbers", text)
		}
		seeds = append(seeds, v)
	}
	return seeds, nil
}

// prints reports whether something is compared and printed, and nothing written.
func (o *config) prints() bool { return o.short || len(o.intervals) > 0 }

// needsData reports whether anything that is asked for needs the published data.
func (o *config) needsData() bool {
	return !o.prints() && slices.ContainsFunc(o.wanted(), func(p part) bool { return !p.own })
}

// wanted returns the parts that are chosen: by name, or all that are not aside, or all.
func (o *config) wanted() []part {
	var list []part
	for _, p := range parts() {
		if len(o.only) == 0 && (o.all || !p.aside) || slices.Contains(o.only, p.name) {
			list = append(list, p)
		}
	}
	return list
}

// validate measures the chosen parts and writes each to the page.
func validate(args []string, stdout, log io.Writer) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	l, err := newRunner(o, log)
	if err != nil {
		return err
	}
	if o.short {
		return short(l, o.facts, stdout)
	}
	if len(o.intervals) > 0 {
		return printIntervals(l, o.intervals, stdout)
	}
	return l.measureAll(o.wanted(), o.page)
}

// measureAll measures parts side by side, so that no processor idles while the last
// replay of one goes on, and writes each to the page, with what it says about claims,
// when it and those before it are done. One that fails does not keep the others from
// the page.
func (l *runner) measureAll(wanted []part, path string) error {
	sections := make([]func() (section, error), len(wanted))
	for i, p := range wanted {
		sections[i] = sync.OnceValues(func() (section, error) {
			s, err := p.measure(l)
			if err != nil {
				err = fmt.Errorf("%s: %w", p.name, err)
				l.note("validate: " + err.Error())
			}
			return s, err
		})
		go sections[i]()
	}
	var errs []error
	begin := time.Now()
	for i, p := range wanted {
		s, err := sections[i]()
		if err == nil {
			err = page.Rewrite(path, func(text string) (string, error) { return s.write(text, p.name) })
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.note(fmt.Sprintf("validate: %s is on the page after %.0f s", p.name, time.Since(begin).Seconds()))
	}
	return errors.Join(errs...)
}

// write returns the page with the section of a part and what it says about claims.
func (s *section) write(text, part string) (string, error) {
	text, err := page.ReplaceSection(text, part, s.text)
	if err != nil {
		return "", err
	}
	table, err := page.Section(text, "claims")
	if err != nil {
		return "", err
	}
	return page.ReplaceSection(text, "claims", judge(table, s.claims))
}
