package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// mostPhases is how many actions are dated; the engine keeps a sum for each rank and
// phase.
const mostPhases = 4000

// stamped is a SimGrid trace with a phase around everything up to the end of each
// action, so that the length of a phase is the date of that end.
type stamped struct {
	*simgrid.Trace
	ranks []stampedRank
}

type stampedRank struct {
	first, begun int      // number of the first phase; phases begun
	verbs        []string // of the lines that may be actions
	dated        []bool   // by line: it is an action
	line         int      // next one
	owed         int      // phase to end, -1: none
}

// Fill implements replay.Source: the begins of all phases, then one action at a
// time and the end of its phase before the next.
func (s *stamped) Fill(rank int32, buf []trace.Action) (int, error) {
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
	if n == 1 {
		r.owed = r.match(buf[0].Kind)
	}
	return n, err
}

// match finds the line of an action, behind that of the one before, and returns its
// phase. Lines that are passed over are no actions, as a wait for nothing.
func (r *stampedRank) match(k trace.Kind) int {
	for r.line < len(r.verbs) {
		i := r.line
		r.line++
		if kindOf(r.verbs[i]) == k {
			r.dated[i] = true
			return r.first + i
		}
	}
	return -1 // the waits that follow the last line
}

// kindOf returns what a verb of SimGrid's traces is read as; KindNone if it is no
// action.
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

// actions replays a case in its directory by the library and returns for each rank
// the date at which each line has completed, NaN if it is no action. It returns nil
// for cases of too many actions.
func (t *tools) actions(dir string, c *testCase) ([][]float64, error) {
	if c.script.actions() > mostPhases {
		return nil, nil
	}
	s, header, err := stamp(dir, c)
	if err != nil {
		return nil, err
	}
	m, o, err := loadMachine(dir, c)
	if err != nil {
		return nil, err
	}
	res, err := replay.RunSource(header, s, m, o)
	if err != nil {
		return nil, err
	}
	return s.dates(res, o.Network.InitTime), nil
}

// stamp opens the case's trace with a phase for each line.
func stamp(dir string, c *testCase) (*stamped, *trace.Header, error) {
	text, err := simgrid.Open(filepath.Join(dir, "trace.index"), dir)
	if err != nil {
		return nil, nil, err
	}
	s := &stamped{Trace: text, ranks: make([]stampedRank, text.Ranks())}
	header := &trace.Header{Ranks: text.Ranks()}
	for i, lines := range c.script.ranks {
		r := stampedRank{first: len(header.Phases), owed: -1}
		for _, l := range lines {
			r.verbs = append(r.verbs, strings.Fields(l.text)[1])
			r.dated = append(r.dated, false)
			header.Phases = append(header.Phases, fmt.Sprint(len(header.Phases)))
		}
		s.ranks[i] = r
	}
	return s, header, nil
}

// loadMachine does what the command does with a case's files and options.
func loadMachine(dir string, c *testCase) (m replay.Machine, o replay.Options, err error) {
	if m.Platform, err = platforms.Load(filepath.Join(dir, "platform.xml")); err != nil {
		return m, o, err
	}
	o = replay.DefaultOptions()
	if err := o.Network.ApplyConfig(m.Platform); err != nil {
		return m, o, err
	}
	for _, option := range c.options {
		name, value, _ := strings.Cut(option, ":")
		if err := o.Network.Set(name, value); err != nil {
			return m, o, err
		}
	}
	m.Hosts, err = replay.ParseHostfile(strings.NewReader(lines(c.hosts)), "hostfile", m.Platform, len(c.script.ranks))
	return m, o, err
}

// dates reads the dates off the phases, which begin when the ranks do. A phase of no
// length is not in the result.
func (s *stamped) dates(res *replay.Result, begin float64) [][]float64 {
	length := map[string]float64{}
	for _, p := range res.Phases {
		length[p.Name] = p.Max
	}
	all := make([][]float64, len(s.ranks))
	for i := range s.ranks {
		r := &s.ranks[i]
		for line, dated := range r.dated {
			date := math.NaN()
			if dated {
				date = begin + length[fmt.Sprint(r.first+line)]
			}
			all[i] = append(all[i], date)
		}
	}
	return all
}
