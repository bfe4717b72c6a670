package record

import (
	"cmp"
	"math"
	"slices"

	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/report/typedarray"
)

// This file adds up what links carry (links.add), link by link and in slices of time.

// links is how the links of a platform are used over time. The replay reports each transfer when it ends. Its bytes are
// first added to its route (carry). From time to time each route hands its bytes to its links (unload, to now); at the
// end of a slice of time each link's bytes go to those of the whole run (rows) and of the slice (past). A transfer
// within one slice costs two additions, however many links its route has. Links that carry nothing have no row:
// machines have far more links than most runs use.
type links struct {
	platform *platforms.Platform
	options  *netmodel.Options
	hosts    []int32 // of the ranks

	// Routes are remembered for pairs of hosts, as they talk again and again, together with the bytes that they carry,
	// which are given to the links from time to time (unload).
	routes  map[uint64]*route // by hosts
	used    []*route          // that have carried something since
	scratch []int32
	err     error // the first

	rowOf   []int32 // by link, none: it has carried nothing
	rows    []link
	now     []usage  // by row, in this slice
	names   []string // of the platform's levels
	levelOf []int32  // by the platform's number, none: no row is of it
	levels  []int    // the platform's numbers of those that rows are of

	widths
	slice        int32          // this one
	told         float64        // up to when something has been carried
	begin, until float64        // of this slice, seconds
	past         slots[float32] // load by row, short where rows came later: bytes of the capacity
	lost         slots[float64] // seconds by level, likewise
}

// link is one that has carried something: its sums over all slices before this one.
type link struct {
	number   int32 // the platform's
	level    int32 // index in links.levels
	capacity float64
	usage
}

// usage is what a link has carried.
type usage struct {
	bytes float64
	load  float64 // bytes of its capacity
	lost  float64 // seconds that messages have lost because it is shared
}

const none = -1

// Bounds of memory. Loads take 4 bytes, so past is some 16 MB at most, but for platforms of very many links.
const (
	maxPast   = 1 << 22 // loads of links that are kept; beyond it slices become fewer, down to minSlices
	minSlices = 64
)

func newLinks(m *replay.Machine, o *netmodel.Options) links {
	p := m.Platform
	l := links{platform: p, options: o, hosts: m.Hosts, names: p.Levels(), widths: widths{firstWidth, maxSlices}}
	l.rowOf = slices.Repeat([]int32{none}, p.NumLinks())
	l.levelOf = slices.Repeat([]int32{none}, len(l.names))
	l.until, l.routes = l.end(0), map[uint64]*route{}
	return l
}

// transferred takes transfers in the order of their ends.
func (r *Recorder) transferred(list []replay.Transferred) {
	for i := range r.traffic {
		r.traffic[i].add(list)
	}
	for i := range list {
		r.links.add(&list[i])
	}
}

// add takes a transfer, which ended after those before it. A factor below 1 (smpi/bw-factor) has a message take more of
// the capacity of links than its bytes: load is what it takes, and what uses are made of. Time is lost against the rate
// that the message would have alone.
func (l *links) add(t *replay.Transferred) {
	if t.At > l.until {
		l.advance(t.At)
	}
	l.told = t.At
	p, load := l.route(l.hosts[t.Src], l.hosts[t.Dst]), t.Bytes/t.Factor
	lost := 0.0 // seconds, because it shared a link
	if t.Link >= 0 && t.Alone != 0 {
		seconds := t.At - t.From
		if lost = seconds - t.Bytes/t.Alone; !(lost > seconds*rounding) {
			lost = 0
		}
	}
	// Most transfers lie within this slice. One that takes no time has no parts, wherever it begins.
	if t.From < l.begin && t.At > t.From {
		l.addSince(p, t, load, lost)
		return
	}
	l.carry(p, t.Bytes, load)
	if lost > 0 {
		l.now[l.row(t.Link)].lost += lost
	}
}

