package hpcg

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestComplete: sizes and grids as HPCG takes them. Expected values: HPCG 3.1, init.cpp.
func TestComplete(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Params)
		want [6]int // nx ny nz npx npy npz
		note string
	}{
		{"one size", func(p *Params) { p.NX, p.NY, p.NZ = 24, 0, 0 }, [6]int{24, 24, 24, 2, 3, 1}, ""},
		{"only the last", func(p *Params) { p.NX, p.NY, p.NZ = 0, 0, 40 }, [6]int{40, 40, 40, 2, 3, 1}, ""},
		{"small", func(p *Params) { p.NX, p.NY, p.NZ = 8, 0, 0 }, [6]int{16, 16, 16, 2, 3, 1}, "nx = 8 is below 16: HPCG takes 16"},
		{"small beside large", func(p *Params) { p.NX, p.NY, p.NZ = 32, 8, 48 }, [6]int{32, 48, 48, 2, 3, 1}, "ny = 8 is below 16: HPCG takes 48"},
		{"given grid", func(p *Params) { p.Grid = Grid{1, 2, 3} }, [6]int{16, 16, 16, 1, 2, 3}, ""},
		{"grid of too many", func(p *Params) { p.Grid = Grid{2, 2, 2} }, [6]int{16, 16, 16, 2, 3, 1}, "the grid 2x2x2 is not one of 6 ranks: HPCG takes 2x3x1"},
		{"half a grid", func(p *Params) { p.Grid = Grid{1, 0, 0} }, [6]int{16, 16, 16, 2, 3, 1}, "the grid 1x0x0 is not one of 6 ranks: HPCG takes 2x3x1"},
	} {
		p := DefaultParams(6, 16)
		c.set(&p)
		notes, err := p.Complete()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := [6]int{p.NX, p.NY, p.NZ, p.Grid.NX, p.Grid.NY, p.Grid.NZ}; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got := strings.Join(notes, "; "); got != c.note {
			t.Errorf("%s: notes %q, want %q", c.name, got, c.note)
		}
	}
}

