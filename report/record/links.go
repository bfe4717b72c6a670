package record

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/report/typedarray"
)

// links is how the links of a platform are used over time.
type links struct {
	platform *platforms.Platform
	options  *netmodel.Options
	hosts    []int32 // of the ranks
	routes   routes

	rowOf   []int32 // by link, none: it has carried nothing
	rows    []link
	now     []usage  // by row, in this slice
	names   []string // of the platform's levels
	levelOf []int32  // by the platform's number, none: no row is of it
	levels  []int    // the platform's numbers of those that rows are of

	widths
	slice        int32       // this one
	told         float64     // up to when something has been carried
	begin, until float64     // of this slice, seconds
	past         [][]float32 // load by slice and row, short where rows came later: bytes of the capacity
	lost         [][]float64 // seconds by slice and level, likewise
}

// link is one that has carried something, up to this slice.
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

const (
	maxPast   = 1 << 22 // loads of links that are kept, unless slices are as few as may be:
	minSlices = 64
)

func newLinks(m *replay.Machine, o *netmodel.Options) links {
	l := links{
		platform: m.Platform, options: o, hosts: m.Hosts, routes: newRoutes(m.Platform),
		names: m.Platform.Levels(), widths: newWidths(),
	}
	l.rowOf = slices.Repeat([]int32{none}, m.Platform.NumLinks())
	l.levelOf = slices.Repeat([]int32{none}, len(l.names))
	l.until = l.end(0)
	return l
}

// transferred takes transfers in the order of their ends.
func (r *Recorder) transferred(list []replay.Transferred) {
	r.traffic.add(list)
	for i := range list {
		r.links.add(&list[i])
	}
}

