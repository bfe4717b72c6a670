package record

import (
	"math/bits"

	"reprise/platforms"
)

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
	ownPlaces = 8 // bits of the number of hosts up to which each pair has a place
	maxPlaces = 1 << 17
	maxRouted = 1 << 20 // numbers in routes.rows
	maxUsed   = 1 << 12
)

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
