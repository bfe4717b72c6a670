package report

import (
	"encoding/json"
	"slices"
	"testing"

	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/report/record"
	"reprise/report/typedarray"
)

// result is a run of 100 s: 70 s of kernels, 60 of them dgemm, 25 s of waiting, 20 of them in
// receives, 4 s of polls, 1 s of overheads.
const result = `{"time_by_kind": [
	{"name": "compute", "mean_s": 70, "min_s": 63, "max_s": 77}, {"name": "recv", "mean_s": 20}, {"name": "wait", "mean_s": 5}, {"name": "poll", "mean_s": 4}, {"name": "overhead", "mean_s": 1}],
	"time_by_kernel": [{"name": "dtrsm", "mean_s": 10}, {"name": "dgemm transa=N", "mean_s": 1}, {"name": "dgemm transa=T", "mean_s": 59}],
	"time_by_phase": [{"name": "panel", "mean_s": 12}, {"name": "update", "mean_s": 65}, {"name": "swaps", "mean_s": 19}]}`

// TestDiagnose: sentences from what there is, and nothing of what is not.
func TestDiagnose(t *testing.T) {
	replayed := 0.4
	onPath := &path.Data{Seconds: 100,
		Parts: []path.Part{
			{Name: "dgemm", Kind: "kernel", Phase: "update", Seconds: 58}, {Name: "wire", Kind: "wire", Level: "leaf uplinks", Phase: "swaps", Seconds: 12},
			{Name: "dtrsm", Kind: "kernel", Seconds: 10}, {Name: "contention", Kind: "contention", Level: "leaf uplinks", Seconds: 7}, {Name: "wait", Kind: "poll", Seconds: 13},
		},
		WhatIfs: []path.WhatIf{
			{Kind: "kernel", What: "dgemm 1 % quicker", Gain: 0.58, Replayed: &replayed}, {Kind: "kernel", What: "dtrsm 1 % quicker", Gain: 0.1},
			{Kind: "bandwidth", What: "leaf uplinks 1 % quicker", Gain: 0.19},
		}}
	const (
		whole  = "On average a rank computes for 70 % of its time, most of it in dgemm (60 %), waits for messages for 25 %, most of it in recv (20 %), polls for 4.0 % and spends 1.0 % on overheads of messages."
		phases = "The longest phases are update, 65 % of the time, and swaps, 19 %; phases may lie inside each other."
		busy   = "The busiest rank computes 10 % longer than the mean, the idlest 10 % less."
		chain  = "Of the critical path, the longest chain of events, 68 % is kernels (dgemm in update: 58 %) and 19 % is messages, above all wire on leaf uplinks in swaps (12 %); 13 % is polls, and waiting for the next one."
		what   = "What if: dgemm 1 % quicker would save 0.58 % (0.4 % in a replay with it), and leaf uplinks 1 % quicker would save 0.19 % (no replay has confirmed it)."
		lost   = "The parallel efficiency is 70 %; most is lost to messages that share links (20 %)."
		none   = "What if: no change of 1 % would save 0.1 %."
		hot    = "Messages lose the most time on leaf uplinks leaf-3_up, because they share it: 12 s in all; over the run it carries 81 % of its capacity."
		later  = "In the first quarter of the steps ranks wait or poll for 10 % of their time, in the last for 55 %."
	)
	efficiencies := &pop.Data{LoadBalance: 0.95, Serialisation: 0.97, Wire: 0.95, Contention: 0.8, Parallel: 0.7}
	links := record.Links{Levels: []string{"hosts", "leaf uplinks"}, Hottest: []record.HotLink{{Name: "leaf-3_up", Level: 1, Use: 0.81, Lost: 12}}}
	recorded := &record.Data{Links: links, Columns: record.Columns{Kind: "step", Count: 8},
		Series: record.Series{Kinds: []string{"compute", "recv", "poll"}, Values: typedarray.Of(slices.Concat(
			// Means, least and most of eight steps: 1 of 10 s at first, 11 of 20 s in the end.
			[]float32{9, 9, 9, 9, 9, 9, 9, 9}, make([]float32, 16),
			[]float32{1, 0, 5, 5, 5, 5, 10, 10}, make([]float32, 16),
			[]float32{0, 1, 1, 1, 1, 1, 1, 1}, make([]float32, 16)))}}
	estimated := []TimeTable{{By: "kind", Rows: []TimeRow{{Name: "compute", Mean: 8}, {Name: "collective", Mean: 2}}}, {By: "kernel", Rows: []TimeRow{{Name: "dgemm", Mean: 3}}}}
	for _, c := range []struct {
		name string
		data Data
		want []string
	}{
		{"nothing", Data{}, []string{"Where the time went was not recorded."}},
		{"of several replays", Data{Result: json.RawMessage(`{"time_by_kind": 3}`)}, []string{"Where the time went was not recorded."}},
		{"no time", Data{Result: json.RawMessage(`{"time_by_kind": []}`), Path: &path.Data{}, Record: &record.Data{}}, []string{"Nothing takes any time."}},
		{"result", Data{Result: json.RawMessage(result)}, []string{whole, phases, busy}},
		{"all but a record", Data{Result: json.RawMessage(result), Path: onPath, POP: efficiencies}, []string{whole, phases, chain, what, lost, busy}},
		{"record", Data{Result: json.RawMessage(result), Record: recorded}, []string{whole, phases, hot, later, busy}},
		{"all", Data{Result: json.RawMessage(result), Record: recorded, Path: onPath, POP: efficiencies}, []string{whole, phases, chain, what, lost, later}},
		{"nothing gains", Data{Result: json.RawMessage(result), Path: &path.Data{Seconds: 100, Parts: onPath.Parts, WhatIfs: []path.WhatIf{{What: "dtrsm 1 % quicker", Gain: 0.099}}}},
			[]string{whole, phases, chain, none, busy}},
		{"messages alone", Data{Result: json.RawMessage(`{"time_by_kind": [{"name": "recv", "mean_s": 3}, {"name": "overhead", "mean_s": 1}]}`)},
			[]string{"On average a rank waits for messages for 75 % of its time, most of it in recv (75 %) and spends 25 % on overheads of messages."}},
		{"devices", Data{Result: json.RawMessage(`{"time_by_kind": [{"name": "device", "mean_s": 3}, {"name": "recv", "mean_s": 1}],
			"device_by_state": [{"name": "busy", "mean_s": 2.4}, {"name": "waits for messages", "mean_s": 0.6}, {"name": "waits for the host", "mean_s": 1}]}`)},
			[]string{"On average a rank waits for messages for 25 % of its time, most of it in recv (25 %) and waits for its device for 75 %.",
				"A device is busy for 60 % of the time, waits for messages for 15 % and for the host for 25 %."}},
		{"one rank", Data{Result: json.RawMessage(`{"time_by_kind": [{"name": "compute", "mean_s": 2, "min_s": 2, "max_s": 2}]}`),
			POP: &pop.Data{LoadBalance: 1, Serialisation: 1 - 1e-16, Wire: 1, Contention: 1, Parallel: 1 - 1e-16}},
			[]string{"On average a rank computes for 100 % of its time.", "The parallel efficiency is 100 %: nothing is lost."}},
		{"interrupted", Data{Result: json.RawMessage(`{"stopped_at_s": 3, "time_by_kind": [{"name": "compute", "mean_s": 1}]}`)},
			[]string{"So far, on average, a rank computes for 100 % of its time."}},
		{"estimate", Data{Result: json.RawMessage(`{"estimate": true, "time_by_kind": []}`), Tables: estimated},
			[]string{"By estimate, on average, a rank computes for 80 % of its time and waits for messages for 20 %, most of it in collective (20 %)."}},
		{"runs", Data{Result: json.RawMessage(`{"runs": []}`), Tables: estimated},
			[]string{"On average a rank computes for 80 % of its time and waits for messages for 20 %, most of it in collective (20 %)."}},
	} {
		if got := Diagnose(&c.data); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}

// TestSeconds: in the units of the page.
func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 2, "0 s"}, {1.8e-4, 2, "180 µs"}, {1.844e-4, 2, "184 µs"}, {0.0512886, 6, "51.2886 ms"}, {9.5, 6, "9.5 s"}, {0.9996, 3, "1 s"}, {0.9994, 4, "999.4 ms"},
		{1234.5, 2, "1234 s"}, {1e-10, 2, "0.1 ns"}, {0.0997, 2, "100 ms"}, {99.6, 2, "100 s"},
	} {
		if got := seconds(c.v, c.digits); got != c.want {
			t.Errorf("%g with %d digits: %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0.0 %", 0.0004: "under 0.1 %", 0.012: "1.2 %", 0.0994: "9.9 %", 0.0996: "10 %", 0.705: "70 %", 1: "100 %"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// TestSpread: 0.2 s of 10 s are 2 %, 0.05 s are 0.5 %; 9 to 11 s are 10 % around 10 s.
func TestSpread(t *testing.T) {
	runs := &replay.Ensemble{Figures: replay.Figures[replay.Summary]{Makespan: replay.Summary{Mean: 10, SD: 0.2, Interval: 0.05, Min: 9.5, Max: 10.25}}, Runs: make([]replay.SeedResult, 4)}
	if got, want := DiagnoseRuns(runs), []string{
		"The quickest of 4 runs takes 9.5 s, the slowest 10.25 s.", "One run scatters by 2.0 % around the mean, which is known to 0.5 %.",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	draws := &replay.Uncertainty{Level: 0.9, Figures: replay.Figures[replay.Interval]{Makespan: replay.Interval{Mean: 10, Low: 9, High: 11}}, Parts: []replay.UncertaintyPart{{Name: "noise", SD: 0.1}, {Name: "calibration", SD: 0.5}}}
	if got, want := DiagnoseDraws(draws), []string{
		"90 % of runs are expected between 10 % less and 10 % more than the mean.", "Most of that is calibration: by itself it makes runs scatter by 5.0 %.",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(DiagnoseRuns(&replay.Ensemble{})) > 0 || len(DiagnoseDraws(&replay.Uncertainty{})) > 0 {
		t.Error("words about nothing")
	}
}
