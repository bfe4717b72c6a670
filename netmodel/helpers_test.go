package netmodel

import (
	"fmt"
	"math"
	"testing"

	"reprise/platforms"
)

// topology is a platform in a test: links, and the routes between hosts by their
// numbers. A route that is missing is the reverse of the opposite one.
type topology struct {
	links  []platforms.Link
	routes map[[2]int][]int32
}

func (p topology) route(dst []int32, from, to int) ([]int32, error) {
	if r, ok := p.routes[[2]int{from, to}]; ok {
		return append(dst, r...), nil
	}
	r, ok := p.routes[[2]int{to, from}]
	if !ok {
		return nil, fmt.Errorf("no route from %d to %d", from, to)
	}
	for i := len(r) - 1; i >= 0; i-- {
		dst = append(dst, r[i])
	}
	return dst, nil
}

// star is hosts 0 to n-1 around a switch: host i has the up link 2i and the down
// link 2i+1.
func star(n int, bandwidth, latency float64) topology {
	p := topology{routes: map[[2]int][]int32{}}
	for i := range n {
		p.links = append(p.links, platforms.Link{Bandwidth: bandwidth, Latency: latency},
			platforms.Link{Bandwidth: bandwidth, Latency: latency})
		for j := range n {
			p.routes[[2]int{i, j}] = []int32{int32(2 * i), int32(2*j + 1)}
		}
	}
	return p
}

// onlyLink is two hosts joined by one link.
func onlyLink(l platforms.Link) topology {
	return topology{links: []platforms.Link{l}, routes: map[[2]int][]int32{{0, 1}: {0}}}
}

// message is a transfer of a test.
type message struct {
	src, dst int
	size     int64
	at       float64
}

// someHosts is more than any test's topology has.
const someHosts = 64

// plain returns options with factors 1, no cross traffic and the given settings,
// each a NAME, VALUE pair.
func plain(settings ...string) Options {
	o := DefaultOptions()
	pairs := append([]string{"smpi/bw-factor", "0:1", "smpi/lat-factor", "0:1", "network/crosstraffic", "no"}, settings...)
	return with(o, pairs...)
}

func with(o Options, pairs ...string) Options {
	for i := 0; i < len(pairs); i += 2 {
		if err := optionTable.Find(pairs[i]).Apply(&o, pairs[i+1]); err != nil {
			panic(err)
		}
	}
	return o
}

// applyConfig sets those options of the network that the platform's own file asks for.
func applyConfig(t testing.TB, o *Options, p *platforms.Platform) {
	t.Helper()
	for _, prop := range p.Config() {
		if opt := optionTable.Find(prop.Name); opt != nil {
			noError(t, opt.Apply(o, prop.Value))
		}
	}
}

// ends runs the messages, which are ordered by time, and returns the times at
// which they end.
func ends(t testing.TB, p topology, o Options, messages []message) []float64 {
	t.Helper()
	return endsOf(t, p, o, messages, func(*Network) {})
}

// endsOf is ends on a network that is prepared.
func endsOf(t testing.TB, p topology, o Options, messages []message, prepare func(*Network)) []float64 {
	t.Helper()
	result, _ := inOrder(t, p, o, messages, prepare)
	return result
}

// inOrder is endsOf, and also returns the order in which the messages end.
func inOrder(t testing.TB, p topology, o Options, messages []message, prepare func(*Network)) (result []float64, order []int32) {
	t.Helper()
	n, err := newNetwork(p.links, someHosts, p.route, o)
	noError(t, err)
	prepare(n)
	result = make([]float64, len(messages))
	next := 0
	for next < len(messages) || n.Active() > 0 {
		for next < len(messages) && messages[next].at <= n.Next() {
			m := messages[next]
			noError(t, n.Start(int32(next), m.src, m.dst, m.size, m.at))
			next++
		}
		now := n.Next()
		if math.IsInf(now, 1) {
			t.Fatalf("%d flows never end", n.Active())
		}
		ended := len(order)
		order = n.Advance(now, order)
		for _, id := range order[ended:] {
			result[id] = now
		}
	}
	return result, order
}

// eachSolver runs f with all solvers.
func eachSolver(t *testing.T, o Options, f func(t *testing.T, o Options)) {
	for _, name := range []string{"local", "reference", "clocks"} {
		t.Run(name, func(t *testing.T) { f(t, with(o, "reprise/solver", name)) })
	}
}

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)
}

// noError ends a test at an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// share returns the share of flow id on its links in byte/s. It is up to date after Next.
func (n *Network) share(id int32) float64 { return n.system.Share(n.variableOf(uint32(id))) }

// lastEvent lets all events happen and returns the time of the last one.
func (n *Network) lastEvent() (at float64) {
	for next := n.Next(); !math.IsInf(next, 1); next = n.Next() {
		at = next
		n.Advance(next, nil)
	}
	return at
}
