package record

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/netmodel"
	"reprise/replay"
	"reprise/trace"
)

// exactly says what a replay in tests must agree with in so many parts of itself: the network
// takes together what is a nanosecond apart.
const exactly = 1e-5

// levelData is what a level has, summed up over time.
type levelData struct {
	number int
	use    float64 // seconds of the capacity of a mean link
	lost   float64 // seconds
}

// levelsOf sums the use of levels up.
func levelsOf(t *testing.T, d *Data) map[string]levelData {
	t.Helper()
	use, bound := float32sOf(t, d.Links.Use), float32sOf(t, d.Links.Bound)
	n, levels := d.Links.Slices, map[string]levelData{}
	end := float64sOf(d.Columns.Starts)[d.Columns.Count]
	for i, name := range d.Links.Levels {
		l := levelData{number: d.Links.Number[i]}
		for k := range n {
			seconds := min(d.Links.Seconds, end-float64(k)*d.Links.Seconds)
			if use[2*i*n+k] > use[(2*i+1)*n+k] {
				t.Errorf("%s, slice %d: mean %v, most %v", name, k, use[2*i*n+k], use[(2*i+1)*n+k])
			}
			l.use += float64(use[2*i*n+k]) * seconds
			l.lost += float64(bound[i*n+k])
		}
		levels[name] = l
	}
	return levels
}

