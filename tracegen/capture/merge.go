// Package capture records MPI programs and makes traces of what they do: `tracegen mpi`.
//
// [Record] runs a program under a library (shim/shim.c) that is compiled when it is needed and loaded before MPI's
// into each rank. It interposes MPI's procedures below the Fortran bindings, for Open MPI, MPICH and MPI 5 alike,
// and each rank writes a file of its calls. [Merge] makes one trace of these files: communicators of ranks become
// those of the run, peers ranks of the world, receives from anybody what they received, and the time between calls
// computations in flop.
//
//	err := capture.Record(ctx, dir, capture.Command{Args: []string{"mpirun", "-np", "4", "./app"}, Stdout: os.Stdout,
//		Stderr: os.Stderr})
//	summary, err := capture.Merge(dir, w, capture.Options{Rate: 1e9})
//
// The table of MPI's procedures, in C and in Go, is written by the program in scripts/mpistandard from the data of the
// MPI standard.
//
// # Recordings
//
// A recording is a page with a header (type header), and records of calls (type stream). A record has the time since
// the call before, the number of the procedure, and the arguments that matter to a trace, as variable-length integers.
// Communicators, windows and requests are numbered by the recorder in the order in which the rank makes them, so that
// records have no handles of a library. Checksums cover all but the last records of a process that was killed.
//
// # Stages of a merge
//
//  1. Each stream is decoded to events and surveyed (type survey): the communicators that the rank makes, the messages
//     that wildcard receives got, and the times at each site, a pair of calls that follow each other.
//  2. The communicators of all ranks are matched (resolve), and packed into families of the trace (type families).
//  3. Each stream is decoded again and translated to steps (type translator). A step is an action with its arguments;
//     equal ones have one number (type table).
//  4. The steps of a rank are folded into loops while they come (type folder).
//  5. The steps of the run, turns of a loop that all ranks begin together, are found (type stepper).
//  6. The loops become blocks of the trace (type writer), from 16 ranks on shared by ranks (type group).
//
// The survey keeps counts and sums, and the folder loops, so that the memory of both grows with the number of
// different calls of a program. The recordings themselves are in memory, each until its rank is translated.
//
// # Nondeterminism
//
// A trace has one order of events, and a replay must not depend on the timing of the recording machine. So a receive
// from any rank names the sender that it got (survey.finds); polling in vain is a wait (type spin); requests that are
// drained by MPI_Waitany are a wait for any of them (type drain); calls that threads made at once are put in order
// (stream.order).
//
// # Units
//
// Sizes of messages are in bytes, times between calls in nanoseconds of the recording processor, in the trace as flop
// by Options.Rate, in flop per second.
//
// # Errors
//
// An error of a recording names its file, the rank, the number of the call and the procedure. Calls that a trace
// cannot have are refused by name, unless Options.LeaveOut asks for a trace without them.
//
// # Left to others
//
// The flop rate of the recording processor is measured by its user, and costs of kernels are models of package
// kernels. Whether recordings are kept, and under what name, the command decides.
//
// # Source
//
// The MPI standard, version 4.1, and the data of its procedures, github.com/mpi-forum/pympistandard; the binary
// interface of MPI 5.0, github.com/mpi-forum/mpi-abi-stubs.
package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Options of a merge.
type Options struct {
	Rate     float64 // flop that a second of the recording processor counts for
	StepMark string  // the collective operation, or phase, at which steps begin; "": a loop is looked for
	EachGap  bool    // each computation by its own time, not by the mean and the spread of its site
	Partial  bool    // accept ranks that did not reach MPI_Finalize: the trace ends where their records do
	LeaveOut bool    // leave calls out that a trace cannot have, with a warning
	Tool     string  // name and version of the program, for the header
	Command  string  // the command line, for the header
	Progress func(done, of int)
}

// Summary describes the run that a merge has found.
type Summary struct {
	Ranks    int
	Calls    int64
	Library  string // of MPI, with its version
	Steps    int    // of the run, turns of its outermost loop
	NoSteps  error  // why there are none
	Program  string
	Hosts    []string // that the ranks ran on
	Warnings []string
}

