package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
)

func main() {
	err := crosscheck(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "crosscheck:", err)
		os.Exit(1)
	}
}

// config is the command line.
type config struct {
	menu
	cases, long, only int
	communicators     int
	products          string // directory to record cases of collectives on communicators in
	replay, keep      string
	routes            string   // directory to record routes in
	dirs              []string // cases to check instead of random ones
	shrink, diagnose  bool
	jobs, skew        int
	verbose           bool
}

func parseFlags(args []string) (*config, error) {
	o := &config{}
	f := flag.NewFlagSet("crosscheck", flag.ContinueOnError)
	f.IntVar(&o.cases, "cases", 40, "number of short cases")
	f.IntVar(&o.long, "long", 0, "number of long cases")
	f.IntVar(&o.communicators, "communicators", 0, "number of cases of collectives on communicators, in place of the others")
	f.StringVar(&o.products, "product", "", "record cases of collectives on communicators in this directory, and compare nothing")
	f.IntVar(&o.only, "only", -1, "check the case of this number only")
	f.Uint64Var(&o.seed, "seed", 1, "what the cases are drawn from")
	selectors := f.String("collectives", "default", "comma-separated selectors whose collectives to draw: default, ompi, mpich; may be empty")
	f.StringVar(&o.replay, "replay", "bin/replay", "the program to check")
	f.StringVar(&o.keep, "keep", "out/crosscheck", "directory for the cases that are off")
	f.StringVar(&o.routes, "routes", "", "write the machines and SimGrid's routes into this directory, and compare nothing")
	f.BoolVar(&o.shrink, "shrink", false, "shrink the cases that are off")
	f.BoolVar(&o.diagnose, "diagnose", false, "say how sensitive the cases are that are off")
	f.BoolVar(&o.verbose, "v", false, "print a line for each case")
	f.IntVar(&o.skew, "skew", 0, "if not 0, put sleeps of some nanoseconds, drawn from this number, before each action")
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "simulations at a time")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.dirs = f.Args()
	if *selectors != "" {
		o.collectives = strings.Split(*selectors, ",")
	}
	for _, s := range o.collectives {
		if collectiveNames[s] == nil {
			return nil, fmt.Errorf("-collectives: %q is none of default, ompi, mpich", s)
		}
	}
	return o, nil
}

// list returns the cases to check.
func (o *config) list() ([]*testCase, error) {
	list, err := o.unskewed()
	if o.skew != 0 {
		for i, c := range list {
			list[i] = c.skewed(uint64(o.skew-1), longSkew)
		}
	}
	return list, err
}

func (o *config) unskewed() (list []*testCase, err error) {
	if o.only >= 0 {
		return []*testCase{o.draw(o.only, o.long > 0)}, nil
	}
	for _, dir := range o.dirs {
		c, err := load(dir)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if list != nil {
		return list, nil
	}
	for i := range o.cases {
		list = append(list, o.draw(i, false))
	}
	for i := range o.long {
		list = append(list, o.draw(i, true))
	}
	return list, nil
}

// crosscheck checks what the arguments ask for; an error says that cases are off.
func crosscheck(args []string, w io.Writer) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "crosscheck")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := newTools(dir, o.replay)
	if err != nil {
		return err
	}
	if o.communicators > 0 || o.products != "" {
		return o.checkCommunicators(t, dir, w)
	}
	cases, err := o.list()
	if err != nil {
		return err
	}
	if o.routes != "" {
		return t.recordRoutes(cases, o.routes)
	}
	fmt.Fprintf(w, "%d cases, seed %d\n", len(cases), o.seed)
	s := newSummary()
	for _, v := range t.checkAll(cases, o.jobs) {
		if v.err != nil {
			return v.err
		}
		s.add(v.verdict)
		if o.verbose {
			fmt.Fprintf(w, "%s: %d actions, %.2g of the tolerance\n", v.c.name(), v.c.script.actions(), v.worst.tolerances)
		}
		if v.bad() || v.refused != nil || v.tie || v.chaos {
			if err := o.explain(t, v.verdict, w); err != nil {
				return err
			}
		}
	}
	s.write(w)
	return s.err()
}

// checked is a verdict, or why there is none.
type checked struct {
	*verdict
	err error
}

// checkAll checks cases, some at a time, and returns the verdicts in their order.
func (t *tools) checkAll(cases []*testCase, jobs int) []checked {
	results := make([]checked, len(cases))
	slots := make(chan struct{}, max(1, jobs))
	var all sync.WaitGroup
	for i, c := range cases {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			v, err := t.check(c)
			results[i] = checked{v, err}
		})
	}
	all.Wait()
	return results
}

// explain shrinks and keeps a case that is off, and prints it.
func (o *config) explain(t *tools, v *verdict, w io.Writer) (err error) {
	if v.bad() && o.shrink {
		if v, err = t.shrink(v); err != nil {
			return err
		}
	}
	if v.bad() && v.failed == nil && o.diagnose {
		if v.note, err = t.diagnose(v.c); err != nil {
			return err
		}
	}
	dir, err := t.keep(v, o.keep)
	if err != nil {
		return err
	}
	v.write(w, o.seed)
	fmt.Fprintf(w, "    kept in %s\n", dir)
	return nil
}
