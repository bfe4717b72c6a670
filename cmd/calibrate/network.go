package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/table"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/netmodel"
	"reprise/trace/warning"
)

// networkCommand is calibrate network, of docs/calibrate.md: tables of timed messages become the properties of a
// platform. Defaults in the help are those of the library.
func networkCommand() *cli.Command {
	d := calibrate.DefaultNetworkOptions()
	return &cli.Command{
		Name:      "network",
		Usage:     "fit overheads and factors of a network to timings of messages",
		UsageText: "calibrate network [options] [--platform FILE] [OPERATION[:COLUMN[+COLUMN]]=]CSV...|-",
		Description: "Fits the table of calibrate measure network, or another one.\n" +
			"Columns: operation (send, isend, recv, pingpong, ...), bytes (or size), seconds (or duration, time); " +
			"between (cores,\n" +
			"nodes) and pairs, if it has them. Times are in seconds. OPERATION= says what a table without a column operation\n" +
			"has, COLUMN which column the times are in; A+B adds two.\n" +
			"Prints a report that ends with SimGrid properties; --platform writes a platform with them:\n\n" +
			"    calibrate network --platform platform.xml network.csv\n" +
			"    calibrate network --breakpoints 1400,65536 --mixture noise.yaml pingpong=pingpong.csv",
		Flags: []cli.Flag{
			// The lines of operations: where they break, and how they are fitted.
			&cli.StringFlag{Name: "breakpoints",
				Usage: "`BYTES,BYTES,...` at which the lines of all operations break (default: learned, for each operation)"},
			&cli.IntFlag{Name: "min-points", Value: d.Learn.MinPoints, Usage: "a learned piece has at least `N` sizes"},
			&cli.IntFlag{Name: "max-pieces", Value: d.Learn.MaxPieces, Usage: "learn at most `N` pieces"},
			&cli.Float64Flag{Name: "gain", Value: d.Learn.Gain,
				Usage: "a learned breakpoint lowers the log error by at least this `PART`, 0 to 1"},
			&cli.StringFlag{Name: "residuals", Value: "log",
				Usage: "minimise residuals of the `log|plain` times; plain needs --breakpoints"},
			&cli.StringFlag{Name: "statistic", Value: string(d.Statistic),
				Usage: "of the timings of each size, of all operations, take the `median|mean|min`"},
			&cli.Float64Flag{Name: "trim", Usage: "take the mean, without this `PART` of the timings of each size on " +
				"both sides, more than 0 and less than 0.5"},
			// Thresholds of the protocol.
			&cli.Float64Flag{Name: "eager", Usage: "`BYTES` below which messages are eager (smpi/async-small-thresh)",
				DefaultText: "found, if send-late was timed; else not written, and a replay takes 0"},
			&cli.Float64Flag{Name: "detached",
				Usage: "`BYTES` below which sends are detached (smpi/send-is-detached-thresh); from there on, send and recv " +
					"have no overhead", DefaultText: "found, if send-late was timed; else not written, and a replay takes 65536"},
			// The network: its time, bandwidth and latency, to which factors of sizes refer.
			&cli.StringFlag{Name: "transfer", Value: string(d.Transfer),
				Usage: "the time on the network, `FORMULA`: pingpong/2-os-or, pingpong/2-or, or (pingpong-or)/2"},
			&cli.Float64Flag{Name: "bandwidth", Usage: "`BYTE/S` of a route, to which factors refer",
				DefaultText: "that of the largest messages"},
			&cli.Float64Flag{Name: "latency", Usage: "`SECONDS` of a route, to which factors refer",
				DefaultText: "the smallest measured"},
			command.Switch("clamp", "bandwidth factors at most 1, latency factors at least 1"),
			&cli.StringSliceFlag{Name: "where", Usage: "`COLUMN=VALUE`: use only the rows with this value; may be repeated"},
			// The platform, and the noise.
			&cli.StringFlag{Name: "platform",
				Usage: "write a platform (XML), a cluster on one switch, to `FILE`; -: to standard output, without a report"},
			&cli.StringFlag{Name: "mixture",
				Usage: "fit the noise of each range of sizes by a mixture of normal laws, and write it for replay " +
					"--network-noise (YAML) to `FILE`; -: to standard output, without a report"},
			&cli.StringFlag{Name: "name", Value: "node", Usage: "`NAME` of its hosts: NAME-0, NAME-1, ..."},
			&cli.IntFlag{Name: "hosts", Value: 2, Usage: "`NUMBER` of its hosts; 1 if all timings are within one",
				DefaultText: "2, or 1"},
			&cli.IntFlag{Name: "cores", Value: 1, Usage: "`NUMBER` of cores of a host"},
			&cli.StringFlag{Name: "speed", Value: "1Gf", Usage: "flop/s of a core, as `1Gf`"},
			// Other results.
			&cli.StringFlag{Name: "plots", Usage: "write plots of data, fit and residuals, one for each operation, into `DIR`"},
			&cli.StringFlag{Name: "plot-format", Value: "svg", Usage: "`svg|png`"},
			command.Switch("json", "print the report as JSON"),
			command.Quiet(),
		},
		Action: runNetwork,
	}
}

