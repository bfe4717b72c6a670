// Crosscheck compares replay with SimGrid on fresh random cases (docs/crosscheck.md).
//
//	go run ./scripts/crosscheck [-cases 40] [-long 0] [-dense 0] [-seed 1] [-collectives default,ompi,mpich]
//	go run ./scripts/crosscheck -communicators 300 [-seed 1] [-collectives default,ompi,mpich]
//	go run ./scripts/crosscheck -energy [-cases 300]
//	go run ./scripts/crosscheck DIRECTORY...
//
// A case is a random machine (machines.go), options (settings.go), a program (programs.go) and, in
// some, a machine that changes with time (profiles.go). smpirun -replay plays its trace with the
// replay program smpi/times.cpp, which writes when each action has completed; replay plays the same
// files (simulators.go). compare.go compares the times. Collectives on communicators, of which
// SimGrid's traces have none, are programs in C (communicators.go).
//
// It exits 1 if a case is off, or if smpirun refuses more than a quarter of them. Cases that are off are
// kept in -keep.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	if err := crosscheck(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "crosscheck:", err)
		os.Exit(1)
	}
}

// config is the command line.
type config struct {
	options
	cases, long, dense, communicators, only int
	replay, keep                            string
	dirs                                    []string // cases to check instead of random ones
	jobs                                    int
	verbose                                 bool
}