// add takes a transfer, which ended after those before it.
func (l *links) add(t *replay.Transferred) {
	if t.At > l.until {
		l.advance(t.At)
	}
	l.told = t.At
	src, dst := l.hosts[t.Src], l.hosts[t.Dst]
	p, load := l.route(src, dst), t.Bytes/t.Factor
	lost := 0.0 // seconds, because it shared a link
	if t.Link >= 0 && t.Alone != 0 {
		seconds := t.At - t.From
		if lost = seconds - t.Bytes/t.Alone; !(lost > seconds*rounding) {
			lost = 0
		}
	}
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

// route returns the route from host src to host dst, valid until the next call.
func (l *links) route(src, dst int32) *place {
	p := l.routes.place(src, dst)
	if p.src != src || p.dst != dst {
		l.unload()
		l.routes.fill(p, src, dst, l.row)
	}
	return p
}

// carry notes what a route carries in this slice.
func (l *links) carry(p *place, bytes, load float64) {
	if p.bytes == 0 {
		if len(l.routes.used) == maxUsed {
			l.unload()
		}
		l.routes.used = append(l.routes.used, p)
	}
	p.bytes += bytes
	p.load += load
}

// unload gives links what their routes have carried.
func (l *links) unload() {
	for _, p := range l.routes.used {
		for _, row := range l.routes.rowsOf(p) {
			u := &l.now[row]
			u.bytes += p.bytes
			u.load += p.load
		}
		p.bytes, p.load = 0, 0
	}
	l.routes.used = l.routes.used[:0]
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

// advance stores the usage of links in this slice, and goes on to the slice of a time.
func (l *links) advance(to float64) {
	l.unload()
	past, lost := l.pastAt(l.slice), l.lostAt(l.slice)
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
		l.past, l.lost = merged(l.past, k, addTo[float32]), merged(l.lost, k, addTo[float64])
	}
	l.slice, l.until = l.at(to)
	l.begin = l.until - l.width
}

// pastAt returns the loads of all rows in a slice.
func (l *links) pastAt(slice int32) []float32 { return grown(&l.past, slice, len(l.rows)) }

// lostAt returns what was lost at each level in a slice.
func (l *links) lostAt(slice int32) []float64 { return grown(&l.lost, slice, len(l.levels)) }

// grown returns a slice of a list, of so many numbers.
func grown[T float32 | float64](list *[][]T, slice int32, size int) []T {
	for int(slice) >= len(*list) {
		*list = append(*list, nil)
	}
	at := &(*list)[slice]
	if missing := size - len(*at); missing > 0 {
		*at = append(*at, make([]T, missing)...)
	}
	return *at
}

// addSince takes a transfer that began before this slice did: it was carried evenly.
func (l *links) addSince(p *place, t *replay.Transferred, load, lost float64) {
	from, seconds := t.From, t.At-t.From
	for from < l.begin {
		slice, end := l.at(from)
		if end <= from { // by rounding
			slice++
			end += l.width
		}
		end = min(end, l.begin)
		share := (end - from) / seconds
		past := l.pastAt(slice)
		for _, row := range l.routes.rowsOf(p) {
			l.rows[row].bytes += float64(t.Bytes * share)
			l.rows[row].load += float64(load * share)
			past[row] += float32(load * share)
		}
		if lost > 0 {
			row := l.row(t.Link)
			l.rows[row].lost += float64(lost * share)
			l.lostAt(slice)[l.rows[row].level] += float64(lost * share)
		}
		from = end
	}
	share := (t.At - from) / seconds
	l.carry(p, float64(t.Bytes*share), float64(load*share))
	if lost > 0 {
		l.now[l.row(t.Link)].lost += float64(lost * share)
	}
}

// routes remembers the links of routes, as rows of links, for pairs of hosts that talk again
// and again, and what they carry, which is given to the links from time to time. A pair has one
// place where it can be; who comes there later takes it over.
type routes struct {
	platform *platforms.Platform
	places   []place
	used     []*place // that have carried something
	shift    int      // of the source in the number of a place, if every pair has its own; else -1
	rows     []int32  // of the routes in places, one behind the other
	links    []int32  // scratch
	err      error    // the first
}

// place is the route from a host to another.
type place struct {
	src, dst    int32   // -1: empty
	at, count   int32   // in routes.rows
	bytes, load float64 // that it has carried and its links have not been given
}

const (
	ownPlaces = 8       // bits of the number of hosts up to which each pair has a place
	maxPlaces = 1 << 17 // for more hosts
	maxRouted = 1 << 20 // numbers in routes.rows
	maxUsed   = 1 << 12 // routes that have carried something
)

// newRoutes returns empty places, whose number is a power of 2.
func newRoutes(p *platforms.Platform) routes {
	r := routes{platform: p, shift: bits.Len(uint(p.NumHosts() - 1))}
	count := maxPlaces
	if r.shift > ownPlaces {
		r.shift = -1
	} else {
		count = 1 << (2 * r.shift)
	}
	r.places, r.used = make([]place, count), make([]*place, 0, maxUsed)
	r.forget()
	return r
}

// forget empties all places.
func (r *routes) forget() {
	r.rows = r.rows[:0]
	for i := range r.places {
		r.places[i].src = -1
	}
}

// place returns the place of a route, which another one may have.
func (r *routes) place(src, dst int32) *place {
	mask := uint32(len(r.places) - 1)
	if r.shift >= 0 {
		return &r.places[(uint32(src)<<r.shift|uint32(dst))&mask]
	}
	return &r.places[(uint32(src)*2654435761+uint32(dst)*2246822519)>>8&mask]
}

// rowsOf returns the rows of the links of a route.
func (r *routes) rowsOf(p *place) []int32 { return r.rows[p.at:][:p.count] }

// fill makes a place that of the route from host src to host dst. rowOf returns the row of a
// link.
func (r *routes) fill(p *place, src, dst int32, rowOf func(link int32) int32) {
	links, err := r.platform.AppendRoute(r.links[:0], int(src), int(dst))
	if r.links = links; err != nil {
		links = nil
		if r.err == nil {
			r.err = err
		}
	}
	if len(r.rows)+len(links) > maxRouted {
		r.forget()
	}
	*p = place{src: src, dst: dst, at: int32(len(r.rows)), count: int32(len(links))}
	for _, l := range links {
		r.rows = append(r.rows, rowOf(l))
	}
}

// maxHottest is how many links are named.
const maxHottest = 20

// data describes the use of links up to the end of the run, in seconds.
func (l *links) data(end float64) Links {
	end = max(end, l.told) // ranks wait when a replay is stopped, and transfers go on
	l.advance(end)
	count := int(math.Ceil(end / l.width))
	seconds := func(slice int) float64 { return min(l.width, end-float64(slice)*l.width) } // the last ends with the run
	d := Links{Slices: count, Seconds: l.width, Hottest: []HotLink{}}

	// Levels are in the order of the platform. Of each there is the mean use of its links in each slice, the
	// greatest, and the time lost.
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
				_, _, policy := l.platform.LinkCapacity(row.number)
				number, shared, capacity = number+1, shared || policy == platforms.Shared, capacity+row.capacity
			}
		}
		d.Levels = append(d.Levels, l.names[l.levels[level]])
		d.Number, d.Shared = append(d.Number, number), append(d.Shared, shared)
		most := make([]float32, count)
		for slice := range count {
			load := 0.0
			for i, v := range l.pastAt(int32(slice)) {
				if row := &l.rows[i]; row.level == level {
					load += float64(v)
					most[slice] = max(most[slice], float32(float64(v)/(row.capacity*seconds(slice))))
				}
			}
			use = append(use, float32(load/(capacity*seconds(slice))))
			bound = append(bound, float32(l.lostAt(int32(slice))[level]))
		}
		use = append(use, most...)
	}
	d.Use, d.Bound = typedarray.Float32s(use), typedarray.Float32s(bound)

	// The links where most time was lost; of others those that are used most.
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
			over[slice] = float32(float64(l.pastAt(int32(slice))[i]) / (row.capacity * seconds(slice)))
		}
		d.Hottest = append(d.Hottest, HotLink{
			Name: l.platform.Link(row.number).Name, Level: slices.Index(order, row.level),
			Bytes: row.bytes, Use: row.load / (row.capacity * end), Lost: row.lost, Over: typedarray.Float32s(over),
		})
	}
	return d
}
