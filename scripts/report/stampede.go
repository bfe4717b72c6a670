package main

import (
	"fmt"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// stampedeFlags are tracegen's for the run on Stampede (TOP500 of June 2013), as
// in scripts/demo.sh.
const stampedeFlags = "-N 3875000 --NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 --RFACT crout " +
	"--BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no"

// stampedeSteps are where windows begin: early, in the middle and late in 3,785 steps.
var stampedeSteps = []int{100, 1900, 3500}

const stampedeWindow = 50 // steps

// stampede measures windows of the run and extrapolates to all of it.
func stampede(l *runner) (string, error) {
	g, err := l.hpl(stampedeFlags)
	if err != nil {
		return "", err
	}
	total, _, err := l.stat(g.path)
	if err != nil {
		return "", err
	}
	t := page.NewTable("steps", "messages", "wall time, s", "messages/s", "memory, MB")
	var all []replayed
	for _, first := range stampedeSteps {
		steps := fmt.Sprintf("%d:%d", first, first+stampedeWindow)
		r, err := l.replay("--platform stampede --steps "+steps, g.path)
		if err != nil {
			return "", err
		}
		t.Row(steps, wording.Thousands(r.Messages), page.Digits(r.seconds), page.Digits(r.rate()), page.Megabytes(r.bytes))
		all = append(all, r)
	}
	return t.String() + fmt.Sprintf("\nAll %s messages at the mean time per message of these windows would take **%s**: extrapolated.\n",
		wording.Thousands(total), page.Duration(extrapolate(total, all))) +
		commands("tracegen hpl "+stampedeFlags+" -o stampede.trace.zst", "replay --platform stampede --steps 100:150 stampede.trace.zst"), nil
}

// extrapolate returns the seconds that messages take at the mean of the windows'
// seconds per message.
func extrapolate(messages int64, windows []replayed) float64 {
	sum := 0.0
	for _, r := range windows {
		sum += r.seconds / float64(r.Messages)
	}
	return float64(messages) * sum / float64(len(windows))
}