// Merge writes the recordings in a directory, one file for each rank, as one trace. Recordings are read twice: the
// first reading finds what a call needs to know of later ones and of other ranks, the second one translates.
func Merge(dir string, w io.Writer, o Options) (_ *Summary, err error) {
	defer textutil.Stopped(&err)
	m := &merger{o: &o, table: newTable()}
	m.loops = newLoops(m.table)
	textutil.Check(m.open(dir))
	// Errors of calls and early ends of ranks do not stop the merge here: open has refused what the options
	// do not allow.
	failed, ends := int64(0), []string(nil)
	for rank, s := range m.streams {
		failed += s.mark.Failed
		if err := s.complete(); err != nil {
			text := fmt.Sprintf("rank %d: %v", rank, err)
			if s.unsummed > 0 {
				text += fmt.Sprintf(", and the last %s of its recording have no checksum", textutil.Count(s.unsummed, "byte"))
			}
			if s.torn {
				text += ", and its last checksum is not whole"
			}
			ends = append(ends, text)
		}
	}
	if failed > 0 {
		m.warn("%d calls returned an error and are not in the trace", failed)
	}
	m.warnOf(ends)
	m.survey()
	m.answer()
	ranks := m.translate()

	// The first step of the trace is what comes before the steps of the run, the last one what comes behind them.
	// Phase n, from 1, is that of the nth level of MPI_Pcontrol that the ranks name. It has the markers 2n-2, where it
	// begins, and 2n-1, where it ends.
	var names []string
	var markers []trace.Marker
	for i, level := range m.levels {
		name := fmt.Sprintf("pcontrol %d", level)
		names = append(names, name)
		markers = append(markers, trace.Marker{Text: name, Phase: i + 1},
			trace.Marker{Text: "end of " + name, Phase: i + 1, End: true})
	}
	// The first parts of the header come from the options and the recordings, the tables from what the merge has found.
	h := &trace.Header{
		Program: filepath.Base(m.summary.Program), Tool: o.Tool, Command: o.Command, Ranks: len(ranks), Steps: m.summary.Steps + 2,
		Params: []trace.Param{{Name: trace.ParamMPI, Value: m.summary.Library}, {Name: trace.ParamRate, Value: fmt.Sprint(o.Rate)},
			{Name: trace.ParamHosts, Value: strings.Join(m.summary.Hosts, ", ")}},
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CommFamilies: m.families.List(), CallSites: callSites(len(ranks)), Phases: names, Kernels: declared(m.kernels),
		Markers: markers, Communicators: m.families.Any(),
	}
	switch {
	case m.summary.Steps == 0:
		h.Steps = 1
	case m.o.StepMark != "": // nothing comes behind the last
		h.Steps--
	}
	units := unitsOfChunk
	if len(ranks[0].marked) > 0 && len(ranks) < leastAlike {
		units = unitsOfDifferent
	}
	sharing := newSharing(m.loops)
	var best, next bytes.Buffer
	for way, again := apart, true; again && way < ways; way++ {
		next.Reset()
		to := io.Writer(&next)
		if m.each != nil || len(ranks) < leastAlike { // there is one way
			to = w
		}
		head := *h
		out := textutil.Must(trace.NewWriter(to, &head, trace.WriterOptions{ChunkUnits: units}))
		wr := &writer{w: out, table: m.table, loops: m.loops, sharing: sharing, forms: map[form]int64{},
			bodies: map[int32]int64{}, each: m.each, ranks: make([]source, len(ranks)),
			limit: max(1, min(unitRank, unitItems/len(ranks))), offsets: map[string]int64{}, way: way, keys: map[key]int32{}, uses: map[key]int32{}}
		wr.write(ranks, m.summary.Steps)
		wr.flush()
		textutil.Check(out.Close()) // what is not closed is no trace
		if again = wr.several; way == apart || next.Len() < best.Len() {
			best, next = next, best
		}
	}
	_, err = best.WriteTo(w)
	return &m.summary, err
}

