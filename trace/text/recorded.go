package text

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads the outcomes of polls from the listing of a real run (ReadRecorded), and answers polls by them.

// Recorded answers the polls of one rank as a run did. An outcome of several misses answers as many polls: misses is
// counted down.
type Recorded struct {
	name     string
	outcomes []outcome
	next     int
}

// outcome is a line of recorded polls: misses failures, or one success.
type outcome struct {
	line      int
	peer, tag int32
	misses    int64 // 0: found

	// Of polls of requests: what was polled, by number, and what was found; or that the outcomes before, that many, came
	// again as often as misses says.
	verb     string // "" if it is none
	requests []int64
	which    int64 // that a waitany completed
	again    int
}

// requestVerbs are the completions of outcomes of requests.
var requestVerbs = map[string]trace.Completion{"test": trace.TestAny, "miss": trace.TestAny, "testall": trace.TestAll,
	"missall": trace.TestAll, "waitany": trace.CompleteAny}

// String returns the line of the outcome, without the communicator.
func (o *outcome) String() string {
	if o.verb != "" {
		return fmt.Sprintf("%s r%d", o.verb, o.requests)
	}
	if o.misses == 0 {
		return fmt.Sprintf("iprobe %d %d", o.peer, o.tag)
	}
	return fmt.Sprintf("miss %d %d x%d", o.peer, o.tag, o.misses)
}

