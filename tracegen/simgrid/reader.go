// Package simgrid reads and writes SimGrid's time-independent text traces, the ones that smpirun -replay plays: an
// index file that names one text file per rank, or one file that all ranks share, with an action per line,
//
//	RANK ACTION ARGS...
//
// [Open] reads the index; the [Trace] then either yields flat actions rank by rank, as a replay asks for them
// ([Trace.Fill]), or writes them to a trace.Writer ([Trace.Convert]).
//
// Supported are init, finalize, compute, sleep, send, isend, recv, irecv, wait, waitall, test, sendRecv; barrier,
// bcast, reduce, allreduce, alltoall, alltoallv, gather, gatherv, allgather, allgatherv, scatter, scatterv,
// reducescatter, scan, exscan; and comm_size, comm_split, comm_dup and location, which have no effect. Any other action
// is an error that names it, with file and line. What is odd in a text but can be read is a warning ([Trace.Warnings]).
//
// Three rules of the format are worth knowing.
//
//   - A wait names a message (source, destination, tag), not a request. It means the oldest pending request for
//     that message, and does nothing if there is none. SimGrid 3.20 to 3.28 wrote ranks plus one there; such
//     texts are recognised by what their waits name. Before 3.20 waits named nothing and meant the newest
//     request; such texts are recognised by their waits, or by messages without a tag.
//   - After its last line a rank waits for all pending requests, but of several for the same message only for
//     the newest.
//   - A count without a datatype means bytes, or doubles if the init lines have an argument. In SimGrid the last
//     init executed by any rank decides for all, so they must agree.
//
// [Export], [ExportFile] and [ExportDir] write a trace of Reprise as such text. A rule answers its polls, and
// its kernels become flop.
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
// Errors have file and line, and the rank if a file belongs to one rank.
//
// # Source
//
// The text is that of SimGrid's smpirun -replay; docs/interop.md has the rules.
package simgrid

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"reprise/internal/snapshot"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
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
	batch       int    // actions that Fill is asked for
	fills       []int  // calls of Fill, by rank
	ahead       *ahead // nil without ReadAhead

	// Verdicts about the text, which the first call reaches: the number of rank 0 in lines of a kind, and the form,
	// newForm or oldForm.
	numbers [numLineKinds]func() verdict
	form    func() verdict
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

// Open reads an index. The files that it names are relative to dir, or to the working directory if that is "".
func Open(index, dir string) (*Trace, error) {
	t := &Trace{name: index, defaultSize: 1}
	t.form = sync.OnceValue(t.formOfText)
	for kind := range t.numbers {
		t.numbers[kind] = sync.OnceValue(func() verdict { return t.firstIn(lineKind(kind)) })
	}
	if err := t.open(dir); err != nil {
		return nil, sniff.InFile(err, index, sniff.Index, sniff.Actions)
	}
	t.fills = make([]int, t.ranks)
	return t, nil
}

