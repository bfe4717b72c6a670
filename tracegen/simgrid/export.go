package simgrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen"
)

// This file writes a trace of Reprise as SimGrid's text: Export, ExportFile, ExportDir. A rankWriter writes the
// lines of one rank.

// DetachedBelow is SMPI's default for smpi/send-is-detached-thresh, in bytes.
const DetachedBelow = 65536

// Export writes all ranks of a trace as the one file that they share, line by line in turn. The trace may be a stream.
func Export(ctx context.Context, w io.Writer, t *trace.Trace, o tracegen.ExportOptions) (*tracegen.Exported, error) {
	if err := textutil.Write(w, o.Comment("#")); err != nil {
		return nil, err
	}
	return export(ctx, t, &o, 0, "", func(_ int32, text []byte) error {
		_, err := w.Write(text)
		return err
	})
}

// turnActions is how many actions a rank writes in its turn.
const turnActions = 64

// export writes the text of all ranks in turns, each behind the given head. Ranks that are behind in steps go
// first, as a window of the trace is kept as long as a rank is in it. A rank may keep up to hold bytes of its
// text between turns; flush writes them.
func export(ctx context.Context, t *trace.Trace, o *tracegen.ExportOptions, hold int, head string,
	flush func(rank int32, text []byte) error) (_ *tracegen.Exported, err error) {
	defer textutil.Stopped(&err)
	sum := &tracegen.Exported{}
	plain := tracegen.Plain{Polls: o.Polls, Flops: o.Flops}
	cursors := textutil.Must(t.Cursors(nil, trace.CursorOptions{}))
	ranks := make([]rankWriter, len(cursors))
	expand := make([]*tracegen.Expander, len(cursors))
	live := make([]int32, len(cursors)) // the ranks that have actions left
	for r := range live {
		live[r] = int32(r)
		ranks[r] = rankWriter{rank: int32(r), sum: sum, text: []byte(head)}
		ranks[r].line("init")
		expand[r] = tracegen.NewExpander(t.Program(), int32(r), func(*trace.Collective) bool { return true })
	}

	buf := make([]trace.Action, turnActions)
	told := 0
	for len(live) > 0 {
		textutil.Check(ctx.Err())
		front := cursors[live[0]].Step()
		for _, r := range live {
			front = min(front, cursors[r].Step())
		}
		if o.Progress != nil && front > told {
			told = front
			o.Progress(front)
		}
		// A turn writes the next actions of a rank. Behind its last ones the rank is deleted.
		live = slices.DeleteFunc(live, func(rank int32) bool {
			c, r := &cursors[rank], &ranks[rank]
			if c.Step() > front {
				return false
			}
			n := textutil.Must(plain.Fill(c, buf))
			for i := range buf[:n] {
				err := expand[rank].Expand(&buf[i], c, func(a *trace.Action) error { return r.action(a, c) })
				if err != nil {
					textutil.Stop(fmt.Errorf("rank %d step %d: %w", rank, c.Step(), err))
				}
			}
			if n == 0 {
				r.end()
			}
			if n == 0 || len(r.text) > hold {
				textutil.Check(flush(rank, r.text))
				r.text = r.text[:0]
			}
			if n == 0 { // their memory is of no more use
				*r, *c = rankWriter{}, trace.Cursor{}
			}
			return n == 0
		})
	}
	sum.Polls, sum.Spread = plain.Polled, plain.Spread
	return sum, nil
}

// IndexOf returns the name of the index that ExportFile writes beside the file at path.
func IndexOf(path string) string { return path + ".index" }