// TestRefused: what HPCG refuses or hangs on, each with its reason.
func TestRefused(t *testing.T) {
	slabs := func(p *Params) { p.NZ, p.PZ, p.ZL, p.ZU, p.Grid = 0, 1, 32, 16, Grid{1, 2, 3} }
	for _, c := range []struct {
		set  func(*Params)
		want string
	}{
		{func(p *Params) { p.Ranks = 0 }, "ranks = 0, allowed 1 to 16777216"},
		{func(p *Params) { p.NX, p.NY, p.NZ = 0, 0, 0 }, "no size of the boxes"},
		{func(p *Params) { p.NX = -8 }, "nx = -8, allowed 0 (HPCG chooses) to 1048576"},
		{func(p *Params) { p.NY = 1 << 21 }, "ny = 2097152, allowed"},
		{func(p *Params) { p.NX = 20 }, "nx = 20 is not divisible by 8: an assertion of HPCG stops the run where it halves the box, 3 times"},
		{func(p *Params) { p.NX, p.NY = 25, 31 }, "ny = 31 is not divisible by 8"},
		{func(p *Params) { p.NX = 136 }, "box of 136x16x16 points: the smallest side is less than 1/8 of the largest, where HPCG aborts"},
		{func(p *Params) { p.Ranks = 11 }, "process grid 11x1x1 of 11 ranks: the smallest side is less than 1/8 of the largest, where HPCG aborts"},
		{func(p *Params) { p.Grid = Grid{2, 1, 1} }, "the grid 2x1x1 has 2 positions for 6 ranks: HPCG takes it, the surplus ranks own points outside of the domain, and the first halo exchange hangs"},
		{func(p *Params) { p.NX, p.NY, p.NZ = 512, 512, 512 }, "more nonzeros than HPCG can count"},
		{func(p *Params) { p.ZL = 16 }, "zl = 16, zu = 0 without pz"},
		{func(p *Params) { slabs(p); p.NZ = 16 }, "nz = 16 with pz: the heights are zl and zu, and with another nz HPCG hangs"},
		{func(p *Params) { slabs(p); p.PZ = 3 }, "pz = 3, allowed 1 to 2, npz - 1: an assertion of HPCG"},
		{func(p *Params) { slabs(p); p.ZU = 8 }, "zu = 8 with slabs, allowed 16 or more"},
		{func(p *Params) { slabs(p); p.NX = 0 }, "nx = 0 with slabs, allowed 16 or more"},
		{func(p *Params) { slabs(p); p.ZL = 36 }, "zl = 36 is not divisible by 8"},
		{func(p *Params) { p.Sets = 0 }, "sets = 0, allowed 1 to 16777216"},
		{func(p *Params) { p.Iterations = 0 }, "iterations = 0, allowed"},
		{func(p *Params) { p.Sets = 1 << 20 }, "1048576 sets of 50 iterations are more than 16777216 steps"},
		{func(p *Params) { p.Phase, p.Sets = All, 2 }, "rt = 0 is HPCG's quick path, which has one timed set, not 2"},
		{func(p *Params) { p.FromFile, p.Sets = true, 2 }, "rt = 0 is HPCG's quick path, which has one timed set, not 2"},
		{func(p *Params) { p.Phase, p.SetupIterations = All, 60 }, "iterations = 50, but HPCG takes 60: those of the set-up run, 60, and 50 at least"},
		{func(p *Params) { p.Phase, p.Iterations = All, 60 }, "iterations = 60, but HPCG takes 50: those of the set-up run, 50, and 50 at least"},
		{func(p *Params) { p.Phase, p.SetupIterations = All, 501 }, "setup iterations = 501, allowed 1 to 500"},
		{func(p *Params) { p.Phase, p.TestIterations[3] = All, 0 }, "iterations of the convergence test = 0, allowed 1 to 50"},
	} {
		p := DefaultParams(6, 16)
		c.set(&p)
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestMostNonzeros: of random boxes and grids those are taken of which no rank has more than 2^31 - 1 nonzeros, as HPCG counts
// them: for each point along a side, the points beside it and itself that are in the domain (GenerateProblem_ref.cpp).
func TestMostNonzeros(t *testing.T) {
	along := func(begin, n, all int) (sum int64) {
		for i := begin; i < begin+n; i++ {
			for s := -1; s <= 1; s++ {
				if i+s > -1 && i+s < all {
					sum++
				}
			}
		}
		return sum
	}
	most := func(n, positions int) (best int64) {
		for i := range positions {
			best = max(best, along(i*n, n, positions*n))
		}
		return best
	}
	r, taken := rand.New(rand.NewPCG(31, 2)), 0
	for range 400 {
		g := Grid{1 + r.IntN(4), 1 + r.IntN(4), 1 + r.IntN(4)}
		p := DefaultParams(g.Ranks(), 0)
		p.Grid = g
		p.NX, p.NY = 8*(20+r.IntN(60)), 8*(20+r.IntN(60))
		bound := math.MaxInt32 / most(p.NX, g.NX) / most(p.NY, g.NY) / 3 // of nz, about
		p.NZ = int(bound)/8*8 + 8*r.IntN(3)
		if min(p.NX, p.NY, p.NZ)*maxRatio < max(p.NX, p.NY, p.NZ) {
			continue
		}
		var want int64
		if r.IntN(2) == 0 || g.NZ == 1 {
			want = most(p.NZ, g.NZ)
		} else { // slabs: the upper ranks are lower or higher
			p.PZ, p.ZL, p.ZU, p.NZ = 1+r.IntN(g.NZ-1), p.NZ, p.NZ+8*(r.IntN(3)-1), 0
			begin, all := 0, p.PZ*p.ZL+(g.NZ-p.PZ)*p.ZU
			for iz := range g.NZ {
				nz := p.ZL
				if iz >= p.PZ {
					nz = p.ZU
				}
				want = max(want, along(begin, nz, all))
				begin += nz
			}
		}
		want *= most(p.NX, g.NX) * most(p.NY, g.NY)
		q := p
		_, err := q.Complete()
		if ok := want <= math.MaxInt32; ok != (err == nil) {
			t.Errorf("%+v: %d nonzeros: %v", p, want, err)
		} else if ok {
			taken++
		}
	}
	if taken < 50 {
		t.Errorf("%d taken", taken)
	}
	for _, c := range []struct {
		nx, ny, nz, ranks int
		want              bool
	}{{216, 216, 1712, 1, true}, {216, 216, 1720, 1, false}, {512, 512, 512, 1, false}, {1 << 20, 1 << 20, 1 << 20, 1, false}, {1 << 17, 1 << 20, 1 << 20, 1, false}} {
		p := DefaultParams(c.ranks, 0)
		p.NX, p.NY, p.NZ = c.nx, c.ny, c.nz
		if _, err := p.Complete(); (err == nil) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestRefusedOnce: what is missing with slabs is told once, not with what follows from it.
func TestRefusedOnce(t *testing.T) {
	p := DefaultParams(12, 0)
	p.NX, p.PZ, p.ZL, p.ZU, p.Grid = 16, 1, 16, 16, Grid{2, 2, 3}
	const want = "ny = 0 with slabs, allowed 16 or more: HPCG raises smaller ones, each rank for itself, and then hangs"
	if _, err := p.Complete(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestReadDat: what a person and HPCG read alike is read, the rest is an error with its line.
func TestReadDat(t *testing.T) {
	const title = "HPCG benchmark input file\nsecond line\n"
	for _, c := range []struct {
		text string
		want [7]int // nx ny nz rt npx npy npz
		note string
	}{
		{title + "104 104 96 sizes\n60 seconds\n4 2 1\n", [7]int{104, 104, 96, 60, 4, 2, 1}, ""},
		{title + "104 104 104\n60\n", [7]int{104, 104, 104, 60, 0, 0, 0}, ""},
		{title + "104 104 104", [7]int{104, 104, 104, 1800, 0, 0, 0}, ""},
		{title + "104 104 104\n60\n\n \n", [7]int{104, 104, 104, 60, 0, 0, 0}, ""}, // HPCG's scanf comes to the end of the file
		{title + "104 104 104\n\n\n", [7]int{104, 104, 104, 1800, 0, 0, 0}, ""},
		{title + "104 104 104\n-1\n0 -2 1\n", [7]int{104, 104, 104, 1800, 0, 0, 1}, ""},
		{title + "\t16  8 16\n0\n", [7]int{16, 16, 16, 0, 0, 0, 0}, "hpcg.dat:3: ny = 8 is below 16: HPCG takes 16"},
	} {
		p := DefaultParams(8, 0)
		notes, err := p.ReadDat(strings.NewReader(c.text), "hpcg.dat")
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if got := [7]int{p.NX, p.NY, p.NZ, p.Seconds, p.Grid.NX, p.Grid.NY, p.Grid.NZ}; got != c.want || !p.FromFile {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
		if got := strings.Join(notes, "; "); got != c.note {
			t.Errorf("%q: notes %q, want %q", c.text, got, c.note)
		}
	}
	for text, want := range map[string]string{
		"":                                    "hpcg.dat:1: nx ny nz: 0 values, want 3",
		title + "\n":                          "hpcg.dat:3: nx ny nz: 0 values, want 3: the file ends here",
		title + "104 104\n104\n":              "hpcg.dat:3: nx ny nz: 2 values, want 3: HPCG would look for the rest on the next line",
		title + "104 104 many\n60\n":          `hpcg.dat:3: nx ny nz: "many" is not an integer of 32 bits`,
		title + "104 104 9999999999\n":        `"9999999999" is not an integer of 32 bits`,
		title + "104 104 104\n\n4 2 1\n":      "hpcg.dat:4: the seconds of a run: 0 values, want 1",
		title + "104 104 104\n60\n4 2\n":      "hpcg.dat:5: npx npy npz: 2 values, want 3",
		strings.Repeat("x", 5000) + "\n":      "hpcg.dat:1: line of more than 4096 bytes",
		"HPLinpack benchmark input file\nx\n": "hpcg.dat: this is an HPL.dat, not an hpcg.dat",
	} {
		p := DefaultParams(8, 0)
		if _, err := p.ReadDat(strings.NewReader(text), "hpcg.dat"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzReadDat(f *testing.F) {
	f.Add("HPCG benchmark input file\nx\n104 104 104\n60\n4 2 1\n")
	f.Add("a\nb\n16 16 16")
	f.Fuzz(func(t *testing.T, text string) {
		p := DefaultParams(8, 0)
		if _, err := p.ReadDat(strings.NewReader(text), "x"); err == nil && min(p.NX, p.NY, p.NZ, p.Seconds+minSide) < minSide {
			t.Errorf("%q: %+v", text, p)
		}
	})
}
