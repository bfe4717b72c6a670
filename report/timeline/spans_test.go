package timeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/report/timeline"
)

// arrows is a sink that keeps messages.
type arrows struct{ list []timeline.Message }

func (*arrows) Slice(*timeline.Slice) {}

func (*arrows) PhaseBegins(int32, int, float64) {}

func (*arrows) PhaseEnds(int32, float64) {}

func (*arrows) Label(string, float64) {}

func (*arrows) Close() error { return nil }

func (a *arrows) Message(m *timeline.Message) {
	kept := *m
	kept.Number = 0 // among those that are seen
	a.list = append(a.list, kept)
}

// TestSpansSideBySide: a recorder of four ranks sees the same messages alone and beside one of all.
func TestSpansSideBySide(t *testing.T) {
	seen := func(others ...replay.Observer) []timeline.Message {
		run, to := newHPL(t, 400, 4, 4), &arrows{}
		four := timeline.NewRecorder(run.header, timeline.Span{Ranks: 4}, to)
		run.options.Observer = replay.Observers(append(others, four)...)
		tr := run.open(t)
		if _, err := replay.Run(t.Context(), tr, run.machine, run.options); err != nil {
			t.Fatal(err)
		}
		return to.list
	}
	alone := seen()
	beside := seen(timeline.NewRecorder(newHPL(t, 400, 4, 4).header, timeline.Span{}, &arrows{}))
	if diff := cmp.Diff(alone, beside); diff != "" || len(alone) == 0 {
		t.Errorf("%d messages, beside another recorder %d (-alone +beside):\n%s", len(alone), len(beside), diff)
	}
}