// ExportFile writes all ranks as one file, and beside it the index that names it, [IndexOf] path. Each appears
// whole or not at all. What is no regular file, such as a named pipe, gets no index. The trace may be a stream.
func ExportFile(ctx context.Context, path string, t *trace.Trace, o tracegen.ExportOptions) (sum *tracegen.Exported, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(checkName(path))
	indexed := true
	if info, err := os.Stat(path); err == nil {
		indexed = info.Mode().IsRegular()
	}
	if indexed { // a name that has room for no .index is refused before the work
		textutil.Check(atomicfile.Check(IndexOf(path)))
	}
	textutil.Check(atomicfile.Write(path, func(w io.Writer) (err error) {
		sum, err = Export(ctx, w, t, o)
		return err
	}))
	if indexed {
		textutil.Check(atomicfile.Write(IndexOf(path), atomicfile.Bytes([]byte(path+"\n"))))
	}
	return sum, nil
}

// checkName refuses names that a line of an index cannot hold.
func checkName(path string) error {
	if strings.TrimSpace(path) != path || strings.ContainsAny(path, "\r\n") {
		return fmt.Errorf("%q: an index cannot hold a name with blanks around it or line breaks", path)
	}
	return nil
}

// indexName is the name of the index in a directory.
const indexName = "trace.index"

// exportMemory bounds the text held for all ranks together, if their number does not make it more.
const exportMemory = 64 << 20 // bytes

// Bytes of text that a rank may hold.
const (
	leastHeld = 1 << 10
	mostHeld  = 64 << 10
)

