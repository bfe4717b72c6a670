package report

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/replay"
)

// DiagnoseRuns says in plain words how replays with several seeds differ.
func DiagnoseRuns(e *replay.Ensemble) []string {
	s := &e.Makespan
	if s.Mean == 0 {
		return []string{}
	}
	return []string{
		fmt.Sprintf("The quickest of %d runs takes %s, the slowest %s.", len(e.Runs), seconds(s.Min, 6), seconds(s.Max, 6)),
		fmt.Sprintf("One run scatters by %s around the mean, which is known to %s.", percent(s.SD/s.Mean), percent(s.Interval/s.Mean)),
	}
}

// DiagnoseDraws says in plain words what makes a prediction uncertain.
func DiagnoseDraws(u *replay.Uncertainty) []string {
	s := &u.Makespan
	if s.Mean == 0 || len(u.Parts) == 0 {
		return []string{}
	}
	most := slices.MaxFunc(u.Parts, func(a, b replay.UncertaintyPart) int { return cmp.Compare(a.SD, b.SD) })
	return []string{
		fmt.Sprintf("%s of runs are expected within %s of the mean.", percent(u.Level), percent((s.High-s.Low)/2/s.Mean)),
		fmt.Sprintf("Most of that is %s: by itself it makes runs scatter by %s.", most.Name, percent(most.SD/s.Mean)),
	}
}
