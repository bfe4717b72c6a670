package platforms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTies: two ways of two links each from a to b. SimGrid's Dijkstra numbers y before x,
// as y comes first in the routes, and its Floyd x before y, as x is declared first.
// (SimGrid 3.32: 100,000 bytes end at 0.000916388 s by way of y, links of 1 GB/s and 1 us, where
// those of x have 50 us.)
func TestTies(t *testing.T) {
	for routing, want := range map[string]string{"Dijkstra": "ay yb", "DijkstraCache": "ay yb", "Floyd": "ax xb"} {
		p := parse(zoneXML(routing, points("a x y b", "ay yb ax xb")+`
			<route src="a" dst="y"><link_ctn id="ay"/></route><route src="y" dst="b"><link_ctn id="yb"/></route>
			<route src="a" dst="x"><link_ctn id="ax"/></route><route src="x" dst="b"><link_ctn id="xb"/></route>`))
		checkRoutes(t, p, []routeCase{{"a", "b", want}})
	}
}

// TestRecordedRoutes compares all routes, and the bits of their latencies, with SimGrid's
// on machines with many equally short paths.
func TestRecordedRoutes(t *testing.T) {
	files, err := filepath.Glob("../testdata/oracle/routes/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded routes: %v", err)
	}
	for _, file := range files {
		p, text := must(Load(file)), must(os.ReadFile(strings.TrimSuffix(file, ".xml")+".routes"))
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			want := strings.ReplaceAll(strings.Join(words[3:], " "), "__loopback__", "loopback")
			if got := routeNames(t, p, AsListed, words[0], words[1]); got != want {
				t.Errorf("%s: route from %s to %s:\n got %s\nwant %s", file, words[0], words[1], got, want)
				break
			}
			src, _ := p.HostIndex(words[0])
			dst, _ := p.HostIndex(words[1])
			if want == "loopback" {
				continue // its latency is an option of the recorded run
			}
			if seconds, err := strconv.ParseFloat(words[2], 64); err != nil || latency(p, src, dst) != seconds {
				t.Errorf("%s: latency from %s to %s is %v, want %s", file, words[0], words[1], latency(p, src, dst), words[2])
			}
		}
	}
}

// randomGraph draws a graph of some points with routes in one direction of 1 to 3 links.
func randomGraph(r *rand.Rand, dijkstra bool) *graph {
	g := &graph{size: 1 + r.Int32N(12), dijkstra: dijkstra}
	for from := range g.size {
		for to := range g.size {
			if r.IntN(10) < 3 && (from != to || r.IntN(3) == 0) {
				g.add(edge{from: from, to: to}, make([]int32, 1+r.IntN(3)))
			}
		}
	}
	r.Shuffle(len(g.edges), func(i, j int) { g.edges[i], g.edges[j] = g.edges[j], g.edges[i] })
	return g
}

// floyd returns the last edges of all paths by Floyd's algorithm as it is written
// everywhere: via, from and to in the order of declaration, replacing what is strictly longer.
func floyd(g *graph) []int32 {
	n := g.size
	dist, last := make([]int64, n*n), make([]int32, n*n)
	for i := range dist {
		dist[i], last[i] = math.MaxInt64/4, -1
	}
	for i := range g.edges {
		e := &g.edges[i]
		dist[e.from*n+e.to], last[e.from*n+e.to] = e.count(), int32(i)
	}
	for i := range n { // the loopback of one link is no path
		if at := i*n + i; last[at] < 0 {
			dist[at] = 1
		}
	}
	for via := range n {
		for from := range n {
			for to := range n {
				if d := dist[from*n+via] + dist[via*n+to]; d < dist[from*n+to] && last[via*n+to] >= 0 {
					dist[from*n+to], last[from*n+to] = d, last[via*n+to]
				}
			}
		}
	}
	return last
}

// dijkstra returns the same by Dijkstra's algorithm without a queue: the point that is
// next is looked for among all.
func dijkstra(g *graph, numbers []int32) []int32 {
	n := g.size
	all := make([]int32, n*n)
	for from := range n {
		last, done := all[from*n:(from+1)*n], make([]bool, n)
		dist := slices.Repeat([]int64{math.MaxInt64}, int(n))
		for i := range last {
			last[i] = -1
		}
		dist[from] = 0
		for range n {
			next := int32(-1)
			for i := range n {
				if !done[i] && dist[i] < math.MaxInt64 && (next < 0 || dist[i] < dist[next] || dist[i] == dist[next] && numbers[i] < numbers[next]) {
					next = i
				}
			}
			if next < 0 {
				break
			}
			done[next] = true
			for i := range g.edges {
				if e := &g.edges[i]; e.from == next && dist[next]+e.count() < dist[e.to] {
					dist[e.to], last[e.to] = dist[next]+e.count(), int32(i)
				}
			}
		}
		last[from] = g.edge(from, from)
	}
	return all
}

// TestPathsAreThoseOfTheAlgorithms compares findPaths with the algorithms as they are
// written everywhere.
func TestPathsAreThoseOfTheAlgorithms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		g := randomGraph(r, i%2 == 0)
		numbers := g.appearances()
		if g.finish() != nil {
			t.Fatal("an edge twice")
		}
		g.findPaths(numbers)
		want := floyd
		if g.dijkstra {
			want = func(g *graph) []int32 { return dijkstra(g, numbers) }
		}
		if w := want(g); !slices.Equal(g.last, w) {
			t.Fatalf("graph %d of %d points, Dijkstra %v:\n got %v\nwant %v\nedges %s", i, g.size, g.dijkstra, g.last, w, fmt.Sprint(g.edges))
		}
	}
}