// merger is a merge under way. Its stages fill it in this order: open, survey, answer, translate. An error ends the
// merge where it is met (textutil.Stop).
type merger struct {
	o *Options
	// By rank, until the rank is translated.
	streams []*stream
	surveys []*survey

	// Of the whole run, after the survey.
	comms    []communicator
	own      [][]rankComm // by rank and its own number of the communicator
	families *families
	levels   []int64 // of MPI_Pcontrol that begin a phase, ascending
	kernels  []used  // in the order of their numbers in the trace
	// recalls: messages were cancelled, which probes may have found; so no probe may wait for one.
	recalls bool
	// split are the communicators some of whose operations were under way while threads called others. All
	// operations of such a communicator become nonblocking ones with a wait.
	split map[int]bool
	// crossed are the communicators whose persistent operations were started in different orders.
	crossed map[int]bool

	// The actions of the ranks: steps, loops of them, and with Options.EachGap each computation, by rank.
	table   *table
	loops   *loops
	each    [][]float64
	summary Summary
}

// open opens the files of all ranks, which must be of one run.
func (m *merger) open(dir string) (err error) {
	defer textutil.Stopped(&err)
	found := map[int]*stream{}
	var first *stream
	for _, entry := range textutil.Must(os.ReadDir(dir)) {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		s := textutil.Must(openStream(filepath.Join(dir, entry.Name())))
		first = cmp.Or(first, s)
		switch a, b := first, s; {
		case a.head.Run != b.head.Run:
			return fmt.Errorf("%s and %s are of different runs", a.name, b.name)
		case a.head.Size != b.head.Size:
			return fmt.Errorf("%s is of a run of %d ranks, %s of %d", a.name, a.head.Size, b.name, b.head.Size)
		case a.head.Library != b.head.Library:
			return fmt.Errorf("%s and %s were recorded with different libraries of MPI: %s; %s", a.name, b.name,
				text(a.head.Library[:]), text(b.head.Library[:]))
		}
		if other := found[int(s.head.Rank)]; other != nil {
			return fmt.Errorf("%s and %s are both of rank %d", other.name, s.name, s.head.Rank)
		}
		found[int(s.head.Rank)] = s
	}
	if first == nil {
		return fmt.Errorf("%s: no rank has recorded anything: does the program call MPI_Init or MPI_Session_init, and is its MPI a shared library?", dir)
	}
	for rank := range int(first.head.Size) {
		s, ok := found[rank]
		if !ok {
			return fmt.Errorf("%s: rank %d of %d has no recording", dir, rank, first.head.Size)
		}
		if err := s.complete(); err != nil && !m.o.Partial {
			return fmt.Errorf("%s: rank %d: %w; --partial takes what is there", s.name, rank, err)
		}
		m.streams = append(m.streams, s)
	}
	// Some libraries say in further lines how they were built.
	library, _, _ := strings.Cut(text(first.head.Library[:]), "\n")
	m.summary = Summary{Ranks: len(m.streams), Library: strings.Join(strings.Fields(library), " "),
		Program: text(first.head.Program[:])}
	// The hosts in the order of their first ranks.
	for _, s := range m.streams {
		if host := text(s.head.Host[:]); host != "" && !slices.Contains(m.summary.Hosts, host) {
			m.summary.Hosts = append(m.summary.Hosts, host)
		}
	}
	return nil
}