func checkLevels(t *testing.T, d *Data, want map[string]levelData) {
	t.Helper()
	got := levelsOf(t, d)
	for name, w := range want {
		g := got[name]
		near(t, name+" use", g.use, w.use, exactly)
		near(t, name+" lost", g.lost, w.lost, exactly)
		if g.number != w.number {
			t.Errorf("%s: %d links, want %d", name, g.number, w.number)
		}
	}
	if len(got) != len(want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

// TestLinksOfTwoHosts: 1,000,000 bytes and an envelope take their link (1000016/B) s, which
// is that much of the time of each of two links. A factor of 2 carries two bytes for each of a
// link's capacity, in half of the time.
func TestLinksOfTwoHosts(t *testing.T) {
	for factor := 1; factor <= 2; factor++ {
		b := newBench(t, cluster(2), 2, 1, fmt.Sprint("smpi/bw-factor:0:", factor))
		_, _, d := b.lists([]trace.Action{send(1, 0, 1e6)}, []trace.Action{recv(0, 0, 1e6)}).record(t)
		const carried = 1e6 + envelope
		seconds := carried / float64(factor) / bandwidth
		checkLevels(t, d, map[string]levelData{"c: host to switch": {1, seconds, 0}, "c: switch to host": {1, seconds, 0}})
		if diff := cmp.Diff([]bool{true, true}, d.Links.Shared); diff != "" {
			t.Errorf("shared links (-want +got):\n%s", diff)
		}
		if len(d.Links.Hottest) != 2 {
			t.Fatalf("%d links, want 2", len(d.Links.Hottest))
		}
		for i, name := range []string{"c_link_0_UP", "c_link_1_DOWN"} {
			h := &d.Links.Hottest[i]
			if h.Name != name || h.Level != i || h.Lost != 0 {
				t.Errorf("link %d is %s of level %d with %v s lost, want %s", i, h.Name, h.Level, h.Lost, name)
			}
			near(t, name, h.Bytes, carried, exactly)
			near(t, name+" use", h.Use, seconds/(latency+seconds), exactly)
		}
	}
}

// TestLinksContention: ranks 0 and 1 send 1,000,000 and 3,000,000 bytes to rank 2, whose link
// they share: both get half of it until the first has ended, after twice its time, of which
// each loses half.
func TestLinksContention(t *testing.T) {
	b := newBench(t, cluster(3), 3, 1).lists(
		[]trace.Action{send(2, 0, 1e6)}, []trace.Action{send(2, 0, 3e6)},
		[]trace.Action{irecv(0, 0, 0, 1e6), irecv(1, 1, 0, 3e6), wait(0), wait(1)})
	_, _, d := b.record(t)
	first, second := (1e6+envelope)/float64(bandwidth), (3e6+envelope)/float64(bandwidth)
	checkLevels(t, d, map[string]levelData{
		"c: host to switch": {2, (first + second) / 2, 0},
		"c: switch to host": {1, first + second, 2 * first},
	})
	if h := &d.Links.Hottest[0]; h.Name != "c_link_2_DOWN" || h.Level != 1 {
		t.Errorf("%s of level %d is the hottest", h.Name, h.Level)
	}
	near(t, "lost", d.Links.Hottest[0].Lost, 2*first, exactly)
}

// TestLinksOfTree: hosts 0 to 3 under one leaf and 4 to 7 under another, with one cable up
// each. 0 and 1 send to 4 and 5 and share both cables between the leaves and the top, which
// bound them: each loses half of twice its time. 2 sends to 3 below the leaf.
func TestLinksOfTree(t *testing.T) {
	xml := `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-7" speed="1Gf" bw="125MBps" lat="50us" topology="FAT_TREE" topo_parameters="2;4,2;1,1;1,1"/></platform>`
	lists := make([][]trace.Action, 8)
	for _, pair := range [][2]int32{{0, 4}, {1, 5}, {2, 3}} {
		lists[pair[0]], lists[pair[1]] = []trace.Action{send(pair[1], 0, 1e6)}, []trace.Action{recv(pair[0], 0, 1e6)}
	}
	_, _, d := newBench(t, xml, 8, 1).lists(lists...).record(t)
	seconds := (1e6 + envelope) / float64(bandwidth)
	levels := levelsOf(t, d)
	for name, want := range map[string]levelData{
		"c: host to level 1": {3, seconds, 0}, "c: level 1 to host": {3, seconds, 0},
		"c: level 1 to level 2": {1, 2 * seconds, 0}, "c: level 2 to level 1": {1, 2 * seconds, 0},
	} {
		near(t, name, levels[name].use, want.use, exactly)
		if levels[name].number != want.number {
			t.Errorf("%s: %d links, want %d", name, levels[name].number, want.number)
		}
	}
	lost := levels["c: level 1 to level 2"].lost + levels["c: level 2 to level 1"].lost // either may count as the bottleneck
	near(t, "lost", lost, 2*seconds, exactly)
	if n := len(levels); n != 4 {
		t.Errorf("%d levels, want 4", n)
	}
}

// TestLinksOverTime: after 2 s a message of 125,000,000 bytes takes a second: the use of
// its links is 1 in the slices from then on, and 0 before, and in the slice between what is
// left of it.
func TestLinksOverTime(t *testing.T) {
	b := newBench(t, cluster(2), 2, 1).lists([]trace.Action{sleep(2), send(1, 0, bandwidth)}, []trace.Action{recv(0, 0, bandwidth)})
	_, _, d := b.record(t)
	begin, end := 2+latency, float64sOf(d.Columns.Starts)[d.Columns.Count]
	near(t, "end", end, begin+1, 1e-6)
	over := float32sOf(t, d.Links.Hottest[0].Over)
	if d.Links.Slices != len(over) || d.Links.Slices < maxSlices/2 || d.Links.Slices > maxSlices {
		t.Fatalf("%d slices, %d with a use", d.Links.Slices, len(over))
	}
	for i, use := range over {
		from, to := float64(i)*d.Links.Seconds, min(end, float64(i+1)*d.Links.Seconds)
		want := max(0, to-max(from, begin)) / (to - from)
		if math.Abs(float64(use)-want) > 1e-4 {
			t.Errorf("slice %d, from %v to %v s: use %v, want %v", i, from, to, use, want)
		}
	}
}

// TestLinksMerge: what many links have carried is kept whole where slices grow wider, and
// they are fewer where links are many.
func TestLinksMerge(t *testing.T) {
	r := newBench(t, cluster(8), 8, 1).recorder()
	const turns = 20000
	for i := range turns {
		src, at := int32(i%7), float64(i)*1e-3
		// at half of 2e6 byte/s; the network is ahead of the next one's begin
		carried := netmodel.Summary{From: at, Bytes: 1500, Alone: 2e6, Link: 1}
		r.transferred([]replay.Transferred{{Src: src, Dst: src + 1, At: at + 1.5e-3, Summary: carried}})
	}
	d := r.links.data(turns * 1e-3)
	bytes, lost := 0.0, 0.0
	for i := range d.Hottest {
		bytes += d.Hottest[i].Bytes
		lost += d.Hottest[i].Lost
	}
	near(t, "bytes", bytes, turns*2*1.5e3, 1e-9)
	near(t, "lost", lost, turns*0.75e-3, 1e-9)
	bound := 0.0
	for _, v := range float32sOf(t, d.Bound) {
		bound += float64(v)
	}
	near(t, "lost over time", bound, lost, 1e-5)
	if d.Slices > maxSlices || d.Slices < maxSlices/2 {
		t.Errorf("%d slices", d.Slices)
	}
}

// TestLinksOfNoTime: a transfer that takes no time is carried, too, where a slice begins.
func TestLinksOfNoTime(t *testing.T) {
	r := newBench(t, cluster(2), 2, 1).recorder()
	for i := range 100 { // the begin of a slice is rounded
		at := float64(i) * firstWidth
		r.transferred([]replay.Transferred{{Src: 0, Dst: 1, At: at, Factor: 1, Summary: netmodel.Summary{From: at, Bytes: 16, Link: -1}}})
	}
	d := r.links.data(1e-3)
	near(t, "bytes", d.Hottest[0].Bytes, 100*16, 1e-9)
}

// TestRoutes: whatever the number of hosts, a route is that of the platform, also where pairs
// are too many to be remembered.
func TestRoutes(t *testing.T) {
	for _, hosts := range []int32{2, 1000} {
		b := newBench(t, cluster(int(hosts)), 1, 1)
		l := b.recorder().links
		for i := range min(2*hosts*hosts, maxRoutes+1000) {
			src, dst := i/hosts%hosts, i%hosts
			want, err := b.Machine.Platform.AppendRoute(nil, int(src), int(dst))
			noError(t, err)
			var got []int32
			for _, row := range l.route(src, dst).rows {
				got = append(got, l.rows[row].number)
			}
			if !slices.Equal(want, got) {
				t.Fatalf("%d hosts, from %d to %d: %v, want %v", hosts, src, dst, got, want)
			}
		}
	}
}
