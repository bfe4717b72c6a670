// Package text writes traces for people: [WriteListings] the actions, a line each, as a recorder inside of the
// program would have printed them, and [WriteStructure] the blocks and the calls with their columns.
//
// Where an action depends on a poll, a [trace.PollAnswers] answers it; [ReadRecorded] reads
// answers from the listing of a real run.
//
//	err := text.WriteListings(os.Stdout, t, []int32{0}, trace.CursorOptions{}, trace.Hit{}, text.Words{})
//
// # Units
//
// Sizes are in bytes, amounts of work in flop, sleeps in seconds.
//
// # Errors
//
// Those of a file of answers begin with its name and line, those of a trace with rank and step.
//
// # Source
//
// docs/trace-tools.md defines both forms of text.
package text

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/trace"
)

// listingBuffer is how much text a listing collects before it writes.
const listingBuffer = 64 << 10 // bytes

// WriteListing writes the flat actions that c yields as text, a line each, with polls decided by rule. A cursor
// with markers gives a complete listing. The first line names the rank and, for each family with a name, the number
// of its group: "# rank 5 myrow 1 mycol 2".
//
// Failed polls are one line "miss PEER TAG COMM xCOUNT" as long as nothing but
// the same zero-sized kernels came between them; these are listed once, before it.
//
// A marker without text has no line. Words are for what the program's own recorder writes
// otherwise; the zero value for nothing.
func WriteListing(w io.Writer, c *trace.Cursor, rule trace.PollAnswers, words Words) error {
	h, rank := c.Program().Header(), c.Rank()
	l := &listing{w: w, c: c, rule: rule, words: words, requests: map[int32]request{}, events: h.Events}
	for _, name := range h.Queues {
		l.queues = append(l.queues, " "+name)
	}
	for i := range h.Kernels {
		l.kernels = append(l.kernels, kernelText{h.Kernels[i].FullName(), h.Kernels[i].Dims})
	}

	// The line that names the rank and its groups.
	l.word("# rank").int(int64(rank))
	for i := range h.CommFamilies {
		name := h.CommFamilies[i].Name
		if name == "" || name == "-" {
			l.comms = append(l.comms, "")
			continue
		}
		l.comms = append(l.comms, " "+name)
		l.word(" my").word(name).int(int64(c.Program().Group(i, rank)))
	}
	l.line()

	// The lines of all actions. What is certain is written before an error, too.
	// A Fill ends with a poll, whose answer action gives before the next Fill.
	var buf [256]trace.Action
	var err error
	for n := 1; n > 0 && err == nil; {
		n, err = c.Fill(buf[:])
		for i := range buf[:n] {
			if bad := l.action(&buf[i]); bad != nil {
				err = fmt.Errorf("rank %d step %d: %w", rank, c.Step(), bad)
				break
			}
		}
		if err == nil && len(l.out) > listingBuffer {
			err = l.flush()
		}
	}
	if end := rule.Finish(); err == nil && end != nil {
		err = fmt.Errorf("rank %d: %w", rank, end)
	}
	l.settle()
	l.endRounds()
	return cmp.Or(err, l.flush())
}

// WriteListings writes the listings of ranks (nil: all), one after the other. A
// rule for several ranks must not depend on the rank.
func WriteListings(w io.Writer, t *trace.Trace, ranks []int32, o trace.CursorOptions, rule trace.PollAnswers,
	words Words) error {
	// Each cursor holds the chunks from its place on, so that all of a stream stays in memory until
	// the first rank is written.
	if t.IsStream() { // a stream: all ranks must begin before one goes on
		cursors, err := t.Cursors(ranks, o)
		for i := range cursors {
			if err == nil {
				err = WriteListing(w, &cursors[i], rule, words)
			}
			cursors[i] = trace.Cursor{} // lets go of the chunks
		}
		return err
	}
	if ranks == nil {
		for rank := range int32(t.Header().Ranks) {
			ranks = append(ranks, rank)
		}
	}
	for _, rank := range ranks {
		cursors, err := t.Cursors([]int32{rank}, o)
		if err != nil {
			return err
		}
		if err := WriteListing(w, &cursors[0], rule, words); err != nil {
			return err
		}
	}
	return nil
}

