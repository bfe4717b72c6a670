// Package simgrid reads and writes SimGrid's time-independent text traces, the ones
// that smpirun -replay plays: an index file that names one text file per rank, or
// one file that all ranks share, with an action per line,
//
//	RANK ACTION ARGS...
//
// [Open] reads the index; the [Trace] then either yields flat actions rank by
// rank, as a replay asks for them ([Trace.Fill]), or writes them to a
// trace.Writer ([Trace.Convert]).
//
// Supported are init, finalize, compute, sleep, send, isend, recv, irecv, wait,
// waitall, test, sendRecv; barrier, bcast, reduce, allreduce, alltoall, alltoallv,
// gather, gatherv, allgather, allgatherv, scatter, scatterv, reducescatter, scan,
// exscan; and comm_size, comm_split, comm_dup and location, which have no effect. Any
// other action is an error that names it, with file and line. What is odd in a text but
// can be read is a warning ([Trace.Warnings]).
//
// Three rules of the format are worth knowing. A wait names a message (source,
// destination, tag), not a request: it means the oldest pending one, and does
// nothing if there is none. SimGrid 3.20 to 3.28 wrote ranks plus one there; such texts
// are recognised by what their waits name, and those from before 3.20, whose waits name nothing and mean the
// newest request, by that or by messages without a tag. A rank waits for what is pending after its last line,
// of requests for one and the same message only the newest. And a count without a
// datatype means bytes, or doubles if the init lines have an argument. In SimGrid the
// last init executed by any rank decides for all, so they must agree.
//
// [Export], [ExportFile] and [ExportDir] write a trace of ours as such text, with
// its polls answered by a rule and its kernels turned into flop.
//
//	t, err := simgrid.Open("trace.index", "")
//	n, err := t.Fill(rank, buf)
//	...
//	fmt.Println(t.Warnings())
//
// # Units
//
// Sizes are in bytes, computations in flop, sleeps in seconds.
//
// # Errors
//
// Errors have file and line, and the rank where a file is that of one.
//
// # Source
//
// The text is that of SimGrid's smpirun -replay; docs/interop.md has the rules.
package simgrid

import (
	"fmt"
	"io"
	"slices"

	"reprise/internal/sniff"
	"reprise/trace"
)

// MaxRanks is the largest number of ranks that a trace may have.
const MaxRanks = 1 << 20

// Trace is an opened SimGrid trace. It yields each action once.
type Trace struct {
	name        string // of the index
	ranks       int
	defaultSize int64    // bytes of an item without datatype
	streams     []stream // by rank
	shared      *lines   // the one file, or nil
	memory      slab     // of the windows that Fill's caller reads
	recent      recentSums
	batch       int   // actions that Fill is asked for
	fills       []int // calls of Fill, by rank
	numbers     [numLineKinds]numbering
	form        form
	ahead       *ahead // nil without ReadAhead
}

// stream is the actions of one rank.
type stream struct {
	requests
	rank  int32
	lines lines          // unless the file is shared
	queue []trace.Action // read from a shared file
	taken int            // of queue
	over  bool           // the last line has been read
	last  []trace.Action // what follows the last line
	lists sumLists       // counts per rank of collective operations
	odd   *oddities      // nil while nothing was
	odds  int            // changes of it
	own   bool           // a line of the rank has been read
	err   error          // what follows the last line that was read
}

// Open reads an index. The files that it names are relative to dir, or to the
// working directory if that is "".
func Open(index, dir string) (*Trace, error) {
	t := &Trace{name: index, defaultSize: 1}
	if err := t.open(dir); err != nil {
		return nil, sniff.InFile(err, index, sniff.Index, sniff.Actions)
	}
	t.fills = make([]int, t.ranks)
	return t, nil
}