// survey reads all streams once, and finds the communicators.
func (m *merger) survey() {
	refused := map[string]int64{}
	m.surveys = make([]*survey, len(m.streams))
	errs, done := make([]error, len(m.streams)), 0
	var lock sync.Mutex
	eachRank(len(m.streams), func(rank int) {
		m.surveys[rank], errs[rank] = newSurvey(m.streams[rank])
		lock.Lock()
		defer lock.Unlock()
		if done++; m.o.Progress != nil {
			m.o.Progress(done, 2*len(m.streams))
		}
	})
	for rank, v := range m.surveys {
		textutil.Check(errs[rank])
		for p, n := range v.refused {
			refused[p] += n
		}
		m.summary.Calls += v.events
	}
	// Calls that a trace cannot have, by name and with their numbers.
	if len(refused) > 0 {
		var list []string
		for name, n := range refused {
			list = append(list, fmt.Sprintf("%s (%d)", name, n))
		}
		slices.Sort(list)
		text := strings.Join(list, ", ")
		if !m.o.LeaveOut {
			textutil.Stop(fmt.Errorf("calls that a trace cannot have: %s; --leave-out writes a trace without them",
				text))
		}
		m.warn("left out, as a trace cannot have them: %s", text)
	}
	if n := m.surveys[0].sharedWindows; n > 0 {
		m.warn("what processes load from and store to windows that they share (MPI_Win_allocate_shared, %d of rank 0) "+
			"is not in the trace", n)
	}
	var err error
	// From here on communicators of ranks are those of the run.
	m.comms, m.own, err = resolve(m.surveys, m.o.Partial)
	textutil.Check(err)
	m.split = map[int]bool{}
	for rank, v := range m.surveys {
		m.recalls = m.recalls || v.withdrawn
		for local := range v.split {
			if local >= 0 {
				m.split[m.own[rank][local].of] = true
			}
		}
	}

	// A trace matches the operations of a family by their order, so each persistent operation of a communicator whose
	// ranks started them in different orders gets a family of its own.
	m.crossed = map[int]bool{}
	first := map[int]uint64{} // by communicator: the hash of the order of the first rank
	for rank, v := range m.surveys {
		// The hashes are equal only if all ranks began the operations of the communicator in the same order.
		for local := range v.plans.made {
			id, order := m.own[rank][local].of, v.plans.order[local]
			if before, known := first[id]; !known {
				first[id] = order
			} else if before != order {
				m.crossed[id] = true
			}
		}
	}

	// Levels and kernels are numbered in an order of their own, so that the trace does not depend on which rank names
	// what first.
	levels, kernels := map[int64]bool{}, map[used]bool{}
	for _, v := range m.surveys {
		maps.Copy(levels, v.levels)
		maps.Copy(kernels, v.kernels)
	}
	maps.DeleteFunc(levels, func(level int64, _ bool) bool { return level <= 0 }) // they end a phase only
	m.levels = slices.Sorted(maps.Keys(levels))
	m.kernels = slices.SortedFunc(maps.Keys(kernels), func(a, b used) int {
		return cmp.Or(a.number-b.number, cmp.Compare(a.options, b.options))
	})

	// Each communicator gets its family.
	f := &families{trace.NewFamilies(len(m.streams)), make([]int32, len(m.comms)), map[operations]int32{}}
	m.families = f
	last := map[string]int{} // by ranks: the communicator that had them last
	for id := alone + 1; id < len(m.comms); id++ {
		// A program that duplicates and frees a communicator in each of its steps needs one family for all of
		// the duplicates.
		c := &m.comms[id]
		key := fmt.Sprint(c.members, c.others)
		before, again := last[key]
		last[key] = id
		for rank, call := range c.begun { // the one before it must have been freed on all ranks
			freed, ok := m.comms[before].freed[rank]
			again = again && ok && freed <= call
		}
		if again {
			f.index[id] = f.index[before]
		} else {
			f.index[id] = f.Place(slices.Concat(c.members, c.others))
		}
	}
}

