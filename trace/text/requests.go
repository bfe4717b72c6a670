package text

import (
	"bytes"
	"strconv"

	"reprise/trace"
)

// This file lists requests by number, and polls of requests.

// plainVerbs are the words for actions on queues in plain listings.
var plainVerbs = map[trace.QueueVerb]string{trace.QueueRecord: "event", trace.QueueSyncEvent: "sync event",
	trace.QueueSync: "sync stream", trace.QueueSyncAll: "sync device"}

// next appends the number of a request that begins, if requests have one.
func (l *listing) next() {
	l.begun++
	if l.words.Plain {
		l.word(" r").digits(l.begun)
	}
}

// digits appends an integer without a blank.
func (l *listing) digits(v int64) *listing {
	l.out = strconv.AppendInt(l.out, v, 10)
	return l
}

// request appends the number of a request, or its slot if requests have no numbers.
func (l *listing) request(slot int32, r request) *listing {
	if !l.words.Plain {
		return l.int(int64(slot))
	}
	return l.word(" r").digits(r.number)
}

// requestList appends a line of a verb and those of the requests that are pending, which are complete then; nothing if
// none is.
func (l *listing) requestList(verb string, slots []int32) {
	for _, slot := range slots {
		r, ok := l.requests[slot]
		if !ok {
			continue
		}
		delete(l.requests, slot)
		l.word(verb).request(slot, r)
		verb = ""
	}
	if verb == "" {
		l.line()
	}
}

// ask answers a poll of requests and appends its line: a test of one or of all of several, or the wait for any,
// which is asked of each in turn.
func (l *listing) ask(a *trace.Action) error {
	slots := make([]int32, 0, len(a.X))
	asked := *a // with numbers for slots
	for i, slot := range a.X {
		if slot >= 0 {
			slots = append(slots, int32(slot))
			asked.X[i] = l.requests[int32(slot)].number
		}
	}
	hit, err := l.rule.Answer(&asked)
	if err != nil {
		return err
	}
	l.c.Answer(hit)
	switch m := trace.Completion(a.Sym); {
	case m == trace.CompleteAny && !hit && int(a.Tag) < len(slots)-1:
	case m == trace.CompleteAny:
		l.endRounds()
		slot := slots[a.Tag]
		l.word("waitany").request(slot, l.requests[slot]).word(" of")
		for _, s := range slots {
			l.request(s, l.requests[s])
		}
		l.line()
		delete(l.requests, slot)
	case hit && m == trace.TestAll:
		l.requestList("testall", slots)
	case hit:
		l.endRounds()
		l.requestList("test", slots)
	default:
		verb := "miss"
		if m == trace.TestAll {
			verb = "missall"
		}
		start := len(l.out)
		l.word(verb)
		for _, s := range slots {
			l.request(s, l.requests[s])
		}
		l.line()
		if a.Flags&trace.FlagSpin != 0 {
			l.round = append(l.round, l.out[start:]...)
			l.out = l.out[:start]
		}
	}
	return nil
}

// roundOver ends a round. One that found nothing and is as the round before is counted.
func (l *listing) roundOver(a *trace.Action) {
	if a.X[0] < 0 {
		l.endRounds()
		return
	}
	if len(l.before) > 0 && string(l.before) == string(l.round) {
		l.repeats++
		l.round = l.round[:0]
		return
	}
	round := string(l.round)
	l.endRounds()
	l.before = append(l.before, round...)
}

// endRounds appends what is held back of rounds.
func (l *listing) endRounds() {
	if l.repeats > 0 {
		l.word("again").int(int64(bytes.Count(l.before, []byte("\n")))).word(" x").digits(l.repeats).line()
	}
	l.out = append(l.out, l.round...)
	l.repeats, l.before, l.round = 0, l.before[:0], l.round[:0]
}