// rounding is the share of its time that a transfer does not lose: times are rounded.
const rounding = 1e-9

// route returns the route from a host to another, valid until the next call.
func (l *links) route(src, dst int32) *route {
	key := uint64(uint32(src))<<32 | uint64(uint32(dst))
	p := l.routes[key]
	if p != nil {
		return p
	}
	list, err := l.platform.AppendRoute(l.scratch[:0], int(src), int(dst))
	if l.scratch = list; err != nil {
		list, l.err = nil, cmp.Or(l.err, err)
	}
	if len(l.routes) == maxRoutes { // begins anew, as most pairs that talk now are few
		l.unload()
		clear(l.routes)
	}
	// The links get their rows, in the order in which they are first used.
	p = &route{rows: make([]int32, len(list))}
	for i, link := range list {
		p.rows[i] = l.row(link)
	}
	l.routes[key] = p
	return p
}

// carry notes what a route carries in this slice. used lists the routes that have something to give to their links;
// it has a bound so that it stays in the caches of the processor.
func (l *links) carry(p *route, bytes, load float64) {
	if p.bytes == 0 {
		if len(l.used) == maxUsed {
			l.unload()
		}
		l.used = append(l.used, p)
	}
	p.bytes += bytes
	p.load += load
}

// unload gives links what their routes have carried.
func (l *links) unload() {
	for _, p := range l.used {
		for _, row := range p.rows {
			u := &l.now[row]
			u.bytes += p.bytes
			u.load += p.load
		}
		p.bytes, p.load = 0, 0
	}
	l.used = l.used[:0]
}

// row returns the row of a link. The first use of a link is apart, so that this is inlined.
func (l *links) row(number int32) int32 {
	if row := l.rowOf[number]; row != none {
		return row
	}
	return l.addRow(number)
}

// addRow adds the row of a link, and its level if that is new.
func (l *links) addRow(number int32) int32 {
	row := int32(len(l.rows))
	l.rowOf[number] = row
	level := &l.levelOf[l.platform.LevelOf(number)]
	if *level == none {
		*level = int32(len(l.levels))
		l.levels = append(l.levels, l.platform.LevelOf(number))
	}
	l.rows = append(l.rows, link{number: number, level: *level, capacity: l.options.LinkCapacity(l.platform, number)})
	l.now = append(l.now, usage{})
	return row
}

// advance stores the usage of links in this slice, and goes on to the slice of a time. Where the time lies beyond the
// last slice, or rows have become so many that the slices would take too much memory, slices become wider first.
func (l *links) advance(to float64) {
	l.unload()
	past, lost := l.past.at(l.slice, len(l.rows)), l.lost.at(l.slice, len(l.levels))
	for i := range l.now {
		u, row := &l.now[i], &l.rows[i]
		row.bytes += u.bytes
		row.load += u.load
		row.lost += u.lost
		past[i] += float32(u.load)
		lost[row.level] += u.lost
	}
	clear(l.now)
	for l.most > minSlices && l.most*len(l.rows) > maxPast {
		l.most /= 2
	}
	if k := l.reach(to); k > 0 {
		l.past.merge(k)
		l.lost.merge(k)
	}
	l.slice, l.until = l.at(to)
	l.begin = l.until - l.width
}

