package main

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/smpi"
	"reprise/trace/warning"
)

// This file reads the command line of a replay into a job: job.read. replay.go runs it.

// job is one replay, estimate or set of replays. The command line asks for it (read), and open prepares it; its methods
// run it and write what comes out.
type job struct {
	args                 []string // the command line
	trace                string   // its argument; "-": standard input
	spec                 replay.MachineSpec
	from, to             int // steps; to 0: all
	json, quiet, verbose bool
	setupTime            float64 // of HPCG, seconds
	outputs              outputs
	stdin                io.Reader
	stdout, stderr       io.Writer
	tolerance            float64 // of an estimate, a share of the makespan; 0: not given
	budget               time.Duration
	workers              string // directory of the processes that share the windows; "": none
	seed                 uint64
	seedGiven            bool
	runs                 int // of --runs; 0: one replay
	draws                int // of --uncertainty; 0: one replay
	level                float64
	alone                bool   // each cause of --uncertainty
	checkpoint           string // file to write; "": none
	every                time.Duration
	resume               string            // file to go on from; "": none
	odd                  []warning.Warning // about flags

	// Set by open.
	in       *input
	machine  replay.Machine
	options  replay.Options
	warnings []warning.Warning // about the machine and flags
	begin    time.Time         // of the work that follows
	end      func(error)       // ends the context of the job, where going on is in vain
}

// sampled reports whether an estimate is asked for, or, with --uncertainty, an estimate for each machine.
func (j *job) sampled() bool { return j.tolerance > 0 || j.budget > 0 }

// keeps reports whether checkpoints are written or read.
func (j *job) keeps() bool { return j.checkpoint != "" || j.resume != "" }

// Bounds of the numbers of replays, far beyond any use: results of all of them are kept.
const (
	maxRuns  = 1 << 20 // the largest --runs
	maxDraws = 1 << 16 // the largest --draws
)

// flags are those of replays, in the order of the help. Those of the machine come from replay.Parameters, as parameters
// of studies do, so that both mean the same. An explicit DefaultText stands where the value of Go says nothing to
// people, as 0 for no limit.
func flags() []cli.Flag {
	// The parameters of the machine and of the replay; simulator options follow. Values are texts, which the parameter
	// parses, so that mistakes have the same words here and in studies.
	var list []cli.Flag
	for _, p := range replay.Parameters() {
		usage, several := p.Usage, p.Between != ""
		if several {
			usage += "; may be repeated"
		}
		list = append(list, flagOf(p.Name, usage, p.Default, p.Switch, several))
	}
	return append(list,
		&cli.StringSliceFlag{Name: "cfg",
			Usage: "simulator option `NAME:VALUE`, as smpirun's --cfg=NAME:VALUE; may be repeated"},
		&cli.Float64Flag{Name: "setup-time",
			Usage: "`SECONDS` of HPCG's set-up, of which its rating counts a tenth for each timed set", DefaultText: "0"},
		&cli.StringFlag{Name: "steps", Usage: "play steps `A:B` only, B not included; either may be left out",
			DefaultText: "all"},
		command.Switch("json", "print the result as JSON"),
		command.Switch("quiet", "no progress and no notes on stderr"),
		command.Switch("verbose",
			"say on stderr what is replayed on what, and which simulator options are not smpirun's defaults"),
		&cli.Uint64Flag{Name: "seed", Usage: "seed `N` of the noise", Value: 1},
		&cli.IntFlag{Name: "runs", DefaultText: "one replay",
			Usage: "replay `N` times, with the seeds from --seed on, and print mean, interval and spread"},
		&cli.StringFlag{Name: "tolerance",
			Usage: "estimate from windows of steps, to within `T` (0.5%, or 0.005) with about 95 % confidence"},
		&cli.DurationFlag{Name: "budget", DefaultText: "none",
			Usage: "estimate from as many windows of steps as `TIME` (such as 3m) allows"},
		&cli.StringFlag{Name: "workers", DefaultText: "none",
			Usage: "share the windows of --tolerance with all processes that are started with the same directory `DIR`, " +
				"on any host that sees it"},
		command.Switch("uncertainty",
			"replay on machines drawn from the errors that the kernel file states, and print an interval"),
		&cli.BoolFlag{Name: "causes", DefaultText: "without --tolerance",
			Usage: "draw each cause of --uncertainty alone, too: each takes as long again"},
		&cli.IntFlag{Name: "draws", Usage: "`N` machines of --uncertainty, with the seeds from --seed on", Value: 20},
		&cli.StringFlag{Name: "level", Usage: "the interval of --uncertainty contains the time of one run with probability `P`, 50% to 99%",
			Value: "90%"},
		&cli.StringFlag{Name: "checkpoint",
			Usage: "save the state of the replay in `FILE` at intervals and on interruption; continue from FILE if it exists"},
		&cli.DurationFlag{Name: "every", Usage: "`TIME` between two checkpoints", Value: 10 * time.Minute},
		&cli.StringFlag{Name: "resume", Usage: "continue from the checkpoint `FILE`; trace and options must be the same"},
		command.Switch("critical-path",
			"print the parts of the longest chain of computations and messages, and changes that would shorten it"),
		command.Switch("what-if",
			"replay once more with the change that shortens the critical path most, and print what it does; "+
				"implies --critical-path"),
		command.Switch("pop",
			"print POP's efficiencies: load balance, serialisation, transfer (wire and contention); takes two further replays"),
		&cli.StringFlag{Name: "report",
			Usage: "write pictures of where the time went to `FILE`.html: one file for any browser, without a network"},
		&cli.StringFlag{Name: "timeline",
			Usage: "write the actions of every rank over time to `FILE`: .pftrace for Perfetto, .paje for Pajé; " +
				".gz behind it compresses"},
		&cli.StringFlag{Name: "window", DefaultText: "all; of --report two steps in the middle",
			Usage: "the timeline shows what lies between two times, `T0:T1` in seconds, or in steps, \"step A:B\", " +
				"B not included"},
		&cli.StringFlag{Name: "window-ranks", Usage: "the timeline shows ranks `A-B`",
			DefaultText: "all; of --report some 64"},
		&cli.StringFlag{Name: "profile",
			Usage: "write where the time of all ranks goes, by phase, kernel and host, to `FILE` such as run.pb.gz, " +
				"for go tool pprof"},
		&cli.StringFlag{Name: "table", Usage: "write a row for each rank and step, with times by kind, kernel and phase, " +
			"to `FILE`: .csv or .parquet"})
}

