package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/platforms"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:  "convert",
		Usage: "write a trace in another format, or read one",
		UsageText: "trace convert --to simgrid [-o FILE | -o DIR/] [options] TRACE|-\n" +
			"trace convert --to goal [-o FILE] [options] TRACE|-\n" +
			"trace convert --from simgrid [-o FILE] INDEX",
		Description: "    trace convert --to simgrid -o text/ run.trace.zst\n" +
			"    trace convert --to goal --kernels dahu --polls late -o run.goal run.trace.zst\n" +
			"    trace convert --from simgrid -o run.trace.zst text/trace.index",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "write `FORMAT`: simgrid (time-independent text) or goal (LogGOPSim's text)"},
			&cli.StringFlag{Name: "from", Usage: "read `FORMAT`: simgrid, by its index"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-",
				Usage: "write to `FILE`; for simgrid, to a file per rank and their index in DIR/", DefaultText: "-, standard output"},
			&cli.StringFlag{Name: "polls", Value: "hit",
				Usage: "answer polls `hit|late`: all find their message, or only those of a rank with nothing else to do"},
			&cli.StringFlag{Name: "kernels",
				Usage: "kernel models, YAML `FILE` or built-in set: a call becomes its seconds times --speed (default: the flop that the trace declares)"},
			&cli.StringFlag{Name: "speed", Value: "1Gf", Usage: "flop/s of the hosts, as `1Gf`, for --kernels and --to goal"},
			quietFlag(),
		},
		Action: func(c *cli.Context) error {
			o, err := convertOptionsOf(c)
			if err != nil {
				return err
			}
			if o.from != "" {
				return o.fromSimgrid(c.Context, c)
			}
			return o.export(c.Context, c)
		},
	}
}

// convertOptions is what the command line of convert says.
type convertOptions struct {
	from, to string // one of them is ""
	input    string
	output   string // "-": standard output
	polls    string
	rule     trace.PollAnswers
	kernels  string
	speed    float64 // flop/s
	speedSet bool
	noisy    int64 // calls so far of kernels whose models have noise
}

func convertOptionsOf(c *cli.Context) (*convertOptions, error) {
	o := &convertOptions{from: c.String("from"), to: c.String("to"), output: c.String("output"), polls: c.String("polls"),
		kernels: c.String("kernels"), speedSet: c.IsSet("speed"), rule: trace.Hit{}}
	if err := o.checkFormats(c); err != nil {
		return nil, err
	}
	if c.NArg() != 1 {
		return nil, command.Usagef("convert: want 1 trace, got %d", c.NArg())
	}
	o.input = c.Args().First()
	if o.output == "" {
		return nil, command.Usagef("convert: --output \"\", want the name of a file, or -")
	}
	late, err := parsePolls(c)
	if late {
		o.rule = trace.Late{}
	}
	if err == nil {
		if o.speed, err = platforms.ParseSpeed(c.String("speed")); err != nil {
			err = command.Usagef("convert: --speed: %w: want flop/s, such as 1Gf", err)
		}
	}
	if err == nil {
		err = o.spare(o.input, o.kernels)
	}
	return o, err
}

// spare refuses to write over a file that is read.
func (o *convertOptions) spare(inputs ...string) error {
	outputs := []string{o.output}
	if o.to == "simgrid" {
		outputs = append(outputs, simgrid.IndexOf(o.output))
	}
	for _, output := range outputs {
		if err := atomicfile.CheckOverwrite(output, inputs...); err != nil {
			return command.Usagef("convert: --output %w", err)
		}
	}
	return nil
}

func (o *convertOptions) checkFormats(c *cli.Context) error {
	switch {
	case (o.from == "") == (o.to == ""):
		return command.Usagef("convert: want either --to simgrid|goal or --from simgrid")
	case o.from != "" && o.from != "simgrid":
		return command.Usagef("convert: --from %q, want simgrid", o.from)
	case o.to != "" && o.to != "simgrid" && o.to != "goal":
		return command.Usagef("convert: --to %q, want simgrid or goal", o.to)
	case o.from != "" && (c.IsSet("polls") || o.kernels != "" || o.speedSet):
		return command.Usagef("convert: --polls, --kernels and --speed are for --to: SimGrid's text has no polls and no kernels")
	case o.to == "simgrid" && o.kernels == "" && o.speedSet:
		return command.Usagef("convert: --speed without --kernels: SimGrid's text counts flop, which need no speed")
	}
	return nil
}