// addSince takes a transfer that began before this slice did: it was carried evenly. Its parts go to the sums of the
// slices that are over, and the rest is carried in this one as add has it. How the rate changed meanwhile is not told;
// a page shows slices that are long against most messages.
func (l *links) addSince(p *route, t *replay.Transferred, load, lost float64) {
	from, seconds := t.From, t.At-t.From
	for from < l.begin {
		slice, end := l.at(from)
		if end <= from { // by rounding
			slice++
			end += l.width
		}
		end = min(end, l.begin)
		share := (end - from) / seconds
		past := l.past.at(slice, len(l.rows))
		for _, row := range p.rows {
			l.rows[row].bytes += float64(t.Bytes * share)
			l.rows[row].load += float64(load * share)
			past[row] += float32(load * share)
		}
		if lost > 0 {
			row := l.row(t.Link)
			l.rows[row].lost += float64(lost * share)
			l.lost.at(slice, len(l.levels))[l.rows[row].level] += float64(lost * share)
		}
		from = end
	}
	share := (t.At - from) / seconds
	l.carry(p, float64(t.Bytes*share), float64(load*share))
	if lost > 0 {
		l.now[l.row(t.Link)].lost += float64(lost * share)
	}
}

// route is that from a host to another, with the sums that unload gives to its links.
type route struct {
	rows        []int32 // of its links
	bytes, load float64 // that it has carried and its links have not been given
}

const (
	maxRoutes = 1 << 17 // that are remembered
	maxUsed   = 1 << 12 // of which have carried something
)

// maxHottest is how many links are named.
const maxHottest = 20

// data describes the use of links up to the end of the run, in seconds.
func (l *links) data(end float64) Links {
	// Uses are shares of a slice, of which the last one is cut by the end of the run.
	end = max(end, l.told) // ranks wait when a replay is stopped, and transfers go on
	l.advance(end)
	count := int(math.Ceil(end / l.width))
	seconds := func(slice int) float64 { return min(l.width, end-float64(slice)*l.width) } // the last ends with the run
	d := Links{Slices: count, Seconds: l.width, Hottest: []HotLink{}}

	// Levels are in the order of the platform. Of each there is the mean use of its links in each slice, the
	// greatest, and the time lost.
	//
	// Of links that are not shared uses may add up to more than 1, and no time is lost on them.
	order := make([]int32, len(l.levels))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.levels[a], l.levels[b]) })
	var use, bound []float32
	for _, level := range order {
		number, shared, capacity := 0, false, 0.0
		for i := range l.rows {
			if row := &l.rows[i]; row.level == level {
				_, _, policy := l.platform.LinkFigures(row.number)
				number, shared, capacity = number+1, shared || policy == platforms.Shared, capacity+row.capacity
			}
		}
		d.Levels = append(d.Levels, l.names[l.levels[level]])
		d.Number, d.Shared = append(d.Number, number), append(d.Shared, shared)
		most := make([]float32, count)
		for slice := range count {
			load := 0.0
			for i, v := range l.past.at(int32(slice), len(l.rows)) {
				if row := &l.rows[i]; row.level == level {
					load += float64(v)
					most[slice] = max(most[slice], float32(float64(v)/(row.capacity*seconds(slice))))
				}
			}
			use = append(use, float32(load/(capacity*seconds(slice))))
			bound = append(bound, float32(l.lost.at(int32(slice), len(l.levels))[level]))
		}
		use = append(use, most...)
	}
	d.Use, d.Bound = typedarray.Of(use), typedarray.Of(bound)

	// The links where most time was lost; of others those that are used most, and of those alike the first of the
	// platform, so that the list is the same in every run.
	rows := make([]int, len(l.rows))
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, func(i, k int) int {
		a, b := &l.rows[i], &l.rows[k]
		return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(b.load/b.capacity, a.load/a.capacity),
			cmp.Compare(a.number, b.number))
	})
	for _, i := range rows[:min(len(rows), maxHottest)] {
		row := &l.rows[i]
		over := make([]float32, count)
		for slice := range count {
			over[slice] = float32(float64(l.past.at(int32(slice), len(l.rows))[i]) / (row.capacity * seconds(slice)))
		}
		d.Hottest = append(d.Hottest, HotLink{
			Name: l.platform.Link(row.number).Name, Level: slices.Index(order, row.level),
			Bytes: row.bytes, Use: row.load / (row.capacity * end), Lost: row.lost, Over: typedarray.Of(over),
		})
	}
	return d
}
