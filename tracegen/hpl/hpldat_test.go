package hpl

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleDat is an HPL.dat of 2 grids, 2 orders, 2 depths and 3 RFACTs.
const sampleDat = `HPLinpack benchmark input file
some university
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
2            # of problems sizes (N)
1000 2000    Ns
1            # of NBs
64           NBs
1            PMAP process mapping (0=Row-,1=Column-major)
2            # of process grids (P x Q)
2 1          Ps
3 6          Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
3            # of recursive panel fact.
0 1 2        RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
3            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
2            # of lookahead depth
0 1          DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
60           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
1            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
`

func TestReadDat(t *testing.T) {
	d, err := ReadDat(strings.NewReader(sampleDat), "HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	if n := d.Combinations(); n != 24 {
		t.Fatalf("%d combinations, want 2*2*2*3", n)
	}
	// HPL's loops, outermost first: grids, N, NB, depths, broadcasts, RFACT, ...
	// Combination 18 = 1 + 1*12 + 0*6 + 1*3 + 2.
	got, err := d.Combination(18)
	if err != nil {
		t.Fatal(err)
	}
	want := Params{N: 1000, NB: 64, PMap: ColumnMajor, P: 1, Q: 6, PFact: Right, NBMin: 4, NDiv: 2, RFact: Right, Bcast: TwoRingM,
		Depth: 1, Swap: Mix, SwapThreshold: 60, L1: Transposed, U: NoTransposed, Equil: true, Align: 8, Pivots: Pivots{Kind: RandomPivots, Seed: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, k := range []int{0, 25} {
		if _, err := d.Combination(k); err == nil || !strings.Contains(err.Error(), "allowed 1 to 24") {
			t.Errorf("combination %d: %v", k, err)
		}
	}
}

func TestReadDatErrors(t *testing.T) {
	replace := func(old, to string) string {
		if strings.Count(sampleDat, old) != 1 {
			t.Fatalf("%q is not in the sample once", old)
		}
		return strings.Replace(sampleDat, old, to, 1)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "HPL.dat:1: the file ends here"},
		{"cut", sampleDat[:strings.Index(sampleDat, "16.0")], "HPL.dat:13: the file ends here"},
		{"threshold", replace("16.0 ", "foo "), `HPL.dat:13: threshold of the residual: "foo" is not a number`},
		{"long line", strings.Repeat("x", 1<<17), "HPL.dat:1: line longer than 65536 bytes"},
		{"cut at a value", sampleDat[:strings.Index(sampleDat, "60 ")], "HPL.dat:27: the file ends here, want swapping threshold"},
		{"no number", replace("1000 2000", "1000 x000"), `HPL.dat:6: N: "x000" is not an integer`},
		{"few values", replace("1000 2000    Ns", "1000"), "HPL.dat:6: N: 1 values, want 2"},
		{"comment for a value", replace("1000 2000    Ns", "1000 Ns"), `HPL.dat:6: N: "Ns" is not an integer`},
		{"order 0", replace("1000 2000", "1000 0"), "HPL.dat:6: N = 0, allowed 1 or more"},
		{"no values", replace("2            # of problems", "0 # of problems"), "HPL.dat:5: number of Ns = 0, allowed 1 or more"},
		{"many values", replace("2            # of problems", "21 # of problems"), "HPL.dat:5: number of Ns = 21, allowed 1 to 20"},
		{"no grid", replace("2 1          Ps", "2 0 Ps"), "HPL.dat:11: P = 0, allowed 1 or more"},
		{"ndiv", replace("2            NDIVs", "1 NDIVs"), "HPL.dat:19: NDIV = 1, allowed 2 or more"},
		{"depth", replace("0 1          DEPTHs", "0 -1 DEPTHs"), "HPL.dat:25: DEPTH = -1, allowed 0 or more"},
		{"broadcast", replace("3            BCASTs", "6 BCASTs"), "HPL.dat:23: BCAST = 6, allowed 0 to 5"},
		{"overflow", replace("64           NBs", "99999999999 NBs"), `HPL.dat:8: NB = 99999999999, allowed 1 to 2147483647`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ReadDat(strings.NewReader(tt.text), "HPL.dat"); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzReadDat(f *testing.F) {
	f.Add(sampleDat)
	f.Add(strings.Replace(sampleDat, "1000 2000", "1000", 1))
	f.Add("\n\n\n\n1\n9\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadDat(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, k := range []int{1, d.Combinations()} {
			p, err := d.Combination(k)
			if err != nil {
				t.Fatal(strconv.Itoa(k), err)
			}
			_ = p.Validate() // no panic, whatever the values
		}
	})
}
