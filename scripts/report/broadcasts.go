package main

import (
	"strings"

	"gonum.org/v1/plot/plotter"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// broadcasts compares HPL's six on the machine of the weak scaling, 16x16 ranks.
func broadcasts(l *runner) (string, error) {
	platform, err := l.writeFatTree(256)
	if err != nil {
		return "", err
	}
	t := page.NewTable("broadcast", "messages", "polls", "wall time, s", "messages/s", "memory, MB")
	plot := page.Bars{Title: "One core, 16x16 ranks", Y: "million messages/s"}
	var rates plotter.Values
	const flags = "-N 32768 --NB 128 -P 16 -Q 16 --DEPTH 1 --SWAP bin --BCAST "
	for _, name := range strings.Fields("1rg 1rM 2rg 2rM Lng LnM") {
		g, err := l.hpl(flags + name)
		if err != nil {
			return "", err
		}
		r, err := l.replay("--platform "+platform, g.path)
		if err != nil {
			return "", err
		}
		t.Row(name, wording.Thousands(r.Messages), wording.Thousands(r.Polls), page.Digits(r.seconds), page.Digits(r.rate()), page.Megabytes(r.bytes))
		plot.Names, rates = append(plot.Names, name), append(rates, r.rate()/1e6)
	}
	plot.Values = []plotter.Values{rates}
	return t.String() + "\n" + page.Image(l.plots, "broadcasts", "messages per second by broadcast") +
		commands("tracegen hpl "+flags+"NAME -o run.trace.zst", "replay --platform fattree.xml run.trace.zst"), plot.Write(l.plots, "broadcasts")
}
