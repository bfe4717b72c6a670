package replay_test

import (
	"slices"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

func step(n int64) trace.Action {
	return trace.Action{Kind: trace.KindStep, X: [4]int64{n}}
}

// TestBegins: rank 0 takes 1 s and 2 s for its two steps, rank 1 takes 3 s and 1 s.
func TestBegins(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.StepStarts, b.From, b.To = true, 7, 9
	res := b.run(t,
		[]trace.Action{step(7), sleep(1), step(8), sleep(2)},
		[]trace.Action{step(7), sleep(3), step(8), sleep(1)})
	if want := []replay.StepStart{{0, 0}, {2, 3}, {3.5, 4}}; !slices.Equal(res.StepStarts, want) {
		t.Errorf("%v, want %v", res.StepStarts, want)
	}
}

func TestBeginsErrors(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.StepStarts = true
	lists := [][]trace.Action{{step(0), sleep(1)}, {sleep(1)}}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 0, "between two steps"}, {3, 2, "between two steps"}, {-1, 2, "between two steps"}, {0, 1, "1 of 2 ranks begin step 0"},
	} {
		b.From, b.To = c.from, c.to
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("steps [%d,%d): %v, want %s", c.from, c.to, err, c.want)
		}
	}
}