func (t *Trace) open(dir string) error {
	err := t.readIndex(t.name, dir)
	if err != nil {
		return err
	}
	switch len(t.streams) {
	case 0:
		return fmt.Errorf("%s: no trace files", t.name)
	case 1:
		err = t.openShared()
	default:
		t.ranks = len(t.streams)
		err = t.findDefault()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// Ranks returns the number of ranks: the files of the index, or one more than
// the highest rank in a shared file.
func (t *Trace) Ranks() int { return t.ranks }

// Files returns the files that the index names.
func (t *Trace) Files() []string {
	if t.shared != nil {
		return []string{t.shared.path}
	}
	files := make([]string, len(t.streams))
	for r := range files {
		files[r] = t.streams[r].lines.path
	}
	return files
}

// openShared counts the ranks of the one file and finds the default datatype.
func (t *Trace) openShared() error {
	file := t.streams[0].lines
	t.shared = &file
	highest, scan := int64(-1), file
	for {
		err := scan.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		rank := scan.rank(MaxRanks - 1)
		if scan.err != nil {
			return scan.mistake()
		}
		if highest = max(highest, rank); rank == highest {
			t.noteInit(&scan.fields)
		}
	}
	if highest < 0 {
		return fmt.Errorf("%s: no actions", file.name)
	}
	t.ranks = int(highest) + 1
	t.streams = make([]stream, t.ranks)
	for r := range t.streams {
		t.streams[r].rank = int32(r)
	}
	return nil
}

// findDefault looks for the init line of the last rank.
func (t *Trace) findDefault() error {
	scan := t.streams[t.ranks-1].lines
	for {
		err := scan.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		scan.fields.next()
		if t.noteInit(&scan.fields) {
			return nil
		}
	}
}

// noteInit takes the default datatype from a line if it is an init line.
func (t *Trace) noteInit(f *fields) bool {
	if string(f.next()) != "init" {
		return false
	}
	t.defaultSize = initSize(f)
	return true
}

// initSize returns the bytes of an item without datatype after an init line, of which
// what follows its name is left.
func initSize(f *fields) int64 {
	if f.next() != nil {
		return 8
	}
	return 1
}

// checkInit refuses an init line that says something else than the one that counts:
// in SimGrid it then depends on the order of execution what a count means.
func (t *Trace) checkInit(f *fields) {
	if size := initSize(f); size != t.defaultSize {
		names := map[int64]string{1: "bytes", 8: "doubles"}
		f.failf("counts mean %s by this init and %s by that of rank %d: all must agree", names[size], names[t.defaultSize],
			t.ranks-1)
	}
}

// Fill stores the next actions of rank in buf and returns how many, 0 at the
// end. Where the ranks share a file, what it meets of other ranks is held until
// they ask for it.
func (t *Trace) Fill(rank int32, buf []trace.Action) (int, error) {
	t.fills[rank]++
	t.batch = len(buf)
	if t.ahead != nil {
		return t.take(rank, buf)
	}
	s := &t.streams[rank]
	s.lists.forget()
	if t.shared != nil {
		return t.fillShared(s, buf)
	}
	return t.fill(s, buf)
}

// fill is Fill for a rank with a file of its own. What comes before a mistake is returned
// first.
func (t *Trace) fill(s *stream, buf []trace.Action) (int, error) {
	n := 0
	for n < len(buf) && !s.over && s.err == nil {
		var ok bool
		if ok, s.err = t.readOwn(s, &buf[n]); ok {
			n++
		}
	}
	if n == 0 && s.err != nil {
		return 0, s.err
	}
	s.lists.give(buf[:n])
	return n + s.leftover(buf[n:]), nil
}

// Answer does nothing: these traces have no polls that decide.
func (t *Trace) Answer(int32, bool) {}

// Sums returns the running sums of counts per rank that an action of the last Fill of
// rank names by their number.
func (t *Trace) Sums(rank int32, list int64) []int64 {
	if t.ahead != nil {
		return t.ahead.ranks[rank].first().lists.at(list)
	}
	return t.streams[rank].lists.at(list)
}

// readOwn reads a line of the file of one rank; it is false for one that means
// nothing, and at the end.
func (t *Trace) readOwn(s *stream, a *trace.Action) (bool, error) {
	err := s.lines.next()
	if err == io.EOF {
		s.finish(t)
		return false, t.checkOwn(s)
	}
	if err != nil {
		return false, fmt.Errorf("%s: file of rank %d: %w", t.name, s.rank, err)
	}
	owner := s.lines.rank(MaxRanks - 1)
	ok := false
	switch {
	case s.lines.err != nil:
	case owner == int64(s.rank):
		s.own = true
		ok = s.parse(&s.lines.fields, t, a)
	default:
		s.lines.note(strayLine, "%d", owner)
	}
	if s.lines.err != nil {
		return false, s.lines.mistake()
	}
	if s.lines.odd != notOdd {
		s.count(&s.lines)
	}
	return ok, nil
}

// checkOwn refuses a file that has lines, but none of its rank: then the index does not
// list the files by rank.
func (t *Trace) checkOwn(s *stream) error {
	if s.own || s.odd == nil {
		return nil
	}
	return fmt.Errorf("%s: file %d, %s, is that of rank %d, but has lines of rank %s and none of %d: "+
		"the index must list the files by rank, and where it is sorted by name, 10 comes before 2",
		t.name, s.rank+1, s.lines.name, s.rank, s.odd.lines[strayLine].what, s.rank)
}

// fillShared is Fill where all ranks share a file.
func (t *Trace) fillShared(s *stream, buf []trace.Action) (int, error) {
	for len(s.queue)-s.taken < len(buf) && !s.over {
		if _, err := t.readShared(); err != nil {
			return 0, err
		}
	}
	return s.take(buf), nil
}

// take stores the next actions that have been read from a shared file.
func (s *stream) take(buf []trace.Action) int {
	n := copy(buf, s.queue[s.taken:])
	s.lists.give(buf[:n])
	s.taken += n
	s.compact()
	return n + s.leftover(buf[n:])
}

// compact lets go of actions that are taken, once they are half of the queue.
func (s *stream) compact() {
	if s.taken > len(s.queue)/2 {
		s.queue = append(s.queue[:0], s.queue[s.taken:]...)
		s.taken = 0
	}
}

// queueLast appends what follows the last line to the queue.
func (s *stream) queueLast() {
	s.queue = append(s.queue, s.last...)
	s.last = nil
}

// readShared reads one line of the shared file into the queue of its rank, which
// it returns; at the end of the file all streams are over.
func (t *Trace) readShared() (int64, error) {
	err := t.shared.next()
	if err == io.EOF {
		for r := range t.streams {
			t.streams[r].finish(t)
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	rank := t.shared.rank(int64(t.ranks - 1))
	if t.shared.err != nil {
		return 0, t.shared.mistake()
	}
	var a trace.Action
	ok := t.streams[rank].parse(&t.shared.fields, t, &a)
	if t.shared.err != nil {
		return 0, t.shared.mistake()
	}
	if t.shared.odd != notOdd {
		t.streams[rank].count(t.shared)
	}
	if ok {
		t.streams[rank].queue = append(t.streams[rank].queue, a)
	}
	return rank, nil
}

// finish notes what the rank does after its last line.
func (s *stream) finish(t *Trace) {
	if s.over {
		return
	}
	s.over = true
	if s.last = s.ending(); len(s.last) > 0 && t.isOld() {
		s.last = []trace.Action{{Kind: trace.KindWaitAll}}
	}
	s.forgetAll()
}

// leftover stores what follows the last line.
func (s *stream) leftover(buf []trace.Action) int {
	if !s.over || len(s.queue) > s.taken {
		return 0
	}
	n := copy(buf, s.last)
	s.last = s.last[n:]
	return n
}

// slab is a large piece of memory that is cut into windows: one by one, thousands of
// them take longer to get than to fill. It is for one goroutine.
type slab struct{ used []byte }

const slabSize = 64 * chunkSize

// cut returns an empty window with room for size bytes. Those larger than a chunk are
// rare, and on their own.
func (s *slab) cut(size int) []byte {
	if size > chunkSize {
		return make([]byte, 0, size)
	}
	from := len(s.used)
	if size > cap(s.used)-from {
		s.used, from = make([]byte, 0, slabSize), 0
	}
	s.used = s.used[:from+size]
	return s.used[from : from : from+size]
}

// trim cuts off a window the room behind its text, which serves for the next one if
// this was the last.
func (s *slab) trim(window []byte) []byte {
	n, size := len(s.used), cap(window)
	if n > 0 && size > 0 && &window[:size][size-1] == &s.used[n-1] {
		s.used = s.used[:n-(size-len(window))]
	}
	return slices.Clip(window)
}
