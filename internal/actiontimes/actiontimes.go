// Package actiontimes finds the time at which each action of a SimGrid trace has completed in a replay, for comparison
// with SimGrid's own times.
//
// A [Source] is replayed in place of the trace; [Source.EndTimes] reads the times from the result, in seconds. It
// is for oracles, and so for small traces: each action is a phase.
package actiontimes

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// MostActions is how many actions of all ranks together can be timed: each is a phase of the trace.
const MostActions = math.MaxUint16

// Source is a SimGrid trace with a phase around everything up to the end of each
// action, so that the length of a phase is the time of that end.
type Source struct {
	*simgrid.Trace
	header *trace.Header
	ranks  []rank
}

// rank is the state of a rank's actions.
type rank struct {
	first, begun int      // number of the first phase; phases begun
	verbs        []string // of the lines that may be actions
	timed        []bool   // by line: it is an action
	line         int      // next one
	owed         int      // phase to end, -1: none
}

// Open opens the trace of an index whose files are relative to dir.
func Open(index, dir string) (_ *Source, err error) {
	defer textutil.Stopped(&err)
	// The text is read once for the verbs of its lines, which say what may be an action, and once more by the reader.
	verbs := map[int][]string{} // by rank, of its lines
	for _, name := range strings.Fields(string(textutil.Must(os.ReadFile(index)))) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		for line := range strings.Lines(string(textutil.Must(os.ReadFile(name)))) {
			words := strings.Fields(line)
			if len(words) < 2 || strings.HasPrefix(words[0], "#") {
				continue
			}
			r, err := strconv.Atoi(words[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			verbs[r] = append(verbs[r], words[1])
		}
	}
	text := textutil.Must(simgrid.Open(index, dir))
	s := &Source{Trace: text, header: &trace.Header{Ranks: text.Ranks()}, ranks: make([]rank, text.Ranks())}
	for i := range s.ranks {
		r := rank{first: len(s.header.Phases), owed: -1, verbs: verbs[i], timed: make([]bool, len(verbs[i]))}
		for range r.verbs {
			s.header.Phases = append(s.header.Phases, fmt.Sprint(len(s.header.Phases)))
		}
		s.ranks[i] = r
	}
	if n := len(s.header.Phases); n > MostActions {
		return nil, fmt.Errorf("%s: %d actions, of which at most %d can be timed", index, n, MostActions)
	}
	return s, nil
}

// Header returns the header to replay the source with.
func (s *Source) Header() *trace.Header { return s.header }

// Fill implements replay.Source: the begins of all phases, then one action at a
// time and the end of its phase before the next.
func (s *Source) Fill(rank int32, buf []trace.Action) (int, error) {
	r := &s.ranks[rank]
	if r.begun < len(r.verbs) {
		n := min(len(buf), len(r.verbs)-r.begun)
		for i := range n {
			buf[i] = trace.Action{Kind: trace.KindPhase, Sym: uint16(r.first + r.begun + i)}
		}
		r.begun += n
		return n, nil
	}
	if r.owed >= 0 {
		buf[0] = trace.Action{Kind: trace.KindPhase, Sym: uint16(r.owed), Flags: trace.FlagEnd}
		r.owed = -1
		return 1, nil
	}
	n, err := s.Trace.Fill(rank, buf[:1])
	// The line of an action is behind that of the one before. Lines that are passed over are no actions, as a wait
	// for nothing. The waits that follow the last line have none.
	for n == 1 && r.owed < 0 && r.line < len(r.verbs) {
		i := r.line
		r.line++
		if kindOf(r.verbs[i]) == buf[0].Kind {
			r.timed[i] = true
			r.owed = r.first + i
		}
	}
	return n, err
}

// kindOf returns the kind of action that a verb of SimGrid's traces is read as; KindNone if it is none.
func kindOf(verb string) trace.Kind {
	switch verb {
	case "init", "finalize", "location", "comm_size", "comm_split", "comm_dup":
		return trace.KindNone
	case "compute":
		return trace.KindFlops
	}
	for k := trace.KindSleep; k <= trace.KindCollective; k++ {
		if k.String() == strings.ToLower(verb) {
			return k
		}
	}
	return trace.KindCollective
}

// EndTimes returns for each rank the time in seconds at which each of its lines has completed, NaN if the line is no
// action. The phases begin when the ranks do, which is at the time begin; one of no length is not in the result.
func (s *Source) EndTimes(res *replay.Result, begin float64) [][]float64 {
	length := map[string]float64{}
	for _, p := range res.Phases {
		length[p.Name] = p.Max
	}
	all := make([][]float64, len(s.ranks))
	for i := range s.ranks {
		r := &s.ranks[i]
		for line, isAction := range r.timed {
			at := math.NaN()
			if isAction {
				at = begin + length[fmt.Sprint(r.first+line)]
			}
			all[i] = append(all[i], at)
		}
	}
	return all
}