// listing is the state of a text under way. What is printed ends with
//
//	out (with its last zero-sized kernels group) [miss, if missing] zeros
//
// where miss and zeros are held back: the miss may happen again.
type listing struct {
	// The input, and how symbols are written.
	w       io.Writer
	c       *trace.Cursor
	rule    trace.PollAnswers
	words   Words
	kernels []kernelText
	comms   []string // by family: " name", or nothing
	queues  []string // likewise
	events  []string

	out    []byte
	group  []byte       // zero-sized kernels at the end of out, or before the miss
	missed trace.Action // the failed poll that is held back
	misses int64        // how often it failed; 0: none is held back
	zeros  []byte       // zero-sized kernels after it

	requests map[int32]request
	begun    int64 // requests that have begun, which have numbers from 1

	// Rounds of polls in a busy wait that found nothing: the lines of the round at hand, those of the one before, and how
	// often that was repeated.
	round, before []byte
	repeats       int64
}

// kernelText is what a listing needs to know of a kernel.
type kernelText struct {
	prefix string // name and attributes
	dims   []trace.Dim
}

// request is a pending nonblocking action.
type request struct {
	verb      string // send, recv or, if that is all of its text (short), the operation
	peer, tag int32
	bytes     int64
	comm      string
	short     bool
	number    int64
}

// flush writes the text that can no longer change.
func (l *listing) flush() error {
	_, err := l.w.Write(l.out)
	l.out = l.out[:0]
	return err
}

// probeVerbs are the words for probes: for one that found its message, for a recorded one that decided nothing,
// and for one that waits for its message.
var probeVerbs = map[trace.Kind]string{trace.KindProbed: "iprobe", trace.KindIprobe: "probe", trace.KindProbe: "probewait"}

// afterVerbs are the words for what an action beside a rank waits for: the end of another one, or its begin.
var afterVerbs = [...]string{"after", "after-begin"}

// completions are the verbs with which the waits of nonblocking messages are listed.
var completions = map[trace.Kind]string{trace.KindIsend: "send", trace.KindIssend: "send", trace.KindStart: "send",
	trace.KindIrecv: "recv"}

