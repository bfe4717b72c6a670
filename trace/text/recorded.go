package text

import (
	"fmt"
	"io"
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
}

// String returns the line of the outcome, without the communicator.
func (o *outcome) String() string {
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
	o := &r.outcomes[r.next]
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
	if r.next == len(r.outcomes) {
		return nil
	}
	o := &r.outcomes[r.next]
	return fmt.Errorf("%s:%d: %v is left over: the rank polls no more", r.name, o.line, o)
}