// ExportDir writes a file per rank and their index, "trace.index", into the directory dir, which is made, or was
// empty. It appears whole or not at all. The index names the files by way of dir, as SimGrid takes relative names
// to begin at its working directory. The trace may be a stream.
func ExportDir(ctx context.Context, dir string, t *trace.Trace, o tracegen.ExportOptions) (*tracegen.Exported, error) {
	if err := checkName(dir); err != nil {
		return nil, err
	}
	ranks := t.Header().Ranks
	file := func(rank int32) string { return fmt.Sprintf("rank-%d.ti", rank) }
	var sum *tracegen.Exported
	err := atomicfile.WriteDir(dir, func(temp string) (err error) {
		// A file is open no longer than text is added to it: there may be more ranks than descriptors.
		hold := min(mostHeld, max(leastHeld, exportMemory/ranks))
		sum, err = export(ctx, t, &o, hold, o.Comment("#"), func(rank int32, text []byte) error {
			f, err := os.OpenFile(filepath.Join(temp, file(rank)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
			if err != nil {
				return err
			}
			_, err = f.Write(text)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			return err
		}
		var index []byte
		for r := range ranks {
			index = fmt.Appendln(index, filepath.Join(dir, file(int32(r))))
		}
		return atomicfile.Write(filepath.Join(temp, indexName), atomicfile.Bytes(index))
	})
	return sum, err
}

// rankWriter writes the lines of one rank. A wait line names a message, not a request, and means the oldest pending one
// of that name: a trace that waits for a younger one first is written as well as can be. No line lets go of a request.
// SimGrid does, at the end of a rank, before it waits for the rest; so what a trace lets go is held back, and a waitall
// after it: if nothing else follows, and it is what SimGrid does anyhow, it needs no lines.
type rankWriter struct {
	requests // pending, in the slots of the trace, or in slot letGo
	held     []trace.Action
	rank     int32
	text     []byte
	sum      *tracegen.Exported
}

// countTypes are the datatypes in which the size of a message is counted: MPI_BYTE and larger ones, as SimGrid's
// counts have 32 bits, although its parser accepts larger numbers.
var countTypes = [...]int64{6, 0, 14, 27}

// items returns a message's size as a count and the number of its datatype. An unknown size remains -1.
func items(bytes int64) (count, datatype int64, err error) {
	for _, n := range countTypes {
		size := typeSizes[n]
		if bytes < 0 || bytes%size == 0 && bytes/size <= math.MaxInt32 {
			return max(-1, bytes/size), n, nil
		}
	}
	return 0, 0, fmt.Errorf("message of %d bytes: SimGrid counts to %d, in items of 1, 8, 16 or 32 bytes", bytes,
		math.MaxInt32)
}

// action writes an action; lists holds the vectors of collectives.
func (r *rankWriter) action(a *trace.Action, lists trace.Sums) error {
	if a.Kind == trace.KindFree || a.Kind == trace.KindWaitAll && len(r.held) > 0 {
		r.held = append(r.held, trace.Action{Kind: a.Kind, Req: a.Req})
		return nil
	}
	// Something follows, so what was held back is not the end of the rank.
	r.release()
	switch a.Kind {
	case trace.KindWait, trace.KindTest:
		i := r.find(a.Req)
		if i < 0 {
			break
		}
		// The line means the oldest pending request of the same name.
		k := r.list[i].key
		if slices.ContainsFunc(r.list[:i], func(p pendingRequest) bool { return p.key == k }) {
			r.sum.Reordered++
		}
		if r.named(a.Kind.String(), k); a.Kind == trace.KindWait {
			r.list = slices.Delete(r.list, i, i+1)
			break
		}
		// In SMPI a test makes the request the newest of its name, and so it does in the list.
		r.oldest(k, false)
		r.list, r.gone = slices.Delete(r.list, 0, r.gone), 0
	case trace.KindFlops:
		r.amount("compute", a.Flops())
	case trace.KindSleep:
		r.amount("sleep", a.Seconds())
	case trace.KindIprobe:
		r.sum.Probes++
	case trace.KindWaitAll:
		r.waitAll()
	case trace.KindCollective:
		c := a.Collective(lists)
		if err := r.collective(&c); err != nil {
			return fmt.Errorf("%v: %w", c.Kind, err)
		}
	default:
		return r.message(a)
	}
	return nil
}

// message writes a message, unless the text cannot say it, or would take it for another.
func (r *rankWriter) message(a *trace.Action) error {
	for _, bytes := range a.X[:2] { // those of a message of one side are 0
		if _, _, err := items(bytes); err != nil {
			return err
		}
	}
	receives := a.Kind == trace.KindRecv || a.Kind == trace.KindIrecv
	if a.Tag == trace.AnyTag && !receives {
		return fmt.Errorf("%v with any tag", a.Kind)
	}
	received := a.Tag
	if a.Kind == trace.KindSendrecv {
		_, received = a.Source()
	}
	if a.Tag == anyTag || received == anyTag {
		return fmt.Errorf("%v with tag %d, which means any tag in SimGrid's text", a.Kind, anyTag)
	}

	// A synchronous send becomes an ordinary one, which is detached below a size.
	switch a.Kind {
	case trace.KindSsend, trace.KindIssend, trace.KindSyncExchange:
		if a.X[0] < DetachedBelow {
			r.sum.Synchronous++
		}
	}
	switch a.Kind {
	case trace.KindSend, trace.KindSsend:
		r.envelope("send", a.Peer, a.Tag, a.X[0])
	case trace.KindRecv:
		r.envelope("recv", a.Peer, a.Tag, a.X[0])
	case trace.KindIsend, trace.KindIssend:
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		return r.begin(a.Req, key{r.rank, a.Peer, a.Tag})
	case trace.KindIrecv:
		r.envelope("irecv", a.Peer, a.Tag, a.X[0])
		return r.begin(a.Req, key{a.Peer, r.rank, a.Tag})
	case trace.KindExchange:
		r.envelope("irecv", a.Peer, a.Tag, a.X[1])
		r.envelope("send", a.Peer, a.Tag, a.X[0])
		r.waitFor(key{a.Peer, r.rank, a.Tag})
	case trace.KindSyncExchange:
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		r.envelope("recv", a.Peer, a.Tag, a.X[1])
		r.waitFor(key{r.rank, a.Peer, a.Tag})
	case trace.KindSendrecv:
		source, tag := a.Source()
		if a.Tag == 0 && tag == 0 && a.X[1] >= 0 { // a line of its own, which has no tags and needs both sizes
			out, outType, _ := items(a.X[0])
			in, inType, _ := items(a.X[1])
			r.line("sendRecv", out, int64(a.Peer), in, int64(source), outType, inType)
			return nil
		}
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		r.envelope("irecv", source, tag, a.X[1])
		r.waitFor(key{r.rank, a.Peer, a.Tag})
		r.waitFor(key{source, r.rank, tag})
	default:
		return fmt.Errorf("action %v has no counterpart in SimGrid's text", a.Kind)
	}
	return nil
}

// tagOf returns a tag as the text has it.
func tagOf(tag int32) int32 {
	if tag == trace.AnyTag {
		return anyTag
	}
	return tag
}

// begin makes a request pending in a slot.
func (r *rankWriter) begin(slot int32, k key) error {
	if r.find(slot) >= 0 {
		return fmt.Errorf("request slot %d is taken: its request was not waited for", slot)
	}
	if len(r.list) == trace.MaxRequests {
		return fmt.Errorf("more than %d requests are pending", trace.MaxRequests)
	}
	r.list = append(r.list, pendingRequest{k, slot})
	return nil
}

// find returns the index of the pending request in a slot, or -1.
func (r *rankWriter) find(slot int32) int {
	return slices.IndexFunc(r.list, func(p pendingRequest) bool { return p.slot == slot })
}

// letGo is the slot of requests that are pending in the text alone.
const letGo = -1

// waitAll writes the wait for all pending requests, those that were let go in the text included.
func (r *rankWriter) waitAll() {
	r.line("waitall")
	r.forgetAll()
}

// waitFor writes the wait for a request that never was in a slot.
func (r *rankWriter) waitFor(k key) {
	if r.has(k) {
		r.sum.Reordered++
	}
	r.named("wait", k)
}

// release writes what was held back, as well as the text can say it.
func (r *rankWriter) release() {
	for i := range r.held {
		if a := &r.held[i]; a.Kind == trace.KindWaitAll {
			r.waitAll()
		} else if i := r.find(a.Req); i >= 0 {
			r.list[i].slot = letGo
			r.sum.Freed++
		}
	}
	r.held = r.held[:0]
}

// end writes what follows the last action.
func (r *rankWriter) end() {
	if !slices.Equal(r.ending(), r.held) {
		r.release()
	}
	r.line("finalize")
}

// envelope writes a message, whose datatype is the default if it is byte.
func (r *rankWriter) envelope(verb string, peer, tag int32, bytes int64) {
	count, datatype, _ := items(bytes)
	peer64, tag64 := int64(peer), int64(tagOf(tag))
	if peer == trace.AnySource {
		peer64 = anySource
	}
	args := []int64{peer64, tag64, count}
	if datatype != countTypes[0] {
		args = append(args, datatype)
	}
	r.line(verb, args...)
}

// named writes the line of a wait or a test, which names a message.
func (r *rankWriter) named(verb string, k key) {
	from := int64(k.src)
	if k.src == trace.AnySource {
		from = anySourceWait
	}
	r.line(verb, from, int64(k.dst), int64(tagOf(k.tag)))
}

// line appends a line of integers.
func (r *rankWriter) line(verb string, args ...int64) {
	r.verb(verb)
	r.ints(args...)
	r.text = append(r.text, '\n')
}

// amount appends a line of one number.
func (r *rankWriter) amount(verb string, v float64) {
	r.verb(verb)
	r.number(v)
	r.text = append(r.text, '\n')
}

// The pieces of a line.

// ints appends integers, each behind a blank.
func (r *rankWriter) ints(values ...int64) {
	for _, v := range values {
		r.text = strconv.AppendInt(append(r.text, ' '), v, 10)
	}
}

// number appends a number, with the digits that it takes to read it back.
func (r *rankWriter) number(v float64) {
	if v == math.Trunc(v) && v < 1e15 && !math.Signbit(v) {
		r.ints(int64(v))
		return
	}
	r.text = strconv.AppendFloat(append(r.text, ' '), v, 'g', -1, 64)
}

// verb begins a line with the rank and the action.
func (r *rankWriter) verb(verb string) {
	r.text = strconv.AppendInt(r.text, int64(r.rank), 10)
	r.text = append(append(r.text, ' '), verb...)
}

// counted is one side of a collective: what goes to, or comes from, each rank, in items of a datatype.
type counted struct {
	items    []int64
	datatype int64
}

// collective writes a collective, with all that a reader would else assume.
func (r *rankWriter) collective(c *trace.Collective) error {
	var sent, received counted
	var err error
	if c.Kind.Sends() {
		sent, err = countedBy(c.Send, c.SendSums, c.SendSize)
	}
	if c.Kind.Receives() && err == nil {
		received, err = countedBy(c.Recv, c.RecvSums, c.RecvSize)
	}
	if err != nil {
		return err
	}
	r.verb(c.Kind.String())
	for _, side := range []counted{sent, received} {
		if c.Kind == buffered {
			sum := int64(0)
			for _, n := range side.items {
				sum += n
			}
			r.ints(sum)
		}
		r.ints(side.items...)
	}
	if c.Kind.Reduces() {
		r.number(c.Flops)
	}
	if c.Kind.Rooted() {
		r.ints(int64(c.Root))
	}
	if c.Kind.Sends() {
		r.ints(sent.datatype)
	}
	if c.Kind.Receives() {
		r.ints(received.datatype)
	}

	// Where in its buffer a rank receives. Without displacements SimGrid puts all parts at the beginning; so nothing is
	// written if that is meant, and else one part after the other as far as the buffer goes, the last part at its end.
	if c.Kind.Spans() {
		item := typeSizes[received.datatype]
		if c.Span > math.MaxInt32*item/c.RecvSize || c.Span*c.RecvSize%item != 0 {
			return fmt.Errorf("a buffer of %d elements of %d bytes: SimGrid counts to %d", c.Span, c.RecvSize, math.MaxInt32)
		}
		span, most, at := c.Span*c.RecvSize/item, slices.Max(received.items), int64(0)
		if span < most {
			return fmt.Errorf("%d elements into a buffer of %d", most, span)
		}
		for i, n := range received.items {
			if at = min(at, span-n); i == len(received.items)-1 {
				at = span - n
			}
			if span > most {
				r.ints(at)
			}
			at += n
		}
	}
	r.text = append(r.text, '\n')
	return nil
}

// itemTypes are datatypes of 32, 16, 8, 4, 2 and 1 bytes.
var itemTypes = [...]int64{27, 14, 0, 1, 3, 6}

// countedBy turns counts of elements, one or those between running sums, into items of a datatype: of the elements'
// own size, or else of the largest that divides them all into numbers of 31 bits.
func countedBy(count int64, sums []int64, size int64) (counted, error) {
	counts := []int64{count}
	if sums != nil {
		counts = counts[:0]
		for i := range len(sums) - 1 {
			counts = append(counts, sums[i+1]-sums[i])
		}
	}
	types := itemTypes[:]
	if own := slices.IndexFunc(types, func(n int64) bool { return typeSizes[n] == size }); own >= 0 {
		types = slices.Insert(slices.Clone(types), 0, types[own])
	}
	for _, datatype := range types {
		item := typeSizes[datatype]
		if slices.ContainsFunc(counts, func(n int64) bool {
			return n < 0 || n > math.MaxInt64/size || n*size%item != 0 || n*size/item > math.MaxInt32
		}) {
			continue
		}
		for i, n := range counts {
			counts[i] = n * size / item
		}
		return counted{counts, datatype}, nil
	}
	return counted{}, fmt.Errorf("elements of %d bytes: SimGrid counts to %d, in items of 1 to 32 bytes", size,
		math.MaxInt32)
}
