package timeline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/report/timeline"
)

// chromeEvent is an event of the Trace Event Format. Times are in microseconds.
type chromeEvent struct {
	Phase  string         `json:"ph"`
	Name   string         `json:"name"`
	Cat    string         `json:"cat"`
	Pid    *int           `json:"pid"`
	Tid    *int           `json:"tid"`
	Ts     *float64       `json:"ts"`
	Dur    *float64       `json:"dur"`
	ID     int64          `json:"id"`
	Bind   string         `json:"bp"`
	Args   map[string]any `json:"args"`
	parsed map[string]json.RawMessage
}

// required are the keys that an event of each phase must have, and all that it may have.
var required = map[string][2][]string{
	"M": {{"name", "pid", "args"}, {"ph", "tid"}},
	"B": {{"name", "cat", "ts", "pid", "tid"}, {"ph"}},
	"E": {{"ts", "pid", "tid"}, {"ph"}},
	"X": {{"name", "cat", "ts", "dur", "pid", "tid"}, {"ph", "args"}},
	"i": {{"name", "cat", "s", "ts", "pid", "tid"}, {"ph"}},
	"s": {{"name", "cat", "id", "ts", "pid", "tid"}, {"ph"}},
	"f": {{"name", "cat", "id", "ts", "pid", "tid", "bp"}, {"ph"}},
}

// readChrome reads a file, and checks the keys of its events.
func readChrome(t testing.TB, file []byte) (events []chromeEvent) {
	t.Helper()
	var object struct {
		Unit   string            `json:"displayTimeUnit"`
		Events []json.RawMessage `json:"traceEvents"`
	}
	if err := json.Unmarshal(file, &object); err != nil || object.Unit != "ns" {
		t.Fatalf("%v, unit %q", err, object.Unit)
	}
	for _, text := range object.Events {
		var e chromeEvent
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal(text, &e.parsed); err != nil {
			t.Fatal(err)
		}
		keys, ok := required[e.Phase]
		for _, key := range keys[0] {
			if _, has := e.parsed[key]; !has {
				ok = false
			}
		}
		for key := range e.parsed {
			ok = ok && slices.Contains(slices.Concat(keys[0], keys[1]), key)
		}
		if !ok {
			t.Fatalf("%s: wrong keys", text)
		}
		events = append(events, e)
	}
	return events
}

func (e *chromeEvent) String() string {
	text := fmt.Sprintf("%s %s", e.Phase, e.Name)
	if e.Tid != nil {
		text += fmt.Sprintf(" %d/%d", *e.Pid, *e.Tid)
	}
	if e.Ts != nil {
		text += fmt.Sprintf(" at %.3f", *e.Ts)
	}
	if e.Dur != nil {
		text += fmt.Sprintf(" for %.3f", *e.Dur)
	}
	return text
}

// TestChromePair: the pair by arithmetic: 1 s, and 1.0001 s + 8.000128 ms, in microseconds.
func TestChromePair(t *testing.T) {
	var got []string
	for _, e := range readChrome(t, exportPair(t, timeline.Chrome)) {
		if e.Phase == "M" {
			got = append(got, fmt.Sprintf("%s %d %v", e.Name, *e.Pid, e.Args))
			continue
		}
		got = append(got, e.String())
	}
	want := []string{
		"process_name 1 map[name:n0]", "process_sort_index 1 map[sort_index:0]", "process_name 2 map[name:n1]", "process_sort_index 2 map[sort_index:1]",
		"thread_name 1 map[name:rank 0]", "thread_sort_index 1 map[sort_index:0]", "thread_name 2 map[name:rank 1]", "thread_sort_index 2 map[sort_index:1]",
		"B first 1/1 at 0.000", "X flops 1/1 at 0.000 for 1000000.000", "X send 1/1 at 1000000.000 for 8100.128", "s message 1/1 at 1000000.000", "E  1/1 at 1008100.128", "X flops 1/1 at 1008100.128 for 1000000.000",
		"X irecv 2/2 at 0.000 for 0.000", "X flops 2/2 at 0.000 for 500000.000", "X wait 2/2 at 500000.000 for 508100.128", "f message 2/2 at 1008100.127", "X flops 2/2 at 1008100.128 for 1000000.000",
	}
	slices.SortStableFunc(got[8:], func(a, b string) int { return threadIn(a) - threadIn(b) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// threadIn returns the thread that a line of TestChromePair is of.
func threadIn(line string) (thread int) {
	var phase, name string
	var process int
	if _, err := fmt.Sscanf(line, "%s %s %d/%d", &phase, &name, &process, &thread); err != nil {
		return 1 // an end, which has no name
	}
	return thread
}

// TestChromeHPL: of a run of HPL all messages are pairs within slices of their ranks, and
// phases are pairs.
func TestChromeHPL(t *testing.T) {
	file, run, res := exportHPL(t, timeline.Chrome, timeline.Span{})
	events := readChrome(t, file)
	within := func(e *chromeEvent) bool {
		return slices.ContainsFunc(events, func(x chromeEvent) bool {
			return x.Phase == "X" && *x.Tid == *e.Tid && *x.Ts <= *e.Ts && (*e.Ts < *x.Ts+*x.Dur || *e.Ts == *x.Ts)
		})
	}
	starts, ends, open, sum := map[int64]float64{}, 0, map[int]int{}, map[int]float64{}
	for i := range events {
		e := &events[i]
		switch e.Phase {
		case "X":
			sum[*e.Tid-1] += *e.Dur
		case "B":
			open[*e.Tid]++
		case "E":
			open[*e.Tid]--
		case "s":
			starts[e.ID] = *e.Ts
		case "f":
			ends++
		}
		if open := open[0]; open < 0 {
			t.Fatalf("%v: an end without a begin", e)
		}
		if i%97 == 0 && (e.Phase == "s" || e.Phase == "f") && !within(e) {
			t.Errorf("%v: not within a slice", e)
		}
	}
	if int64(len(starts)) != res.Messages || int64(ends) != res.Messages {
		t.Errorf("%d messages start and %d end, want %d", len(starts), ends, res.Messages)
	}
	for rank, want := range res.Ranks {
		if got := sum[rank]; math.Abs(got-want.End*1e6) > 1e-2 {
			t.Errorf("rank %d: slices of %v us, want %v", rank, got, want.End*1e6)
		}
	}
	for thread, n := range open {
		if n != 0 {
			t.Errorf("thread %d: %d phases without end, of %v", thread, n, run.header.Phases)
		}
	}
}
