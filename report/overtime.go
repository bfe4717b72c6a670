package report

import (
	"fmt"

	"reprise/replay"
	"reprise/report/record"
)

// overTime says how the share of waiting changes over the run, if it does.
func overTime(d *record.Data) string {
	const change = 0.05
	c := d.Columns.Count / 4
	values, err := d.Series.Values.Float32s()
	if err != nil || c < 1 || len(values) < 3*d.Columns.Count*len(d.Series.Kinds) {
		return ""
	}
	first := waitingShare(d, values, 0, c)
	last := waitingShare(d, values, d.Columns.Count-c, d.Columns.Count)
	if last-first < change && first-last < change {
		return ""
	}
	columns := "steps"
	if d.Columns.Kind != "step" {
		columns = "run"
	}
	return fmt.Sprintf("In the first quarter of the %s ranks wait or poll for %s of their time, in the last for %s.", columns, percent(first), percent(last))
}

// waitingShare returns the share of their time that ranks wait or poll in the columns
// [from, to) of a record with these values of its series.
func waitingShare(d *record.Data, values []float32, from, to int) float64 {
	var waiting, all float64
	for row, kind := range d.Series.Kinds {
		means := values[3*row*d.Columns.Count:][from:to]
		sum := 0.0
		for _, v := range means {
			sum += float64(v)
		}
		if all += sum; waits(kind) || kind == replay.TimePoll.String() {
			waiting += sum
		}
	}
	if all == 0 {
		return 0
	}
	return waiting / all
}