// open reads the index and finds the default datatype: by the init line of the last rank, as
// that one counts in SimGrid. Where the ranks share a file, it also counts them there.
func (t *Trace) open(dir string) error {
	f, err := os.Open(t.name)
	if err != nil {
		return err
	}
	defer f.Close()
	// A trace of another kind, or a binary file, is told from an index by its first bytes.
	text := bufio.NewReaderSize(f, headSize)
	if head, _ := text.Peek(headSize); len(head) > 0 && !IsIndex(head) {
		return fmt.Errorf("%s: not text: want an index, which is a list of files of actions", t.name)
	}
	// Each file that the index names gets a stream. The index is read line by line, as
	// what is taken for an index may be anything.
	line := 0
	names := textutil.NewLineScanner(text)
	for names.Scan() {
		line++
		name := strings.TrimSpace(names.Text())
		if name == "" {
			continue
		}
		if len(t.streams) == MaxRanks {
			return fmt.Errorf("%s:%d: more than %d ranks", t.name, line, MaxRanks)
		}
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
		}
		// The number of a rank and a verb are a line of a file of actions, unless a file has that name.
		if actionLine.MatchString(name) {
			if _, err := os.Stat(path); err != nil {
				return fmt.Errorf("%s:%d: %s is an action: want the index, which is a list of files of actions", t.name, line,
					textutil.Quote(name))
			}
		}
		t.streams = append(t.streams,
			stream{rank: int32(len(t.streams)), lines: lines{memory: &t.memory, path: path, name: name}})
	}
	if err := textutil.LineError(names); err != nil {
		return fmt.Errorf("%s:%d: %w", t.name, line+1, err)
	}
	if len(t.streams) == 0 {
		return fmt.Errorf("%s: no trace files", t.name)
	}
	t.ranks = len(t.streams)
	scan := t.streams[t.ranks-1].lines
	shared := t.ranks == 1
	if shared {
		file := scan
		t.shared = &file
	}
	highest := int64(-1)
	for {
		err := scan.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		rank := highest
		if !shared {
			scan.fields.next()
		} else if rank = scan.rank(MaxRanks - 1); scan.err != nil {
			return fmt.Errorf("%s: %w", t.name, scan.mistake())
		}
		if highest = max(highest, rank); rank == highest && string(scan.fields.next()) == "init" {
			if t.defaultSize = initSize(&scan.fields); !shared {
				return nil
			}
		}
	}
	if !shared {
		return nil
	}
	if highest < 0 {
		return fmt.Errorf("%s: %s: no actions", t.name, t.shared.name)
	}
	t.ranks = int(highest) + 1
	t.streams = make([]stream, t.ranks)
	for r := range t.streams {
		t.streams[r].rank = int32(r)
	}
	return nil
}

// initSize returns the bytes of an item without datatype after an init line, of which the part behind its name is left.
func initSize(f *fields) int64 {
	if f.next() != nil {
		return 8
	}
	return 1
}

// Ranks returns the number of ranks: the files of the index, or one more than the highest rank in a shared file.
func (t *Trace) Ranks() int { return t.ranks }

// Files returns the files that the index names.
func (t *Trace) Files() []string {
	var files []string
	for _, l := range t.sources() {
		files = append(files, l.path)
	}
	return files
}

// Fill stores the next actions of rank in buf and returns how many, 0 at the end. Where the ranks share a file,
// what it meets of other ranks is held until they ask for it.
func (t *Trace) Fill(rank int32, buf []trace.Action) (int, error) {
	t.fills[rank]++
	t.batch = len(buf)
	if t.ahead != nil {
		return t.take(rank, buf)
	}
	s := &t.streams[rank]
	s.lists.forget()
	if t.shared == nil {
		return t.fill(s, buf)
	}
	for len(s.queue)-s.taken < len(buf) && !s.over {
		if _, err := t.readShared(); err != nil {
			return 0, err
		}
	}
	n := copy(buf, s.queue[s.taken:])
	s.lists.give(buf[:n])
	s.taken += n
	s.compact()
	return n + s.leftover(buf[n:]), nil
}

// fill is Fill for a rank with a file of its own. What comes before a mistake is returned first.
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

// Sums returns the running sums of counts per rank that an action of the last Fill of rank names by their number.
func (t *Trace) Sums(rank int32, list int64) []int64 {
	if t.ahead != nil {
		return t.ahead.ranks[rank].first().lists.at(list)
	}
	return t.streams[rank].lists.at(list)
}

