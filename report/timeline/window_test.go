package timeline_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/report/timeline"
	"reprise/trace"
)

// everywhere observes all steps.
type everywhere struct{ observing }

func (e everywhere) Observer() replay.Observer {
	o := e.observing.Observer()
	o.FirstStep, o.EndStep = 0, 0
	return o
}

// shown is what a recorder of a span has shown, but for the numbers of messages.
type shown struct {
	Lines    [][]string
	Sends    int
	Received int
	Phases   []phase
	Messages []timeline.Message
}

func shownOf(s *seen) (all shown) {
	for rank := range s.slices {
		all.Lines = append(all.Lines, s.lines(rank))
		for i := range s.slices[rank] {
			all.Sends += len(s.slices[rank][i].Sends)
			all.Received += len(s.slices[rank][i].Receives)
		}
	}
	all.Phases, all.Messages = s.phases, slices.Clone(s.messages)
	for i := range all.Messages {
		all.Messages[i].Number = 0
	}
	return all
}

// record has recorders of a span told of their part of a run, of all of it, and of their part beside
// somebody who is told of all.
func record(h *trace.Header, span timeline.Span, run func(observing)) (part, whole, beside shown) {
	all := timeline.NewRecorder(h, timeline.Span{}, newSeen(h))
	for to, observer := range map[*shown]func(*timeline.Recorder) observing{
		&part:   func(r *timeline.Recorder) observing { return r },
		&whole:  func(r *timeline.Recorder) observing { return everywhere{r} },
		&beside: func(r *timeline.Recorder) observing { return several{all, r} },
	} {
		got := newSeen(h)
		r := timeline.NewRecorder(h, span, got)
		run(observer(r))
		r.End()
		*to = shownOf(got)
	}
	return part, whole, beside
}

// TestWindowOfSteps: what is shown of steps in the midst of a run is what a recorder shows that was
// told of all of it.
func TestWindowOfSteps(t *testing.T) {
	run := newHPL(t, 600, 4, 4, "")
	for _, span := range []timeline.Span{
		{FirstStep: 5, EndStep: 7}, {FirstStep: 0, EndStep: 2}, {FirstStep: 10, EndStep: 13, FirstRank: 4, Ranks: 4},
		{FirstStep: 17, EndStep: 19}, {FirstStep: 3, EndStep: 4, FirstRank: 15, Ranks: 1},
	} {
		part, whole, beside := record(run.header, span, func(o observing) { run.play(t, o) })
		if diff := cmp.Diff(part, beside, cmp.AllowUnexported(phase{})); diff != "" {
			t.Errorf("%v, beside another recorder (-alone +beside):\n%s", span, diff)
		}
		if diff := cmp.Diff(whole, part, cmp.AllowUnexported(phase{})); diff != "" || part.Sends == 0 || len(part.Phases) == 0 {
			t.Errorf("%v: %d sends, %d phases (-told of all +told of the part):\n%s", span, part.Sends, len(part.Phases), diff)
		}
	}
}

// TestMessagesOverSteps: messages of a window that end when all ranks have gone on to the step behind
// it are shown, and a wait says what for if that began two steps before.
func TestMessagesOverSteps(t *testing.T) {
	h := &trace.Header{Ranks: 2, Steps: 8}
	var lists [2][]trace.Action
	for rank := range lists {
		post := isend
		if rank == 1 {
			post = irecv
		}
		for s := range 8 {
			lists[rank] = append(lists[rank], step(int64(s)))
			if s >= 2 {
				lists[rank] = append(lists[rank], wait(int32(s-2)))
			}
			lists[rank] = append(lists[rank], post(int32(s), int32(1-rank), 7, 1_000_000), flops(1e9))
		}
	}
	for _, span := range []timeline.Span{{FirstStep: 3, EndStep: 4}, {FirstStep: 5, EndStep: 7}} {
		part, whole, _ := record(h, span, func(o observing) { play(t, h, o, lists[:]...) })
		if diff := cmp.Diff(whole, part, cmp.AllowUnexported(phase{})); diff != "" || len(part.Messages) != span.EndStep-span.FirstStep {
			t.Errorf("%v: %d messages (-told of all +told of the part):\n%s", span, len(part.Messages), diff)
		}
	}
}