// ReadRecorded reads a rank's outcomes in order: lines "iprobe PEER TAG COMM" and "miss PEER TAG COMM xCOUNT", as a
// listing has them; COMM may be absent. Empty lines and lines that start with # are skipped. The name is for
// errors. Of input that is another kind of file the error says which.
func ReadRecorded(r io.Reader, name string) (*Recorded, error) {
	head := sniff.Remember(r)
	rec := &Recorded{name: name}
	scan := textutil.NewLineScanner(head)
	n := 0
	for scan.Scan() {
		n++
		text := strings.TrimSpace(scan.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		o, err := parseOutcome(strings.Fields(text))
		if err != nil {
			return nil, head.Instead(fmt.Errorf("%s:%d: %w", name, n, textutil.Brief(err)), name, sniff.Outcomes)
		}
		o.line = n
		if o.again > len(rec.outcomes) {
			return nil, fmt.Errorf("%s:%d: again %d, after %d outcomes", name, n, o.again, len(rec.outcomes))
		}
		rec.outcomes = append(rec.outcomes, o)
	}
	if err := textutil.LineError(scan); err != nil {
		return nil, head.Instead(fmt.Errorf("%s:%d: %w", name, n+1, err), name, sniff.Outcomes)
	}
	return rec, nil
}

// parseOutcome reads the fields of a line.
// The communicator, a fourth field, is not looked at: a trace may call it by another name.
func parseOutcome(f []string) (outcome, error) {
	var o outcome
	verb := f[0]
	if _, ok := requestVerbs[verb]; ok && len(f) > 1 && strings.HasPrefix(f[1], "r") {
		return requestOutcome(f)
	}
	if verb == "again" && len(f) == 3 {
		var err error
		o.again, err = strconv.Atoi(f[1])
		count, ok := strings.CutPrefix(f[2], "x")
		n, bad := strconv.ParseInt(count, 10, 64)
		if !ok || err != nil || bad != nil || n < 1 || o.again < 1 {
			return o, fmt.Errorf("%q, want again, a number of lines, and x with a number from 1", strings.Join(f, " "))
		}
		o.misses = n
		return o, nil
	}
	if verb != "iprobe" && verb != "miss" {
		return o, fmt.Errorf("%q, want iprobe or miss", verb)
	}
	if verb == "miss" {
		last := f[len(f)-1]
		count, ok := strings.CutPrefix(last, "x")
		n, err := strconv.ParseInt(count, 10, 64)
		if !ok || err != nil || n < 1 {
			return o, fmt.Errorf("count %q, want x and a number from 1", last)
		}
		f, o.misses = f[:len(f)-1], n
	}
	if len(f) != 3 && len(f) != 4 {
		return o, fmt.Errorf("%s with %d fields, want PEER TAG and at most COMM", verb, len(f)-1)
	}
	peer, err := strconv.ParseInt(f[1], 10, 32)
	if err != nil || peer < 0 {
		return o, fmt.Errorf("peer %q, want a rank", f[1])
	}
	tag, err := strconv.ParseInt(f[2], 10, 32)
	if err != nil {
		return o, fmt.Errorf("tag %q, want an integer", f[2])
	}
	o.peer, o.tag = int32(peer), int32(tag)
	return o, nil
}

// Answer takes the next outcome, which must be of the same peer and tag.
func (r *Recorded) Answer(a *trace.Action) (bool, error) {
	if r.next == len(r.outcomes) {
		return false, fmt.Errorf("%s: no outcome left for the poll of rank %d with tag %d", r.name, a.Peer, a.Tag)
	}
	// Outcomes that came again are gone through as often.
	o := &r.outcomes[r.next]
	for o.again > 0 {
		if o.misses--; o.misses >= 0 {
			r.next -= o.again
		} else if r.next++; r.next == len(r.outcomes) {
			return r.Answer(a)
		}
		o = &r.outcomes[r.next]
	}
	if a.Kind == trace.KindAsk {
		return r.requests(o, a)
	}
	if o.peer != a.Peer || o.tag != a.Tag {
		return false, fmt.Errorf("%s:%d: %v, but the poll is of rank %d with tag %d", r.name, o.line, o, a.Peer, a.Tag)
	}
	if o.misses == 0 {
		r.next++
		return true, nil
	}
	if o.misses--; o.misses == 0 {
		r.next++
	}
	return false, nil
}

// Finish reports an outcome that no poll asked for.
func (r *Recorded) Finish() error {
	if r.next == len(r.outcomes) || r.next+1 == len(r.outcomes) && r.outcomes[r.next].again > 0 {
		return nil
	}
	o := &r.outcomes[r.next]
	return fmt.Errorf("%s:%d: %v is left over: the rank polls no more", r.name, o.line, o)
}

// requestOutcome reads the fields of an outcome of requests: VERB rN .., or waitany rN of rA rB ..
func requestOutcome(f []string) (o outcome, err error) {
	list := f[1:]
	if o.verb = f[0]; o.verb == "waitany" && len(f) > 3 && f[2] == "of" {
		list = append(list[:1:1], f[3:]...)
	}
	for i, word := range list {
		n, err := strconv.ParseInt(strings.TrimPrefix(word, "r"), 10, 64)
		if err != nil || word[0] != 'r' || n < 1 {
			return o, fmt.Errorf("%q, want r and the number of a request", word)
		}
		if i == 0 && o.verb == "waitany" {
			o.which = n
			continue
		}
		o.requests = append(o.requests, n)
	}
	return o, nil
}

// requests answers a poll of requests by an outcome, which must be of the same.
func (r *Recorded) requests(o *outcome, a *trace.Action) (bool, error) {
	n := 0
	for n < len(a.X) && a.X[n] >= 0 {
		n++
	}
	if m, ok := requestVerbs[o.verb]; !ok || m != trace.Completion(a.Sym) || !slices.Equal(o.requests, a.X[:n]) {
		return false, fmt.Errorf("%s:%d: %v, but the poll is %v of requests %d", r.name, o.line, o,
			trace.Completion(a.Sym), a.X[:n])
	}
	if o.verb == "waitany" {
		if a.X[a.Tag] != o.which {
			if int(a.Tag) == n-1 {
				return false, fmt.Errorf("%s:%d: waitany r%d, which is none of %d", r.name, o.line, o.which, a.X[:n])
			}
			return false, nil
		}
	}
	r.next++
	return !strings.HasPrefix(o.verb, "miss"), nil
}