// readOwn reads a line of the file of one rank; it is false for one that means nothing, and at the end.
func (t *Trace) readOwn(s *stream, a *trace.Action) (bool, error) {
	err := s.lines.next()
	if err == io.EOF {
		s.finish(t)
		if s.own || s.odd == nil {
			return false, nil
		}
		// The file has lines, but none of its rank.
		return false, fmt.Errorf("%s: file %d, %s, is that of rank %d, but has lines of rank %s and none of %d: "+
			"the index must list the files by rank, and where it is sorted by name, 10 comes before 2",
			t.name, s.rank+1, s.lines.name, s.rank, s.odd.lines[strayLine].what, s.rank)
	}
	if err != nil {
		return false, fmt.Errorf("%s: file of rank %d: %w", t.name, s.rank, err)
	}
	if owner := s.lines.rank(MaxRanks - 1); s.lines.err == nil && owner != int64(s.rank) {
		s.lines.note(strayLine, "%d", owner)
		s.count(&s.lines)
		return false, nil
	}
	s.own = true
	return s.parse(&s.lines, t, a)
}

// compact lets go of actions that are taken, once they are half of the queue.
func (s *stream) compact() {
	if s.taken > len(s.queue)/2 {
		s.queue = append(s.queue[:0], s.queue[s.taken:]...)
		s.taken = 0
	}
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
	var a trace.Action
	ok, err := t.streams[rank].parse(t.shared, t, &a)
	if ok {
		t.streams[rank].queue = append(t.streams[rank].queue, a)
	}
	return rank, err
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

// SaveState writes how far the ranks have come. Fill must always have been asked for the same number of actions.
func (t *Trace) SaveState(w io.Writer) error { return snapshot.Save(w, t.state) }

// RestoreState takes the ranks of the same trace, opened anew, to where SaveState was called: the text is read
// again up to there, which takes a small part of the time that replaying it took.
func (t *Trace) RestoreState(r io.Reader) error { return snapshot.Restore(r, t.state) }

// state saves how often each rank was asked, and restores by asking as often again: what a stream
// holds follows from the text alone.
func (t *Trace) state(s *snapshot.State) {
	s.Section("text")
	batch, fills := t.batch, t.fills
	s.Vars(&batch, &fills)
	if !s.Reading() || s.Err() != nil {
		return
	}
	buf := make([]trace.Action, batch)
	t.fills = make([]int, len(fills))
	for r := range fills {
		for t.fills[r] < fills[r] {
			if _, err := t.Fill(int32(r), buf); err != nil {
				s.Fail(err)
				return
			}
		}
	}
}

// Hash names the trace by the contents of its files, which it reads.
func (t *Trace) Hash() (hash [sha256.Size]byte, err error) {
	all := sha256.New()
	for _, path := range t.Files() {
		f, err := os.Open(path)
		if err != nil {
			return hash, err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return hash, err
		}
		all.Write(sum.Sum(nil))
	}
	all.Sum(hash[:0])
	return hash, nil
}

// headSize is how much of a file IsIndex is asked about, in bytes.
const headSize = 512

// IsIndex reports whether head, the beginning of a file, can be an index: text without control characters.
func IsIndex(head []byte) bool {
	return len(head) > 0 && !slices.ContainsFunc(head, func(c byte) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f || c >= 0xf8
	})
}

// actionLine matches the beginning of a line of a file of actions: a rank and a verb.
var actionLine = regexp.MustCompile(`^[0-9]+\s+[a-zA-Z_]+(\s|$)`)

// readAt opens a file and reads what is at offset into buf: less than its length only at the end of the file. A
// trace is as many files as ranks, most of them small, so it makes no call but those it needs; an os.File takes
// twice as many, because it tries to have files polled. Its errors quote the path, which an index may have made up;
// a pipe in the place of a file is one of them, and not waited for.
func readAt(path string, buf []byte, offset int64) (int, error) {
	fd, err := retry(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return 0, textutil.Brief(fmt.Errorf("open %q: %w", path, err))
	}
	defer syscall.Close(fd)
	total := 0
	for total < len(buf) {
		n, err := retry(func() (int, error) { return syscall.Pread(fd, buf[total:], offset+int64(total)) })
		if err != nil {
			return total, textutil.Brief(fmt.Errorf("read %q: %w", path, err))
		}
		if n == 0 {
			break
		}
		total += n
	}
	return total, nil
}

// retry makes a system call until no signal interrupts it.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR {
			return n, err
		}
	}
}
