// Package record records what a report shows of a replay, while it runs: where the time of
// ranks goes step by step, who sends to whom, and how the links are used.
//
//	r := record.New(record.Options{Header: t.Header(), Machine: machine, Replay: options})
//	options.Observers = []replay.Observer{r.Observer()}
//	result, err := replay.Run(ctx, t, machine, options)
//	data, err := r.Data()
//
// A [Recorder] observes; [Data] is what comes out, as columns of numbers that a page draws. How they are drawn is the
// business of the page, and single actions are that of report/timeline.
//
// It keeps sums, of which there are no more however long a run is: for each rank what it is spending its time on in
// this step, for each step the sums over ranks, a matrix of ranks by steps that grows coarser (Matrix.ColumnsPerCell),
// matrices of traffic of at most 512 rows, and the load of each link in slices of time, which grow wider. A replay may
// begin at a checkpoint and may end early: it is recorded from where it begins up to where it ends.
//
// # Units
//
// Seconds, bytes, and shares of 1.
//
// # Errors
//
// That of a route which the platform does not have.
//
// # Source
//
// None: it adds up what package replay reports to an Observer.
package record

import (
	"cmp"
	"slices"

	"reprise/replay"
	"reprise/report/typedarray"
	"reprise/trace"
)

// Options are those of New.
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
//
// Its observer is called from the goroutine of the replay only. Columns are steps where the trace marks more than one,
// and then the replay's own sums (Observer.Spent) are enough; else they are slices of time, for which every piece of
// time is looked at.
type Recorder struct {
	header *trace.Header
	ranks  []rank
	absent int // ranks of which nothing has been told yet
	times  times
	sums   rows
	spent  spent // of steps, in place of sums

	first      int       // of the steps to be played
	last       int       // of them
	perColumn  int       // steps in a column
	maxColumns int       // most columns of steps
	steps      bool      // columns are steps, not slices of time
	slices     timeSlots // used if columns are slices of time
	columns    columns
	matrix     matrix

	groups  []group // by rows and columns of the process grid, and by hosts, where there are such
	traffic []trafficTable
	links   links
}

// New returns a recorder for one replay.
func New(o Options) *Recorder {
	h := o.Header
	r := &Recorder{header: h, ranks: make([]rank, h.Ranks), absent: h.Ranks, first: o.Replay.From, last: h.Steps - 1}
	for i := range r.ranks {
		r.ranks[i] = rank{until: notYet, column: noColumn}
	}
	if o.Replay.To > 0 {
		r.last = min(r.last, o.Replay.To-1)
	}

	// Rows, and columns of steps or of time. Several steps are one column where there are more steps than columns, or
	// so many rows that the columns would take too much memory.
	r.sums = rows{kernels: len(h.Kernels), phases: len(h.Phases)}
	width := numKinds + len(h.Kernels) + len(h.Phases)
	r.sums.width = width
	r.sums.now = make([]float64, h.Ranks*width)
	r.sums.open = slices.Repeat([]float64{notOpen}, h.Ranks*len(h.Phases))
	steps := r.last + 1 - r.first
	r.maxColumns = min(maxColumns, max(1, maxSpreads/width))
	r.steps, r.perColumn = steps > 1, max(1, (steps+r.maxColumns-1)/r.maxColumns)
	if r.steps {
		r.spent = spent{width: width, column: make([]float64, width)}
		r.spent.begun, r.spent.last = make([]float64, h.Ranks*width), make([]float64, h.Ranks*width)
	} else {
		r.slices = timeSlots{widths: widths{firstWidth, maxSlices}, size: h.Ranks * width}
		for r.slices.most > minSlots && r.slices.most*r.slices.size > maxSlotted {
			r.slices.most /= 2
		}
	}
	r.columns = columns{width: width}
	r.matrix = newMatrix(h.Ranks)
	r.matrix.states = len(StatesOf(h))

	r.groups = newGroups(h, &o.Machine)
	r.traffic = newTraffic(h.Ranks, r.groups)
	r.links = newLinks(&o.Machine, &o.Replay.Network.Options)
	return r
}

// Observer returns the functions of the recorder, for replay.Options.Observers.
func (r *Recorder) Observer() replay.Observer {
	o := replay.Observer{Marked: r.marked, Transferred: r.transferred}
	// Of steps it is enough to know the sums at their ends.
	if r.steps {
		o.Spent = r.spentBy
	} else {
		o.TimePasses = r.timePasses
	}
	return o
}