func parseFlags(args []string) (*config, error) {
	o := &config{}
	f := flag.NewFlagSet("crosscheck", flag.ContinueOnError)
	f.IntVar(&o.cases, "cases", 40, "number of short cases")
	f.IntVar(&o.long, "long", 0, "number of long cases")
	f.IntVar(&o.dense, "dense", 0, "number of cases with 32 to 96 ranks and most of their messages at once")
	f.IntVar(&o.communicators, "communicators", 0, "number of cases of collectives on communicators, in place of the others")
	f.IntVar(&o.only, "only", -1, "check the case of this number only")
	f.Uint64Var(&o.seed, "seed", 1, "what the cases are drawn from")
	selectors := f.String("collectives", "default", "comma-separated selectors whose collectives to draw: default, ompi, mpich; may be empty")
	f.BoolVar(&o.energy, "energy", false, "give hosts and links powers, and compare joules")
	f.StringVar(&o.replay, "replay", "bin/replay", "the program to check")
	f.StringVar(&o.keep, "keep", "out/crosscheck", "directory for the cases that are off")
	f.BoolVar(&o.verbose, "v", false, "print a line for each case")
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
	cases, err := o.list()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(cases, func(c *testCase) bool { return c.text != "" }) {
		if err := t.compileProgram(dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%d cases, seed %d\n", len(cases), o.seed)
	verdicts, errs := make([]*verdict, len(cases)), make([]error, len(cases))
	o.each(len(cases), func(i int) { verdicts[i], errs[i] = t.check(cases[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, v := range verdicts {
		if o.verbose {
			fmt.Fprintf(w, "%s: %d actions, %.2g of the tolerance\n", v.c.name(), v.c.actions(), v.worst.tolerances)
		}
		if v.bad() || v.refused != nil || v.tie || v.chaos {
			if err := o.explain(v, w); err != nil {
				return err
			}
		}
	}
	return summarise(verdicts, w)
}

// list returns the cases to check.
func (o *config) list() (list []*testCase, err error) {
	for _, dir := range o.dirs {
		c, err := load(dir)
		if err != nil {
			return nil, err
		}
		c.energy = o.energy
		list = append(list, c)
	}
	switch {
	case list != nil:
		return list, nil
	case o.only >= 0 && o.communicators > 0:
		return []*testCase{o.drawCommunicators(o.only)}, nil
	case o.only >= 0:
		size := short
		if o.long > 0 {
			size = long
		} else if o.dense > 0 {
			size = dense
		}
		return []*testCase{o.draw(o.only, size)}, nil
	}
	for i := range o.communicators {
		list = append(list, o.drawCommunicators(i))
	}
	if list != nil {
		return list, nil
	}
	for i := range o.cases {
		list = append(list, o.draw(i, short))
	}
	for i := range o.long {
		list = append(list, o.draw(i, long))
	}
	for i := range o.dense {
		list = append(list, o.draw(i, dense))
	}
	return list, nil
}

// each calls f for 0, 1, ... n-1, for some at a time.
func (o *config) each(n int, f func(i int)) {
	slots := make(chan struct{}, max(1, o.jobs))
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}

// explain prints a case that is off or refused, and keeps it with both sets of times.
func (o *config) explain(v *verdict, w io.Writer) error {
	text := ""
	switch d := &v.worst; {
	case v.refused != nil:
		text = fmt.Sprintf("refused: %.200s\n", strings.ReplaceAll(v.refused.Error(), "\n", " "))
	case v.failed != nil:
		text = v.failed.Error() + "\n"
	default:
		text = fmt.Sprintf("%s: %.3g s off, %.3g tolerances\n", d.describe(v.c), d.ours-d.theirs, d.tolerances)
		if v.tie {
			text = "tie: " + text
		}
		if v.chaos {
			text = "chaotic: " + text
		}
		if v.first != nil {
			text += "    first: " + v.first.describe(v.c) + "\n"
		}
		if v.c.long {
			text += fmt.Sprintf("    with sleeps of up to %.3g s before each action SimGrid's own times move by %.3g s\n", shortSkew, v.moved)
		}
	}
	dir := filepath.Join(o.keep, v.c.name())
	again := fmt.Sprintf("go run ./scripts/crosscheck -seed %d -only %d", o.seed, v.c.number)
	if v.c.program == "dense" {
		again += " -dense 1"
	} else if v.c.long {
		again += " -long 1"
	} else if v.c.text != "" {
		again += " -communicators 1"
	}
	fmt.Fprintf(w, "%s: %s    %s\n    kept in %s\n", v.c.name(), text, again, dir)
	if v.theirs != nil && v.ours != nil {
		text += fmt.Sprintf("smpirun ends %.17g\nreplay ends  %.17g\n", v.theirs.ends, v.ours.ends)
	}
	return errors.Join(os.RemoveAll(dir), v.c.write(dir), writeFiles(dir, map[string]string{"outcome.txt": text}))
}

// tally counts the cases of one kind.
type tally struct {
	cases, bad, refused, ties, chaotic int
	worst                              deviance
}

// summarise prints counts by kind of machine and of program, and returns an error if cases are off, or too
// many refused.
func summarise(verdicts []*verdict, w io.Writer) error {
	all := &tally{}
	var long []float64
	kinds := map[string]*tally{}
	for _, v := range verdicts {
		tallies := []*tally{all}
		if v.c.long && v.refused == nil && v.failed == nil {
			long = append(long, v.worst.relativeError)
		}
		for _, kind := range []string{"machine " + v.c.machine, "program " + v.c.program} {
			if kinds[kind] == nil {
				kinds[kind] = &tally{}
			}
			tallies = append(tallies, kinds[kind])
		}
		for _, t := range tallies {
			t.cases++
			switch {
			case v.refused != nil:
				t.refused++
			case v.bad():
				t.bad++
			case v.tie:
				t.ties++
			case v.chaos:
				t.chaotic++
			case v.worst.tolerances > t.worst.tolerances:
				t.worst = v.worst
			}
		}
	}
	fmt.Fprintf(w, "\n%-20s %6s %5s %5s %8s %12s %10s\n", "kind", "cases", "off", "ties", "refused", "worst (s)", "allowed")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t := kinds[kind]
		fmt.Fprintf(w, "%-20s %6d %5d %5d %8d %12.2g %9.2g%%\n", kind, t.cases, t.bad, t.ties, t.refused, t.worst.ours-t.worst.theirs, 100*t.worst.tolerances)
	}
	if n := len(long); n > 0 {
		slices.Sort(long)
		fmt.Fprintf(w, "\n%d long cases, worst relative error of each: median %.2g, nine tenths below %.2g, largest %.2g (limit %g)\n",
			n, long[(n-1)/2], long[(n-1)*9/10], long[n-1], longLimit)
	}
	fmt.Fprintf(w, "\n%d cases, %d off, %d depend on ties, %d chaotic, %d refused by smpirun\n", all.cases, all.bad, all.ties, all.chaotic, all.refused)
	switch {
	case all.bad > 0:
		return fmt.Errorf("%d of %d cases are off", all.bad, all.cases)
	case 4*all.refused > all.cases: // too few for a comparison
		return fmt.Errorf("%d of %d cases were refused by smpirun", all.refused, all.cases)
	}
	return nil
}