// action appends the lines of an action. Kernels and failed polls may be held back, as they may be repeated; any
// other action prints first what is held back.
func (l *listing) action(a *trace.Action) error {
	switch a.Kind {
	case trace.KindRound:
		l.roundOver(a)
		return nil
	case trace.KindAsk:
		return l.ask(a)
	default:
		l.endRounds()
	}
	switch a.Kind {
	case trace.KindPhase, trace.KindStep:
		return nil
	case trace.KindCompute:
		return l.compute(a)
	case trace.KindPoll:
		arrived, err := l.rule.Answer(a)
		if err != nil {
			return err
		}
		l.c.Answer(arrived)
		if !arrived {
			l.miss(a)
		}
		return nil
	}
	l.settle()
	l.group = l.group[:0]

	// A message to or from nobody is listed as if there were a peer.
	kind := a.Kind
	if kind == trace.KindNull {
		if kind = trace.Kind(a.X[1]); kind == trace.KindSendrecv {
			l.message("sendrecv", a, a.X[0])
			return nil
		}
	}
	switch kind {
	case trace.KindMark:
		if text := l.c.MarkText(a); text != "" {
			l.word(text).line()
		}
	case trace.KindProbed, trace.KindIprobe, trace.KindProbe:
		l.probe(probeVerbs[kind], a).line()
	case trace.KindFlops:
		l.word("flops").float(a.Flops())
		if spread := a.Spread(); spread > 0 {
			l.word(" spread").float(spread)
		}
		l.line()
	case trace.KindSleep:
		l.word("sleep").float(a.Seconds()).line()
	// The waits of nonblocking messages repeat what is known of the message.
	case trace.KindSend, trace.KindSsend, trace.KindRecv, trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindIrecv:
		l.message(kind.String(), a, a.X[0])
		if completion := completions[kind]; completion != "" {
			l.requests[a.Req] = request{verb: completion, peer: a.Peer, tag: a.Tag, bytes: a.X[0], comm: l.commName(a), number: l.begun}
		}
	case trace.KindWait, trace.KindTest, trace.KindFree:
		if r, ok := l.requests[a.Req]; ok {
			l.wait(kind.String(), r)
		} else { // the listing began after the request
			l.word(kind.String()).word(" request").int(int64(a.Req)).line()
		}
		if kind != trace.KindTest {
			delete(l.requests, a.Req)
		}
	case trace.KindAfter:
		l.word(afterVerbs[a.Tag]).int(a.X[0]).line()
	case trace.KindBeside:
		if l.word("beside"); a.Tag > 0 {
			l.word(" processor").int(int64(a.Tag))
		}
		l.line()
	case trace.KindWaitAll:
		l.word(strings.ReplaceAll(cmp.Or(l.words.WaitAll, "waitall"), "{count}", strconv.Itoa(len(l.requests)))).line()
		clear(l.requests)
	// These are listed as the three calls of MPI that they stand for.
	case trace.KindExchange:
		l.message("irecv", a, a.X[1])
		l.message("send", a, a.X[0])
		l.wait("wait", request{verb: "recv", peer: a.Peer, tag: a.Tag, bytes: a.X[1], comm: l.commName(a)})
	case trace.KindSyncExchange:
		l.message("issend", a, a.X[0])
		l.message("recv", a, a.X[1])
		l.wait("wait", request{verb: "send", peer: a.Peer, tag: a.Tag, bytes: a.X[0], comm: l.commName(a)})
	case trace.KindSendrecv:
		source := trace.Action{Sym: a.Sym}
		source.Peer, source.Tag = a.Source()
		if form := l.words.Sendrecv; form != "" && source.Peer == a.Peer && source.Tag == a.Tag {
			form = strings.ReplaceAll(form, "{received}", strconv.FormatInt(a.X[1], 10))
			l.form(form, request{peer: a.Peer, tag: a.Tag, bytes: a.X[0], comm: l.commName(a)}).memory(a).memory(a).line()
			return nil
		}
		l.word("sendrecv").envelope(a, a.X[0]).envelope(&source, a.X[1]).comm(a).memory(a).memory(a).line()
	case trace.KindCollective:
		l.collective(a)
	// A wait for an operation, or an access, names it by its verb alone.
	case trace.KindIcollective:
		l.collective(a)
		l.requests[a.Req] = request{verb: "i" + trace.CollectiveKind(a.Sym).String(), short: true, number: l.begun}
	case trace.KindComplete:
		// Which of the requests are complete is decided in a replay. Of one request there is no choice.
		if slots := l.c.Requests(a.X[0]); len(slots) == 1 && l.words.WaitAny != "" {
			l.form(l.words.WaitAny, l.requests[slots[0]]).line()
			delete(l.requests, slots[0])
			return nil
		}
		if l.words.Plain {
			l.requestList(trace.Completion(a.Sym).String(), l.c.Requests(a.X[0]))
			return nil
		}
		l.word(trace.Completion(a.Sym).String())
		for _, slot := range l.c.Requests(a.X[0]) {
			l.int(int64(slot))
			if trace.Completion(a.Sym) == trace.CompleteAll {
				delete(l.requests, slot)
			}
		}
		l.line()
	case trace.KindAccess, trace.KindIaccess:
		// The target, the bytes that go there, those that come back, or both, and the window.
		access := a.AccessKind()
		if kind == trace.KindIaccess {
			l.word("r")
			l.requests[a.Req] = request{verb: "r" + access.String(), short: true}
		}
		l.word(access.String()).int(int64(a.Peer))
		if access != trace.AccessGet {
			l.int(a.X[0])
		}
		if access.Fetches() {
			l.int(a.X[1])
		}
		l.word(" window").int(int64(a.Tag)).comm(a).line()
	case trace.KindSync:
		// Whom it concerns, unless that is all by its kind, and its assertions, if it has some.
		sync := a.SyncKind()
		l.word("win_").word(sync.String())
		switch {
		case a.Peer != trace.AllRanks:
			l.int(int64(a.Peer))
		case sync == trace.SyncFlush || sync == trace.SyncFlushLocal:
			l.word(" all")
		}
		l.word(" window").int(int64(a.Tag)).comm(a)
		if a.X[1] != 0 {
			l.word(" assert").int(a.X[1])
		}
		l.line()
	case trace.KindFile:
		access, collective := a.FileKind()
		l.word(access.String())
		if collective {
			l.word("_all")
		}
		l.int(a.X[0]).comm(a).line()
	case trace.KindLaunch:
		return l.launch(a)
	case trace.KindQueue:
		v := a.QueueVerb()
		if l.words.Plain {
			l.word(plainVerbs[v])
			if v.Named() {
				l.word(" ").word(l.events[a.Sym])
			}
			l.line()
			return nil
		}
		l.word(v.String())
		queue := l.queues[a.Tag]
		switch v {
		case trace.QueueRecord:
			l.word(" ").word(l.events[a.Sym]).word(queue)
		case trace.QueueWait:
			l.word(queue).word(" ").word(l.events[a.Sym])
		case trace.QueueSyncEvent:
			l.word(" ").word(l.events[a.Sym])
		case trace.QueueSync:
			l.word(queue)
		}
		l.line()
	default:
		return fmt.Errorf("action %v has no text form", a.Kind)
	}
	return nil
}

