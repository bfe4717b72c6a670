package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
	"reprise/tracegen/mxp"
)

// catCommand describes trace cat, which lists what ranks do.
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
			command.Switch("structure", "print header, blocks and columns instead of actions"),
		},
		Action: cat,
	}
}

// cat prints what the command line asks for.
func cat(c *cli.Context) error {
	rank, polls := -1, c.String("polls") // -1: all ranks
	rule, ruled := pollRules[polls]
	if c.IsSet("rank") {
		if rank = c.Int("rank"); rank < 0 {
			return command.Usagef("cat: --rank %d, want a rank from 0", rank)
		}
	}
	from, to, err := command.Steps(c.String("steps"))
	textutil.Check(err)
	structure := c.Bool("structure")
	switch {
	case structure && (c.IsSet("rank") || c.IsSet("polls")):
		return command.Usagef("cat: --structure is that of all ranks, before polls: it excludes --rank and --polls")
	case !ruled && (rank < 0 || c.IsSet("steps")):
		return command.Usagef("cat: --polls %s: the outcomes in a file are those of one whole rank: want --rank, and no --steps",
			polls)
	}
	return onTrace(c, func(t *trace.Trace) error {
		// Ranks and steps that the trace does not have are mistakes in the command line.
		h := t.Header()
		if rank >= h.Ranks {
			return command.Usagef("cat: --rank %d, but the trace has ranks 0 to %d", rank, h.Ranks-1)
		}
		if w := t.ChunkInfos(); len(w) > 0 && from > w[len(w)-1].Last {
			return command.Usagef("cat: --steps from %d, but the trace ends with step %d", from, w[len(w)-1].Last)
		}
		if structure {
			return text.WriteStructure(c.App.Writer, t, from, to)
		}
		// Polls are answered by a rule, or by the outcomes that a real run of the rank has recorded.
		if !ruled {
			f, err := os.Open(polls)
			if err != nil {
				return fmt.Errorf("cat: --polls: want hit, late or a file: %w", err)
			}
			rule, err = text.ReadRecorded(f, polls)
			f.Close()
			textutil.Check(err)
		}
		var ranks []int32
		if rank >= 0 {
			ranks = []int32{int32(rank)}
		}
		// A listing may be as long as the run: it is written as it is made.
		w := bufio.NewWriterSize(c.App.Writer, 1<<16)
		err = text.WriteListings(w, t, ranks, trace.CursorOptions{From: from, To: to, Markers: true}, rule, words[h.Program])
		return cmp.Or(err, w.Flush()) // of both the first
	})
}

// words are the forms of lines as the recorder of a program writes them, where they differ from those of package text;
// by the program that the header names.
var words = map[string]text.Words{hpcg.Program: hpcg.Words(), "rochpl": hpl.RocWords(), "rochpl6": hpl.RocWords(), mxp.Program: mxp.Words()}
