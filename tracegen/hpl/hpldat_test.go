package hpl

import (
	"os"
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

// TestTheta: the file of the documentation is the published configuration of Theta's run, and
// for the rest what the command has by default.
func TestTheta(t *testing.T) {
	f, err := os.Open("../../docs/theta/HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := ReadDat(f, "HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Combination(1)
	if err != nil || d.Combinations() != 1 {
		t.Fatal(d.Combinations(), err)
	}
	want := DefaultParams(8360352, 32, 101)
	want.NB, want.RFact, want.Swap, want.Bcast, want.Depth = 336, Left, BinaryExchange, TwoRingM, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
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
		{"long line", strings.Repeat("x", 1<<17), "HPL.dat:1: line of more than 252 characters: HPL takes the first 253 for this line and the rest for the next one: shorten it"},
		{"cut at a value", sampleDat[:strings.Index(sampleDat, "60 ")], "HPL.dat:27: the file ends here, want swap-threshold"},
		{"no number", replace("1000 2000", "1000 x000"), `HPL.dat:6: N: "x000" is not an integer (HPL reads 1000 0)`},
		{"few values", replace("1000 2000    Ns", "1000"), "HPL.dat:6: N: 1 values, want 2 (HPL reads 1000 1000)"},
		{"comment for a value", replace("1000 2000    Ns", "1000 Ns"), `HPL.dat:6: N: "Ns" is not an integer (HPL reads 1000 0)`},
		{"order 0", replace("1000 2000", "1000 0"), "HPL.dat:6: N = 0, allowed 1 or more"},
		{"no values", replace("2            # of problems", "0 # of problems"), "HPL.dat:5: number of Ns = 0, allowed 1 or more"},
		{"many values", replace("2            # of problems", "21 # of problems"), "HPL.dat:5: number of Ns = 21, allowed 1 to 20"},
		{"no grid", replace("2 1          Ps", "2 0 Ps"), "HPL.dat:11: P = 0, allowed 1 or more"},
		{"ndiv", replace("2            NDIVs", "1 NDIVs"), "HPL.dat:19: NDIV = 1, allowed 2 or more"},
		{"depth", replace("0 1          DEPTHs", "0 -1 DEPTHs"), "HPL.dat:25: DEPTH = -1, allowed 0 or more"},
		{"broadcast", replace("3            BCASTs", "6 BCASTs"), "HPL.dat:23: BCAST = 6, allowed 0 to 5: 6 is a broadcast of a vendor's build, such as Intel's Psh or the MPI_Ibcast of builds for GPUs, and not known here; HPL 2.3 would take 1ringM (1)"},
		{"comma", replace("1000 2000    Ns", "1000, 2000 Ns"), `HPL.dat:6: N: "1000," is not an integer (HPL reads 1000 2000)`},
		{"no-break space", replace("1000 2000    Ns", "1000\u00a02000 Ns"), "HPL.dat:6: N: \"1000\\u00a02000\" is not an integer: the character U+00A0 in it is no blank for HPL (HPL reads 1000 0)"},
		{"empty line", replace("1            PMAP process mapping (0=Row-,1=Column-major)", ""), "HPL.dat:9: PMAP: 0 values, want 1 (HPL reads 64)"},
		{"broadcast 23", replace("3            BCASTs", "23 BCASTs"), "HPL.dat:23: BCAST = 23, allowed 0 to 5"},
		{"overflow", replace("64           NBs", "99999999999 NBs"), `HPL.dat:8: NB = 99999999999, allowed 1 to 2147483647 (HPL reads 1215752191)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ReadDat(strings.NewReader(tt.text), "HPL.dat"); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// TestReadDatAsHPL: HPL moves on by the length of each value and one character, so that
// blanks which are more than one add up. The places are worked out behind each line.
func TestReadDatAsHPL(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"plain", "10 20 40 Ns", ""},                       // looks from 0, 3, 6
		{"tabs", "10\t20\t40\tNs", ""},                     // and takes each for a blank
		{"blanks behind", "10 20 40      Ns", ""},          // which it does not come to
		{"one more before all", " 10 20 40 Ns", ""},        // from 0, 3, 6: the blanks before 10, 20 and 40
		{"one more before the second", "10  20 40 Ns", ""}, // from 0, 3, 6: the second blank, then that behind 20
		{"two more", "10   20 40 Ns", "10 20 0"},           // 20 is at 5, and 6 is its 0
		{"in columns", "  10   20   40 Ns", "10 0 20"},     // 10 is at 2, and 3 is its 0; from 5 on comes 20
		{"small and in columns", " 1  2  4 Ns", "1 2 2"},   // 1 is at 1; from 2 on comes 2, at 4, where it looks again
		{"behind a long one", "100000     2 4 Ns", "100000 2 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(strings.Replace(sampleDat, "2            # of problems", "3 # of problems", 1), "1000 2000    Ns", tt.line, 1)
			_, err := ReadDat(strings.NewReader(text), "HPL.dat")
			switch want := "HPL.dat:6: N: HPL reads " + tt.want + ", not "; {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
				t.Errorf("%v, want %s...", err, want)
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

// TestLists: all combinations of the lists, the last fastest, are those that HPL runs.
func TestLists(t *testing.T) {
	d, err := ReadDat(strings.NewReader(sampleDat), "HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	lists := d.Lists()
	for k := range d.Combinations() {
		want, err := d.Combination(k + 1)
		if err != nil {
			t.Fatal(err)
		}
		got, rest := DefaultParams(1, 1, 1), k
		for i := len(lists) - 1; i >= 0; i-- {
			l := &lists[i]
			for j, text := range l.Values[rest%len(l.Values)] {
				if err := got.Set(l.Names[j], text); err != nil {
					t.Fatal(err)
				}
			}
			rest /= len(l.Values)
		}
		if !cmp.Equal(got, want) {
			t.Fatalf("combination %d: %+v, want %+v", k+1, got, want)
		}
	}
}