// flagOf is the flag of an option of the machine: a switch, one that may be given several times, or a text.
func flagOf(name, usage, byDefault string, isSwitch, several bool) cli.Flag {
	switch {
	case isSwitch:
		return command.Switch(name, usage)
	case several:
		return &cli.StringSliceFlag{Name: name, Usage: usage}
	}
	return &cli.StringFlag{Name: name, Usage: usage, DefaultText: byDefault}
}

// read reads the command line. It checks all that can be checked before files are opened, in the order of the help: the
// first mistake is the one reported. Trace and machine are not open yet. Checks that need them are in open, those of
// outputs in their begin.
func (j *job) read(c *cli.Context) error {
	if first := c.Args().First(); c.NArg() > 1 {
		if near := textutil.Nearest(first, []string{"platform", "compare"}); near != "" {
			return command.Usagef("unknown command %q, did you mean %s?", first, near)
		}
	}
	if c.NArg() == 0 {
		return command.Usagef("want a trace. The first steps:\n\n%s\nreplay --help has all options.", firstSteps)
	}
	if c.NArg() != 1 {
		return command.Usagef("want 1 trace, got %d", c.NArg())
	}
	j.trace, j.setupTime = c.Args().First(), c.Float64("setup-time")
	j.json, j.quiet, j.verbose = c.Bool("json"), c.Bool("quiet"), c.Bool("verbose")
	if j.quiet && j.verbose {
		return command.Usagef("--quiet and --verbose exclude each other")
	}
	textutil.Check(j.readMachine(c))

	// An estimate ends when it is as close as the tolerance, or when the time is over; with both, at the first of them.
	if j.budget = c.Duration("budget"); c.IsSet("budget") && j.budget <= 0 {
		return command.Usagef("--budget %v, want a positive time such as 3m", j.budget)
	}
	if c.IsSet("tolerance") {
		j.tolerance = textutil.Must(parseShare("tolerance", c.String("tolerance"), false))
	}
	j.workers = c.String("workers")
	switch {
	case c.IsSet("workers") && j.workers == "":
		return command.Usagef("--workers wants a directory")
	case c.IsSet("workers") && (j.tolerance == 0 || j.budget > 0):
		return command.Usagef("--workers needs --tolerance, without --budget")
	}

	// Checkpoints are of one exact replay of a trace that can be read again: an estimate is quick, and several replays
	// have no single state.
	j.checkpoint, j.every, j.resume = c.String("checkpoint"), c.Duration("every"), c.String("resume")
	switch {
	case j.checkpoint == "-" || j.resume == "-":
		return command.Usagef("--checkpoint and --resume want a file; write ./- for a file named -")
	case c.IsSet("every") && j.every <= 0:
		return command.Usagef("--every %v, want a positive time such as 10m", j.every)
	case c.IsSet("every") && j.checkpoint == "":
		return command.Usagef("--every needs --checkpoint")
	case j.keeps() && j.sampled():
		return command.Usagef("--checkpoint and --resume are for exact replays; --workers DIRECTORY keeps what --tolerance has replayed")
	case j.keeps() && j.trace == "-":
		return command.Usagef("--checkpoint and --resume need a trace that can be read again, not standard input")
	}

	// Several seeds, and drawn machines. Each case is a mistake of its own, the first of which is told.
	j.seed, j.seedGiven, j.runs = c.Uint64("seed"), c.IsSet("seed"), c.Int("runs")
	// Seeds of runs and draws follow one another, so the last of them must be one.
	last := uint64(math.MaxUint64)
	switch {
	case !c.IsSet("runs"): // one replay, or draws
	case j.runs < 2 || j.runs > maxRuns:
		return command.Usagef("--runs %d, want 2 to %d", j.runs, maxRuns)
	case j.seed > last-uint64(j.runs-1):
		return command.Usagef("--runs %d from --seed %d on would pass the largest seed, %d", j.runs, j.seed, last)
	case j.sampled():
		return command.Usagef("--runs is for exact replays, not for --tolerance and --budget")
	case j.keeps():
		return command.Usagef("--checkpoint and --resume are for one replay, not for --runs")
	case j.trace == "-":
		return command.Usagef("--runs needs a trace that can be read again, not standard input")
	}
	draws := c.Int("draws")
	switch {
	case !c.Bool("uncertainty") && c.IsSet("draws"):
		return command.Usagef("--draws needs --uncertainty")
	case !c.Bool("uncertainty") && c.IsSet("level"):
		return command.Usagef("--level needs --uncertainty")
	case !c.Bool("uncertainty") && c.IsSet("causes"):
		return command.Usagef("--causes needs --uncertainty")
	case !c.Bool("uncertainty"):
		draws = 0
	case draws < 3 || draws > maxDraws:
		return command.Usagef("--draws %d, want 3 to %d", draws, maxDraws)
	case j.seed > last-uint64(draws-1):
		return command.Usagef("--draws %d from --seed %d on would pass the largest seed, %d", draws, j.seed, last)
	case j.runs > 0:
		return command.Usagef("--uncertainty draws noise, too: leave --runs out")
	case j.budget > 0:
		return command.Usagef("--uncertainty needs estimates that are alike: --tolerance, not --budget")
	case j.workers != "":
		return command.Usagef("--workers is for one estimate, not for --uncertainty")
	case j.keeps():
		return command.Usagef("--checkpoint and --resume are for one replay, not for --uncertainty")
	case j.trace == "-":
		return command.Usagef("--uncertainty needs a trace that can be read again, not standard input")
	}
	level, ok := strings.CutSuffix(c.String("level"), "%")
	percent, err := strconv.ParseFloat(level, 64)
	if err != nil || !ok || !(percent >= 50 && percent <= 99) {
		return command.Usagef("--level %s, want 50%% to 99%%", textutil.Quote(c.String("level")))
	}
	j.draws, j.level = draws, percent/100
	j.alone = c.Bool("causes") || !c.IsSet("causes") && !c.IsSet("tolerance")

	j.from, j.to, err = command.Steps(c.String("steps"))
	textutil.Check(err)
	return j.readOutputs(c)
}