// launch appends the line of a launch: that of a kernel behind the queue's name. Copies have a verb of their own.
func (l *listing) launch(a *trace.Action) error {
	k := &l.kernels[a.Sym]
	verb, rest, isCopy := k.prefix, "", strings.HasPrefix(k.prefix, "copy")
	if l.words.Plain {
		return l.compute(a)
	}
	if isCopy {
		verb, rest, _ = strings.Cut(verb, " ")
	} else {
		verb, rest = "launch", verb
	}
	l.word(verb)
	if a.Flags&trace.FlagBlocking != 0 {
		l.word("-blocking")
	}
	if !isCopy || a.Flags&trace.FlagBlocking == 0 { // a copy for which the host waits names no queue
		l.word(l.queues[a.Tag])
	}
	l.word(" ").word(rest)
	_, err := l.dims(a)
	l.line()
	return err
}

// collective appends a collective operation: counts of elements, one or one for each rank, with x and the bytes of
// an element. The words of the program replace the usual form only for operations that its recorder knows: of all
// ranks, and blocking.
func (l *listing) collective(a *trace.Action) {
	c := a.Collective(l.c)
	if form, ok := l.words.Collectives[c.Kind]; ok && (c.Comm == 0 || strings.Contains(form, "{comm}")) && (l.words.Plain || !c.Nonblocking) {
		comm := ""
		root := c.Root
		if l.words.Plain { // roots are world ranks
			comm = " world"
			if c.Comm > 0 {
				p := l.c.Program()
				root = p.Header().CommFamilies[c.Comm-1].Groups[p.Group(int(c.Comm-1), l.c.Rank())].Member(int(c.Root))
			}
		}
		if c.Nonblocking {
			l.word("i")
		}
		if c.Comm > 0 {
			comm = l.comms[c.Comm-1]
		}
		l.word(strings.NewReplacer(" {comm}", comm, "{bytes}", strconv.FormatInt(c.Send*c.SendSize, 10), "{count}", strconv.FormatInt(c.Send, 10), "{size}", strconv.FormatInt(c.SendSize, 10),
			"{root}", strconv.Itoa(int(root)), "{operator}", c.Operator.String()).Replace(form))
		if c.Nonblocking {
			l.next()
		}
		l.line()
		return
	}
	if c.Nonblocking {
		l.word("i")
	}
	l.word(c.Kind.String())
	if c.Kind.Rooted() {
		l.word(" root").int(int64(c.Root))
	}
	if c.Kind.Sends() {
		l.word(" send").elements(c.Send, c.SendSums, c.SendSize)
	}
	if c.Kind.Receives() {
		l.word(" recv").elements(c.Recv, c.RecvSums, c.RecvSize)
	}
	if c.Kind.Reduces() {
		l.word(" flops").float(c.Flops)
	}
	if c.Kind.Spans() {
		l.word(" span").int(c.Span)
	}
	if c.Comm > 0 {
		l.word(" comm")
		if name := l.comms[c.Comm-1]; name != "" {
			l.word(name)
		} else { // a family without a name has its number
			l.int(int64(c.Comm - 1))
		}
	}
	if c.Operator != trace.NoOperator {
		l.word(" ").word(c.Operator.String())
	}
	l.line()
}