// runNetwork goes through these stages: the options of the fit, which check themselves; flags that contradict each
// other, and outputs that replay would refuse; the tables; the fit, and on request that of the noise; the outputs, and
// the report if none of them went to the standard output.
func runNetwork(c *cli.Context) error {
	o := calibrate.NetworkOptions{Statistic: calibrate.Statistic(c.String("statistic")), Trim: c.Float64("trim"),
		Eager: c.Float64("eager"), Detached: c.Float64("detached"), Transfer: calibrate.Transfer(c.String("transfer")),
		Bandwidth: c.Float64("bandwidth"), Latency: c.Float64("latency"), Clamp: c.Bool("clamp"),
		Plain: command.Choice(c, "residuals", "log", "plain") == "plain"}
	// Breakpoints are learned by these, unless they are given.
	o.Learn.MinPoints, o.Learn.MaxPieces, o.Learn.Gain = c.Int("min-points"), c.Int("max-pieces"), c.Float64("gain")
	if text := c.String("breakpoints"); text != "" {
		for field := range strings.SplitSeq(text, ",") {
			b, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return command.Usagef("network: --breakpoints %q, want numbers of bytes, found %q", text, field)
			}
			o.Breakpoints = append(o.Breakpoints, b)
		}
	}
	// A part that is trimmed makes sense of means alone.
	if c.IsSet("trim") && !c.IsSet("statistic") {
		o.Statistic = calibrate.Mean
	}
	checkUsage(c, o.Validate())

	// Flags without effect, and a 0 that would be taken for no flag.
	for _, flag := range []string{"bandwidth", "latency", "eager", "detached", "trim"} {
		if c.IsSet(flag) && c.Float64(flag) == 0 {
			return command.Usagef("network: --%s 0, want more than 0, or no --%s", flag, flag)
		}
	}
	excludes(c, "breakpoints", "gain", "min-points", "max-pieces")
	checkPlotFormat(c)
	// Thresholds that replay would refuse in the platform are refused before the fit, and so is a machine.
	if err := checkProperties(o.Thresholds()); err != nil {
		return command.Usagef("network: --eager and --detached: %w", err)
	}
	var machine calibrate.Machine
	if c.String("platform") == "" {
		needs(c, "platform", "name", "hosts", "cores", "speed")
	} else {
		machine = machineOf(c, c.String("name"), c.Int("hosts"))
	}
	checkOutputs(c)

	// Each table may have OPERATION:COLUMN= before its path. A name of a file may have a = too, but then the file is
	// there.
	where, messages := conditions(c), calibrate.NewMessages()
	readTables(c, messages.Rows, func(arg string) (string, func(*table.Reader) error) {
		o := calibrate.MessageOptions{Where: where}
		read := func(t *table.Reader) error { return messages.Read(t, o) }
		head, path, ok := strings.Cut(arg, "=")
		op, column, _ := strings.Cut(head, ":")
		if !ok {
			return arg, read
		}
		if !slices.Contains(calibrate.Operations(), calibrate.Operation(op)) {
			if _, missing := os.Stat(arg); errors.Is(missing, fs.ErrNotExist) {
				command.Refuse(c, "%s: no such file, and %q is no operation: want send, isend, recv or pingpong before the =",
					arg, op)
			}
			return arg, read
		}
		// Times of several columns are added, as those of a call and of the wait behind it.
		o.Operation = calibrate.Operation(op)
		if column != "" {
			o.Seconds = strings.Split(strings.ToLower(column), "+")
		}
		return path, read
	})
	// Bandwidth and latency come from ping-pongs alone; without them there is nothing that these flags could change.
	if given := firstSet(c, []string{"clamp", "transfer", "bandwidth", "latency"}); given != "" &&
		!messages.Has(calibrate.PingPong) {
		return command.Usagef("network: --%s is about pingpong, of which there are no timings", given)
	}
	report := textutil.Must(calibrate.FitNetwork(messages, o))
	// Noise takes longer than the fit, and is fitted on request.
	if c.String("mixture") != "" {
		err := report.FitNoise(messages)
		textutil.Check(warning.With(err, report.Warnings))
	}
	command.Warn(c, report.Warnings)

	// The report may bound the number of hosts: there is one where nothing is known of messages between two.
	switch most := report.MostHosts(); {
	case most == 0 || c.Int("hosts") <= most:
		machine.Hosts = c.Int("hosts")
	case !c.IsSet("hosts"):
		machine.Hosts = most
	case most == 1:
		return command.Usagef("network: --hosts %d, but there are no timings between hosts: want 1, or ranks on two "+
			"(calibrate measure network)", c.Int("hosts"))
	default:
		return command.Usagef("network: --hosts %d: a platform whose hosts have shared loopbacks has at most %d",
			c.Int("hosts"), most)
	}
	writePlots(c, report.Series())
	// Both files are written or none, each after its reader has taken it.
	noise := output{what: "network noise", path: c.String("mixture"),
		content: func(w io.Writer) error {
			return report.WriteNoise(w, "fitted by calibrate network "+command.Version())
		},
		read: func(text []byte, name string) error {
			_, err := netmodel.ParseNoise(bytes.NewReader(text), name)
			return err
		}}
	platform := output{what: "platform", path: c.String("platform"), read: readPlatform,
		content: func(w io.Writer) error { return report.WriteXML(w, machine) }}
	if writeOutputs(c, noise, platform) {
		return nil
	}
	return printReport(c, report, report.WriteText)
}