// readMachine reads the flags of the machine, and simulator options, into the specification of the machine.
//
// Parameters are set in the order of the help, whatever their order in the command line: later ones do not depend on
// earlier ones. --cfg comes after all of them.
func (j *job) readMachine(c *cli.Context) error {
	// Pairs of flags that say the same thing twice. Which of them held would have to be guessed.
	for _, name := range []string{"platform", "kernels"} {
		if c.IsSet("machine") && c.IsSet(name) {
			return command.Usagef("--machine %s has its own platform and kernel models: leave --%s out",
				c.String("machine"), name)
		}
	}
	for _, name := range []string{"ranks-per-host", "without"} {
		if c.IsSet("hostfile") && c.IsSet(name) {
			return command.Usagef("--hostfile and --%s exclude each other", name)
		}
	}
	for _, p := range replay.Parameters() {
		if !c.IsSet(p.Name) {
			continue
		}
		// The library has parsed switches and lists; parameters take both as texts.
		value := c.String(p.Name)
		switch {
		case p.Switch:
			value = map[bool]string{true: "yes", false: "no"}[c.Bool(p.Name)]
		case p.Between != "":
			value = strings.Join(c.StringSlice(p.Name), p.Between)
		}
		if err := p.Set(&j.spec, value); err != nil {
			return command.Usagef("--%s: %w", p.Name, err)
		}
	}
	// Options that --network has set may not be set again: which of them held would depend on their order.
	network := slices.Clone(j.spec.Settings)
	for _, text := range c.StringSlice("cfg") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return command.Usagef("--cfg %q, want NAME:VALUE", text)
		}
		if note := smpi.Obsolete(name); note != "" {
			j.odd = append(j.odd, warning.New("--cfg: %s", note))
		}
		full := smpi.OptionName(name)
		if slices.ContainsFunc(network, func(p replay.Property) bool { return p.Name == full }) {
			return command.Usagef("--network %s and --cfg %s both set %s: leave one out", c.String("network"), text, full)
		}
		j.spec.SetOption(name, value)
	}
	return nil
}

// parseShare reads the value of a flag: a percentage of less than 100 %, or a fraction. Only where zero is true may it
// be 0. A fraction of 0.25 or more is refused, as 1 is more likely to mean 1 % than all of the makespan.
func parseShare(flag, text string, zero bool) (float64, error) {
	v, err := textutil.ParsePercent(text, "the makespan", zero)
	if err != nil {
		return 0, command.Usagef("--%s %w", flag, err)
	}
	return v, nil
}