// Data returns what has been recorded, once the replay has ended. The recorder is of no use any more.
func (r *Recorder) Data() (*Data, error) {
	r.end()
	// Columns begin with the first in which a rank was on, and with a cell of the matrix. Earlier ones are empty, as of
	// a replay that goes on from a checkpoint.
	first := 0
	for first < len(r.columns.list) && r.columns.list[first].ended == 0 {
		first++
	}
	first -= first % r.matrix.perCell
	count := len(r.columns.list) - first
	d := &Data{
		Columns: r.columnData(first, count),
		States:  StatesOf(r.header),
		Series:  r.seriesData(first, count),
		Matrix:  r.matrix.data(first),
		Links:   r.links.data(r.lastEnd()),
	}
	for i := range r.traffic {
		d.Communication = append(d.Communication, r.traffic[i].data())
	}
	d.Matrix.Orders = orders(r.groups, r.matrix.ranksPerRow, r.ranks)
	return d, r.links.err
}

// lastEnd returns the end of the last rank in seconds.
func (r *Recorder) lastEnd() (end float64) {
	for i := range r.ranks {
		end = max(end, r.ranks[i].clock)
	}
	return end
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

// newGroups returns the ways in which ranks belong together: by rows and columns of the process grid, if the trace
// has communicators of that name, and by hosts, if one has several ranks.
func newGroups(h *trace.Header, m *replay.Machine) (list []group) {
	// A rank that is in no group of a family, as may be in other programs than HPL, counts to the first group.
	for _, f := range h.CommFamilies {
		name, ok := gridNames[f.Name]
		if !ok || len(f.Groups) < 2 {
			continue
		}
		of := make([]int32, h.Ranks)
		for i := range f.Groups {
			for k := range f.Groups[i].Len() {
				of[f.Groups[i].Member(k)] = int32(i)
			}
		}
		list = append(list, group{by: name, of: of, size: len(f.Groups)})
	}
	// Hosts are in the platform's order.
	used := slices.Compact(slices.Sorted(slices.Values(m.Hosts)))
	if len(used) < h.Ranks {
		of := make([]int32, len(m.Hosts))
		for r, h := range m.Hosts {
			i, _ := slices.BinarySearch(used, h)
			of[r] = int32(i)
		}
		name := func(i int) string { return m.Platform.Host(int(used[i])).Name }
		list = append(list, group{by: "host", of: of, size: len(used), name: name})
	}
	return list
}

// orders returns the ways to sort the rows of a matrix, of which each is so many ranks: the first of them decides.
func orders(groups []group, perRow int, ranks []rank) []Order {
	list := []Order{{Name: "rank"}}
	rows := (len(ranks) + perRow - 1) / perRow
	// A row of several ranks stands where its first rank does. An order that changes nothing is left empty.
	add := func(name string, compare func(a, b int) int) {
		order := make([]uint32, rows)
		for i := range order {
			order[i] = uint32(i)
		}
		slices.SortStableFunc(order, func(a, b uint32) int { return compare(int(a)*perRow, int(b)*perRow) })
		o := Order{Name: name}
		if !slices.IsSorted(order) {
			o.Rows = typedarray.Of(order)
		}
		list = append(list, o)
	}
	for _, by := range groups {
		add(by.by, func(a, b int) int { return cmp.Compare(by.of[a], by.of[b]) })
	}
	add("end", func(a, b int) int { return cmp.Compare(ranks[a].clock, ranks[b].clock) })
	return list
}

// Data is the record of a replay, as a page draws it. Times are in seconds.
type Data struct {
	Columns Columns  `json:"columns"`
	States  []string `json:"states"` // of the matrix, the names of States
	Series  Series   `json:"series"`
	Matrix  Matrix   `json:"matrix"`
	// Communication is who sends how much to whom: by rank, and by row and column of the
	// process grid and by host where there are such.
	Communication []CommMatrix `json:"communication"`
	Links         Links        `json:"links"`
}

// Columns cut time: into steps of the trace, or where it marks none, equal slices of the run.
type Columns struct {
	Kind    string  `json:"kind"`             // "step" or "time"
	First   int     `json:"first"`            // step
	Steps   int     `json:"steps_per_column"` // 1, or more for runs of very many; 0 for slices of time
	Count   int     `json:"count"`            // of columns
	Seconds float64 `json:"seconds_s"`        // width of a slice of time; 0 for steps
	// Starts are float64 seconds, [Count+1]: when the mean rank begins each column, and the end.
	Starts typedarray.Bytes `json:"starts"`
	// Longest are float32 seconds, [Count]: the longest that a rank is in each column.
	Longest typedarray.Bytes `json:"longest"`
}

// Series are curves over the columns.
type Series struct {
	Kinds   []string `json:"kinds"`   // the names of the rows, first these,
	Kernels []string `json:"kernels"` // then these,
	Phases  []string `json:"phases"`  // then these: seconds within each phase
	// Values are float32 seconds of a rank within the column, [rows][mean, least, most][Count].
	Values typedarray.Bytes `json:"values"`
}

// Matrix is ranks by columns. A cell holds what share of a rank's time within the column goes
// to each state. Where there are too many cells, one stands for several ranks and columns.
type Matrix struct {
	Ranks          int `json:"ranks"` // of the run
	Rows           int `json:"rows"`
	Cols           int `json:"cols"`
	RanksPerRow    int `json:"ranks_per_row"`   // 1, or more for runs of very many ranks
	ColumnsPerCell int `json:"columns_per_col"` // of Columns
	// Steps is into how many steps shares and lengths are rounded: 255, or fewer (Round).
	Steps int `json:"share_steps"`
	// Mean and Most are uint8, [States][Cols][Rows]: the mean share, and the greatest of a
	// single rank and column in the cell; 255 is 1. Most is empty where a cell is one of each.
	Mean typedarray.Bytes `json:"mean"`
	Most typedarray.Bytes `json:"most"`
	// Length is uint8, [Cols][Rows]: the longest that a rank of the cell is in a column of it;
	// 255 is the longest of all ranks in these columns (of Columns.Longest).
	Length typedarray.Bytes `json:"length"`
	Orders []Order          `json:"orders"` // ways to sort the rows; the first is by rank
}

// Order is a way to sort the rows of a matrix.
type Order struct {
	Name string           `json:"name"` // "rank", "grid row", "grid column", "host", "end"
	Rows typedarray.Bytes `json:"rows"` // uint32, [Rows]: the row at each place; empty: as they are
}

// CommMatrix is who sends how much to whom, point to point.
type CommMatrix struct {
	By     string           `json:"by"`       // "rank", "grid row", "grid column", "host"
	Size   int              `json:"size"`     // rows and columns
	Per    int              `json:"per_cell"` // ranks, or hosts, that are one row
	Labels []string         `json:"labels"`   // of the rows; empty: numbers, Per apart
	Bytes  typedarray.Bytes `json:"bytes"`    // float32, [Size of senders][Size of receivers]
	Number typedarray.Bytes `json:"messages"` // float32, the same: messages
}

// Links is how the links are used over time, which is cut into equal slices.
type Links struct {
	Levels  []string `json:"levels"` // kinds of links, by the platform
	Number  []int    `json:"number"` // of links of each level that carry anything
	Slices  int      `json:"slices"`
	Seconds float64  `json:"seconds_s"` // of a slice
	// Shared says of each level whether its links are shared. Of those that are not (FATPIPE)
	// each message may have all, and uses may add up to more than 1.
	Shared []bool `json:"shared"`
	// Use is float32, [levels][mean, most][Slices]: the share of their capacity that links of
	// the level carry: of those that ever do, and the most used one in that slice.
	Use typedarray.Bytes `json:"use"`
	// Bound is float32 seconds, [levels][Slices]: time that messages lost because a link of
	// the level was shared, of all messages.
	Bound   typedarray.Bytes `json:"bound"`
	Hottest []HotLink        `json:"hottest"` // by time lost, at most 20
}

// HotLink is a link that messages wait for.
type HotLink struct {
	Name  string           `json:"name"`
	Level int              `json:"level"`
	Bytes float64          `json:"bytes"`  // carried
	Use   float64          `json:"use"`    // share of its capacity over the run
	Lost  float64          `json:"lost_s"` // seconds that messages lost because it was shared
	Over  typedarray.Bytes `json:"over"`   // float32, [Slices]: its use over time
}
