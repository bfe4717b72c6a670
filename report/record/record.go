package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"reprise/replay"
	"reprise/report/typedarray"
	"reprise/trace"
)

// Options say what is recorded.
type Options struct {
	Header  *trace.Header
	Machine replay.Machine
	// Replay are the options of the replay: its steps, and its network.
	Replay replay.Options
}

const (
	maxColumns = 1 << 13 // in which steps are put
	maxSpreads = 1 << 21 // numbers of all columns, of which a trace of many kernels has many in each
)

// Recorder records the Data of one replay.
type Recorder struct {
	header *trace.Header
	ranks  []rank
	absent int // ranks of which nothing has been told
	times  times
	sums   rows
	spent  spent // of steps, in place of sums

	first      int // step to be played
	last       int // likewise
	perColumn  int // steps that are one column
	maxColumns int
	steps      bool      // columns are steps, not slices of time
	slices     timeSlots // if they are
	columns    columns
	matrix     matrix

	groups  groups
	traffic traffic
	links   links
	done    bool
}

// New returns a recorder for one replay.
func New(o Options) (*Recorder, error) {
	h := o.Header
	if o.Machine.Platform == nil {
		return nil, errors.New("record: no platform")
	}
	if len(o.Machine.Hosts) != h.Ranks {
		return nil, fmt.Errorf("record: hosts for %d ranks, but the trace has %d", len(o.Machine.Hosts), h.Ranks)
	}
	r := &Recorder{header: h, ranks: make([]rank, h.Ranks), absent: h.Ranks, sums: newRows(h), first: o.Replay.From}
	for i := range r.ranks {
		r.ranks[i] = rank{until: notYet, column: noColumn}
	}
	r.last = h.Steps - 1
	if o.Replay.To > 0 {
		r.last = min(r.last, o.Replay.To-1)
	}
	steps := r.last + 1 - r.first
	r.maxColumns = min(maxColumns, max(1, maxSpreads/r.sums.width))
	r.steps, r.perColumn = steps > 1, max(1, (steps+r.maxColumns-1)/r.maxColumns)
	if !r.steps {
		r.slices = newTimeSlots(h.Ranks * r.sums.width)
	}
	if r.steps {
		r.spent = newSpent(h.Ranks, r.sums.width)
	}
	r.columns = columns{width: r.sums.width}
	r.matrix = newMatrix(h.Ranks)
	r.groups = newGroups(h, &o.Machine)
	r.traffic = r.groups.traffic()
	r.links = newLinks(&o.Machine, &o.Replay.Network.Options)
	return r, nil
}

// Observer returns the functions of the recorder, for replay.Options.Observers.
func (r *Recorder) Observer() replay.Observer {
	o := replay.Observer{Marked: r.marked, Transferred: r.transferred}
	if r.steps {
		o.Spent = r.spentBy
	} else {
		o.TimePasses = r.timePasses
	}
	return o
}

// Data returns what has been recorded, once the replay has ended. The recorder is of no use
// any more.
func (r *Recorder) Data() (*Data, error) {
	if r.done {
		return nil, errors.New("record: a recorder has its data once")
	}
	r.done = true
	r.end()
	first, count := r.columns.span(r.matrix.perCell)
	d := &Data{
		Columns:       r.columnData(first, count),
		States:        States[:],
		Series:        r.seriesData(first, count),
		Matrix:        r.matrix.data(first),
		Communication: r.traffic.data(),
		Links:         r.links.data(r.lastEnd()),
	}
	d.Matrix.Orders = r.groups.orders(r.matrix.ranksPerRow, r.ranks)
	return d, r.links.routes.err
}

// lastEnd returns the end of the last rank in seconds.
func (r *Recorder) lastEnd() (end float64) {
	for i := range r.ranks {
		end = max(end, r.ranks[i].clock)
	}
	return end
}

// groups are which ranks belong together: by rows and columns of the process grid, if the
// trace has communicators of that name, and by hosts, if one has several ranks.
type groups struct {
	ranks int
	list  []group
}

// group divides the ranks.
type group struct {
	by   string
	of   []int32 // by rank, consecutive from 0 on
	size int
	name func(i int) string // nil: numbers
}

// gridNames are what reports call communicators.
var gridNames = map[string]string{"row": "grid row", "col": "grid column"}

func newGroups(h *trace.Header, m *replay.Machine) groups {
	g := groups{ranks: h.Ranks}
	for _, f := range h.CommFamilies {
		if name, ok := gridNames[f.Name]; ok && len(f.Groups) > 1 {
			g.list = append(g.list, familyGroup(&f, name, h.Ranks))
		}
	}
	if hosts := hostGroup(m); hosts.size < h.Ranks {
		g.list = append(g.list, hosts)
	}
	return g
}

func familyGroup(f *trace.CommFamily, by string, ranks int) group {
	g := group{by: by, of: make([]int32, ranks), size: len(f.Groups)}
	for i := range f.Groups {
		for k := range f.Groups[i].Len() {
			g.of[f.Groups[i].Member(k)] = int32(i)
		}
	}
	return g
}

// hostGroup divides the ranks by their hosts, in the platform's order.
func hostGroup(m *replay.Machine) group {
	used := slices.Compact(slices.Sorted(slices.Values(m.Hosts)))
	g := group{by: "host", of: make([]int32, len(m.Hosts)), size: len(used)}
	for r, h := range m.Hosts {
		i, _ := slices.BinarySearch(used, h)
		g.of[r] = int32(i)
	}
	g.name = func(i int) string { return m.Platform.Host(int(used[i])).Name }
	return g
}

// orders returns the ways to sort the rows of a matrix, of which each is so many ranks: the
// first of them decides.
func (g *groups) orders(perRow int, ranks []rank) []Order {
	list := []Order{{Name: "rank"}}
	rows := (len(ranks) + perRow - 1) / perRow
	add := func(name string, compare func(a, b int) int) {
		order := make([]uint32, rows)
		for i := range order {
			order[i] = uint32(i)
		}
		slices.SortStableFunc(order, func(a, b uint32) int { return compare(int(a)*perRow, int(b)*perRow) })
		o := Order{Name: name}
		if !slices.IsSorted(order) {
			o.Rows = typedarray.Uint32s(order)
		}
		list = append(list, o)
	}
	for _, by := range g.list {
		add(by.by, func(a, b int) int { return cmp.Compare(by.of[a], by.of[b]) })
	}
	add("end", func(a, b int) int { return cmp.Compare(ranks[a].clock, ranks[b].clock) })
	return list
}