// translate returns the actions of each rank, in steps of the run if they are found.
func (m *merger) translate() []outline {
	var folders []*folder // by rank
	var late [][]int32    // with threads or Options.Partial all ranks are looked at before their steps are folded
	threads := slices.ContainsFunc(m.streams, func(s *stream) bool { return s.moments != nil })
	// Else steps are folded while those behind them are translated. A batch has the table, which grows, as it was.
	type batch struct {
		steps []int32
		last  bool // of the rank
		table table
	}
	batches, folded := make(chan batch, 1), make(chan bool)
	go func() {
		f := newFolder(m.loops)
		for b := range batches {
			m.loops.table = &b.table
			for _, step := range b.steps {
				f.add(step)
			}
			if b.last { // the next folder has the memory of what finds loops
				clear(f.heads)
				folders, f = append(folders, f), &folder{loops: f.loops, spots: f.spots[:1], heads: f.heads, due: f.due[:0]}
			}
		}
		close(folded)
	}()
	end := sync.OnceFunc(func() { close(batches); <-folded })
	defer end()
	for rank, s := range m.streams {
		var steps []int32
		t := m.translator(rank, func(step int32) {
			if steps = append(steps, step); len(steps) == mostPeriod && !m.o.Partial && !threads {
				batches <- batch{steps, false, *m.table}
				steps = make([]int32, 0, mostPeriod)
			}
		})
		textutil.Check(t.translate())
		if m.o.Partial || threads {
			late = append(late, steps)
		} else {
			batches <- batch{steps, true, *m.table}
		}
		if m.o.EachGap {
			m.each = append(m.each, t.each)
		}
		if events := m.surveys[rank].events; t.unfinished != nil {
			m.warn("rank %d: the last %d of %s are dropped: %v", rank, events-s.count+1, textutil.Count(events, "call"),
				t.unfinished)
		}
		// The rank is done: its records are let go, and the memory of a merge stays that of the streams to come.
		s.data, m.surveys[rank] = nil, nil
		if m.o.Progress != nil {
			m.o.Progress(len(m.streams)+rank+1, 2*len(m.streams))
		}
	}
	if m.o.Partial {
		all := slices.Clone(late)
		cut(newMatching(m.table, m.families.List(), len(late)), late)
		var list []string
		for rank := range all {
			if n := len(all[rank]) - len(late[rank]); n > 0 {
				list = append(list, fmt.Sprintf("rank %d: the last %d of %s are dropped, as other ranks have not recorded their side",
					rank, n, textutil.Count(len(all[rank]), "action")))
			}
		}
		m.warnOf(list)
	}
	if threads {
		textutil.Check(newPlay(newMatching(m.table, m.families.List(), len(late)), late).run())
	}
	// Now the actions of each rank are known to be complete, and can be folded.
	for _, steps := range late {
		batches <- batch{steps, true, *m.table}
	}
	end()
	m.loops.table = m.table
	s := &stepper{table: m.table, loops: m.loops}
	for _, f := range folders {
		s.ranks = append(s.ranks, f.items)
	}
	matching := newMatching(m.table, m.families.List(), len(folders))
	var ranks []outline
	var err error
	if mark := m.o.StepMark; mark != "" {
		ranks, m.summary.Steps, err = s.marked(matching, mark, func(s *step) bool {
			switch s.kind {
			case trace.KindCollective:
				return s.collective.String() == mark
			case trace.KindMark: // markers of a level come in pairs, of which the first begins its phase
				return s.marker%2 == 0 && fmt.Sprintf("pcontrol %d", m.levels[s.marker/2]) == mark
			}
			return false
		})
		textutil.Check(err)
	} else {
		ranks, m.summary.Steps, m.summary.NoSteps = s.find(matching)
	}
	for rank, f := range folders {
		if err := f.check(ranks[rank], m.summary.Steps); err != nil {
			textutil.Stop(fmt.Errorf("rank %d: %w", rank, err))
		}
	}
	return ranks
}

// eachRank does something for each rank, on all processors.
func eachRank(ranks int, do func(rank int)) {
	var all sync.WaitGroup
	free := make(chan bool, runtime.GOMAXPROCS(0))
	for rank := range ranks {
		free <- true
		all.Go(func() { do(rank); <-free })
	}
	all.Wait()
}

// translator returns a translator of a rank, which gives its steps to put.
func (m *merger) translator(rank int, put func(step int32)) *translator {
	return &translator{merger: m, s: m.streams[rank], v: m.surveys[rank], rank: int32(rank), own: m.own[rank], put: put}
}

// errUnfinished is the error of a call that other ranks did not come to answer. With Options.Partial the rank ends
// before the call.
var errUnfinished = errors.New("what it needs did not happen")

// warn adds a warning to the summary.
func (m *merger) warn(format string, args ...any) {
	m.summary.Warnings = append(m.summary.Warnings, fmt.Sprintf(format, args...))
}

// mostWarnings bounds how many ranks are told of.
const mostWarnings = 10

// warnOf adds warnings, one for a rank, of the first ranks.
func (m *merger) warnOf(ranks []string) {
	if more := len(ranks) - mostWarnings; more > 0 {
		ranks = append(ranks[:mostWarnings], fmt.Sprintf("so it is with %s more", textutil.Count(more, "rank")))
	}
	m.summary.Warnings = append(m.summary.Warnings, ranks...)
}