// elements appends counts of elements, and the bytes of one: COUNTxSIZE, or with a count for each rank,
// which sums are the running sums of, COUNT,COUNT,...xSIZE.
func (l *listing) elements(count int64, sums []int64, size int64) {
	if sums == nil {
		l.int(count)
	}
	for i := 1; i < len(sums); i++ {
		if i > 1 {
			l.word(",").digits(sums[i] - sums[i-1])
			continue
		}
		l.int(sums[i])
	}
	l.word("x").digits(size)
}

// message appends a line of a verb, an envelope and a communicator.
func (l *listing) message(verb string, a *trace.Action, bytes int64) {
	l.word(verb).envelope(a, bytes).comm(a).memory(a)
	if completions[a.Kind] != "" {
		l.next()
	}
	l.line()
}

// wait appends the line of a wait, a test or a free of a request. It repeats the request's peer, bytes and tag,
// so that a reader need not look for where the request began.
func (l *listing) wait(verb string, r request) {
	if l.words.Plain {
		l.word(verb).word(" r").digits(r.number).line()
		return
	}
	if r.short {
		l.word(verb).word(" ").word(r.verb).line()
		return
	}
	if verb == "wait" && l.words.Wait != "" {
		l.form(l.words.Wait, r).line()
		return
	}
	a := trace.Action{Peer: r.peer, Tag: r.tag}
	l.word(verb).word(" ").word(r.verb).envelope(&a, r.bytes).line()
}

// form appends what a form of Words makes of a message.
func (l *listing) form(form string, r request) *listing {
	return l.word(strings.NewReplacer("{verb}", r.verb, "{peer}", strconv.Itoa(int(r.peer)), "{bytes}", strconv.FormatInt(r.bytes, 10),
		"{tag}", strconv.Itoa(int(r.tag)), " {comm}", r.comm).Replace(form))
}

// probe appends a probe, without the end of the line.
func (l *listing) probe(verb string, a *trace.Action) *listing {
	return l.word(verb).peer(a.Peer).tag(a.Tag).comm(a)
}

// compute appends a kernel. A zero-sized one is held back after a failed poll:
// it belongs to the next turn if the poll fails again.
func (l *listing) compute(a *trace.Action) error {
	// The line is written to out, and moved from there if it is held back.
	k := &l.kernels[a.Sym]
	start := len(l.out)
	zero, err := l.word(k.prefix).dims(a)
	if err != nil {
		return err
	}
	l.line()

	// A kernel after a held-back miss belongs behind it; one that is not zero-sized ends the turn.
	if l.misses > 0 {
		l.zeros = append(l.zeros, l.out[start:]...)
		l.out = l.out[:start]
		if !zero {
			l.settle()
		}
	} else if zero {
		l.group = append(l.group, l.out[start:]...)
	}
	if !zero {
		l.group = l.group[:0]
	}
	return nil
}

// dims appends the dimensions of a kernel, and reports whether a size among them is 0.
func (l *listing) dims(a *trace.Action) (zero bool, err error) {
	k := &l.kernels[a.Sym]
	for i := range k.dims {
		v := a.X[i]
		if enum := k.dims[i].Enum; enum != nil {
			if v < 0 || v >= int64(len(enum)) {
				return false, fmt.Errorf("kernel %s: %s is %d, allowed 0 to %d", k.prefix, k.dims[i].Name, v, len(enum)-1)
			}
			if enum[v] != "" {
				l.word(" ").word(enum[v])
			}
			continue
		}
		zero = zero || v == 0 && !k.dims[i].Label
		l.int(v)
	}
	return zero, nil
}

// miss notes a failed poll: one more of the same, or a new one.
func (l *listing) miss(a *trace.Action) {
	same := l.misses > 0 && a.Peer == l.missed.Peer && a.Tag == l.missed.Tag && a.Sym == l.missed.Sym
	// The kernels since the miss are those before it: the rank has gone around its loop once more.
	if same && string(l.zeros) == string(l.group) {
		l.misses++
		l.zeros = l.zeros[:0]
		return
	}
	if l.misses > 0 {
		l.group = append(l.group[:0], l.zeros...)
		l.settle()
	}
	l.missed, l.misses = *a, 1
}

// settle prints what is held back.
func (l *listing) settle() {
	if l.misses == 0 {
		return
	}
	l.probe("miss", &l.missed).word(" x").digits(l.misses).line()
	l.out = append(l.out, l.zeros...)
	l.misses, l.zeros = 0, l.zeros[:0]
}
