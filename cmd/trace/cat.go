package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen/hpcg"
)

func catCommand() *cli.Command {
	return &cli.Command{
		Name:      "cat",
		Usage:     "print the actions of ranks, a line each",
		ArgsUsage: "FILE|-",
		Description: "    trace cat --rank 0 --steps :2 run.trace.zst\n" +
			"    trace cat --rank 3 --polls late run.trace.zst\n" +
			"    trace cat --structure run.trace.zst",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "rank", Usage: "print rank `R` only", DefaultText: "all ranks, one after the other"},
			&cli.StringFlag{Name: "steps", Usage: "print steps `A:B` only, B not included; either may be left out"},
			&cli.StringFlag{Name: "polls", Value: "hit",
				Usage: "answer polls: hit (all find their message), late (only those of a rank with nothing else to do), or as the outcomes of the rank in `FILE`"},
			&cli.BoolFlag{Name: "structure", Usage: "print header, blocks and columns instead of actions",
				DisableDefaultText: true},
		},
		Action: func(c *cli.Context) (err error) {
			o, err := catOptionsOf(c)
			if err != nil {
				return err
			}
			t, err := openOnly(c)
			if err != nil {
				return err
			}
			defer closing(t, &err)
			return o.write(c, t)
		},
	}
}

// words are those of the recorders of programs, where they differ from the usual.
var words = map[string]text.Words{hpcg.Program: hpcg.Words()}

// catOptions is what the command line of cat says.
type catOptions struct {
	rank      int // -1: all
	from, to  int
	polls     string
	structure bool
}

func catOptionsOf(c *cli.Context) (o catOptions, err error) {
	o = catOptions{rank: -1, polls: c.String("polls"), structure: c.Bool("structure")}
	if c.IsSet("rank") {
		if o.rank = c.Int("rank"); o.rank < 0 {
			return o, command.Usagef("cat: --rank %d, want a rank from 0", o.rank)
		}
	}
	if o.from, o.to, err = command.Steps(c.String("steps")); err != nil {
		return o, err
	}
	switch {
	case o.structure && (c.IsSet("rank") || c.IsSet("polls")):
		return o, command.Usagef("cat: --structure is that of all ranks, before polls: it excludes --rank and --polls")
	case o.recorded() && (o.rank < 0 || c.IsSet("steps")):
		return o, command.Usagef("cat: --polls %s: the outcomes in a file are those of one whole rank: want --rank, and no --steps", o.polls)
	}
	return o, nil
}

// recorded reports that polls are answered from a file.
func (o *catOptions) recorded() bool { return o.polls != "hit" && o.polls != "late" }

// write prints what was asked for.
func (o *catOptions) write(c *cli.Context, t *trace.Trace) error {
	h := t.Header()
	if o.rank >= h.Ranks {
		return command.Usagef("cat: --rank %d, but the trace has ranks 0 to %d", o.rank, h.Ranks-1)
	}
	if w := t.ChunkInfos(); len(w) > 0 && o.from > w[len(w)-1].Last {
		return command.Usagef("cat: --steps from %d, but the trace ends with step %d", o.from, w[len(w)-1].Last)
	}
	if o.structure {
		return text.WriteStructure(c.App.Writer, t, o.from, o.to)
	}
	rule, err := o.rule()
	if err != nil {
		return err
	}
	var ranks []int32
	if o.rank >= 0 {
		ranks = []int32{int32(o.rank)}
	}
	w := bufio.NewWriterSize(c.App.Writer, 1<<16)
	err = text.WriteListings(w, t, ranks, trace.CursorOptions{From: o.from, To: o.to, Markers: true}, rule,
		words[h.Program])
	if ferr := w.Flush(); err == nil {
		err = ferr
	}
	return err
}

func (o *catOptions) rule() (trace.PollAnswers, error) {
	switch o.polls {
	case "hit":
		return trace.Hit{}, nil
	case "late":
		return trace.Late{}, nil
	}
	f, err := os.Open(o.polls)
	if err != nil {
		return nil, fmt.Errorf("cat: --polls: want hit, late or a file: %w", err)
	}
	defer f.Close()
	return text.ReadRecorded(f, o.polls)
}
