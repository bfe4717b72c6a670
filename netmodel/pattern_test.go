package netmodel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/platforms"
)

// TestPatterns: a route that is known by its pattern, or by its hosts, is the same as one
// computed anew. The links are of few classes, some are FATPIPEs, and some are met twice.
// Numbers of walks begin anew on the way, where links have marks of the first ones.
func TestPatterns(t *testing.T) {
	const hosts = 6
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		links, way := fewClasses(random, hosts)
		o := DefaultOptions()
		o.CrossTraffic = seed%2 == 0
		known := newRoutes(links, hosts, way, &o)
		known.walk = -uint32(seed % 50)
		for i := range known.of {
			known.of[i].met = uint32(i+1) * uint32(min(seed%50, 1))
		}
		for range 200 {
			src, dst := int32(random.IntN(hosts)), int32(random.IntN(hosts))
			anew := newRoutes(links, hosts, way, &o)
			if seed%3 == 0 {
				known.summedOf, anew.summedOf = backwards(way), backwards(way)
			}
			got, want := describe(t, known, src, dst), describe(t, anew, src, dst)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: route from %d to %d (-want +got):\n%s", seed, src, dst, diff)
			}
		}
	}
}

// fewClasses returns links of four classes, of which one may be of FATPIPEs, and ways of up
// to eight of them between hosts, on which the classes follow one another in few manners.
func fewClasses(random *rand.Rand, hosts int) ([]platforms.Link, routeFunc) {
	const classes, each = 4, 8
	var links []platforms.Link
	for c := range classes {
		l := platforms.Link{Bandwidth: float64(1+c/2) * 1e8, Latency: random.Float64() * 1e-5}
		if c == 3 && random.IntN(2) == 0 {
			l.Policy = platforms.Fatpipe
		}
		links = append(links, slices.Repeat([]platforms.Link{l}, each)...)
	}
	manners := make([][]int, 4)
	for i := range manners {
		for range 1 + random.IntN(8) {
			manners[i] = append(manners[i], random.IntN(classes))
		}
	}
	ways := make([][]int32, hosts*hosts)
	for i := range ways {
		for _, c := range manners[random.IntN(len(manners))] {
			ways[i] = append(ways[i], int32(c*each+random.IntN(each)))
		}
	}
	return links, func(route []int32, src, dst int) ([]int32, error) {
		return append(route, ways[src*hosts+dst]...), nil
	}
}

// backwards returns half of the ways from their ends.
func backwards(way routeFunc) routeFunc {
	return func(route []int32, src, dst int) ([]int32, error) {
		route, err := way(route, src, dst)
		if (src+dst)%2 == 0 {
			slices.Reverse(route)
		}
		return route, err
	}
}

// describe returns what is known of a route, to the last bit.
func describe(t *testing.T, r *routes, src, dst int32) []string {
	t.Helper()
	way, links, err := r.find(src, dst)
	noError(t, err)
	return []string{fmt.Sprintf("%x", way.appendKey(nil)), fmt.Sprint(links)}
}
