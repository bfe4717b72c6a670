package main

import (
	"fmt"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// anchor is a run of HPL whose simulation with SMPI was published with its cost.
type anchor struct {
	name           string
	flags          string  // tracegen's
	platform       string  // built in
	seconds, bytes float64 // SMPI's wall time and peak memory
}

// dahuRun is one of the runs on 1,024 ranks of Dahu (NB 128, 2ring, depth 1) with a
// dgemm model for each processor: T. Cornebize, High Performance Computing: Towards
// Better Performance Predictions and Experiments, PhD thesis, 2021, and its data.
func dahuRun(n int, seconds, bytes float64) anchor {
	return anchor{
		name:     fmt.Sprintf("Dahu, 1,024 ranks, N = %s", wording.Thousands(n)),
		flags:    fmt.Sprintf("-N %d --NB 128 -P 32 -Q 32 --PFACT crout --RFACT right --NBMIN 2 --BCAST 2rg --DEPTH 1 --SWAP bin", n),
		platform: "dahu", seconds: seconds, bytes: bytes,
	}
}

// stampedeRun is the emulation of T. Cornebize, F. Heinrich, A. Legrand, J. Vienne,
// Emulating High Performance Linpack on a Commodity Server at the Scale of a
// Supercomputer, 2017: 62 hours, 19 GB.
func stampedeRun() anchor {
	return anchor{"Stampede, 6,006 ranks, N = 3,875,000", stampedeFlags, "stampede", 223200, 19e9}
}

// published replays what takes a minute or two: the smallest run on Dahu, and an
// estimate of the run on Stampede.
func published(l *runner) (string, error) {
	t := anchorTable()
	if err := l.anchorRow(t, dahuRun(50000, 1038.34, 1194308000), ""); err != nil {
		return "", err
	}
	if err := l.anchorRow(t, stampedeRun(), "--tolerance 0.5%"); err != nil {
		return "", err
	}
	return t.String(), nil
}

// dahuComplete replays large runs on Dahu.
func dahuComplete(l *runner) (string, error) {
	t := anchorTable()
	for _, a := range []anchor{dahuRun(250000, 6367.12, 4949596000), dahuRun(500000, 17103, 9173728000)} {
		if err := l.anchorRow(t, a, ""); err != nil {
			return "", err
		}
	}
	return t.String(), nil
}

// stampedeComplete replays all of the run on Stampede.
func stampedeComplete(l *runner) (string, error) {
	t := anchorTable()
	err := l.anchorRow(t, stampedeRun(), "")
	return t.String(), err
}

func anchorTable() *page.Table {
	return page.NewTable("run", "replay", "messages", "polls", "wall time", "messages/s", "memory, MB", "SMPI, published: wall time", "memory, MB")
}

// anchorRow replays a run with further flags of replay.
func (l *runner) anchorRow(t *page.Table, a anchor, flags string) error {
	g, err := l.hpl(a.flags)
	if err != nil {
		return err
	}
	r, err := l.replay("--platform "+a.platform+" "+flags, g.path)
	if err != nil {
		return err
	}
	how := "exact"
	if r.Interval > 0 {
		how = fmt.Sprintf("estimate, ± %.2f %%", 100*r.Interval/r.Makespan)
		r.Messages = r.Simulated
	}
	t.Row(a.name, how, wording.Thousands(r.Messages), wording.Thousands(r.Polls), page.Duration(r.seconds), page.Digits(r.rate()), page.Megabytes(r.bytes),
		page.Duration(a.seconds), page.Megabytes(int64(a.bytes)))
	return nil
}
