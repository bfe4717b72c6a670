package hpl

import (
	"io"
	"os"
	"slices"
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

func readDat(t *testing.T, r io.Reader) *Dat {
	t.Helper()
	d := must(ReadDat(r, "HPL.dat"))
	return d
}

func combination(t *testing.T, d *Dat, k int) Params {
	t.Helper()
	p := must(d.Combination(k))
	return p
}

func TestReadDat(t *testing.T) {
	d := readDat(t, strings.NewReader(sampleDat))
	if n := d.Combinations(); n != 24 {
		t.Fatalf("%d combinations, want 2*2*2*3", n)
	}
	// HPL's loops, outermost first: grids, N, NB, depths, broadcasts, RFACT, ...
	// Combination 18 = 1 + 1*12 + 0*6 + 1*3 + 2.
	want := Params{N: 1000, NB: 64, PMap: ColumnMajor, P: 1, Q: 6, PFact: Right, NBMin: 4, NDiv: 2, RFact: Right, Bcast: TwoRingM,
		Depth: 1, Swap: Mix, SwapThreshold: 60, L1: Transposed, U: NoTransposed, Equil: true, Align: 8, Pivots: Pivots{Kind: RandomPivots, Seed: 1}}
	if diff := cmp.Diff(want, combination(t, d, 18)); diff != "" {
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
	f := must(os.Open("../../docs/theta/HPL.dat"))
	defer f.Close()
	d := readDat(t, f)
	want := DefaultParams(8360352, 32, 101)
	want.NB, want.RFact, want.Swap, want.Bcast, want.Depth = 336, Left, BinaryExchange, TwoRingM, 0
	if diff := cmp.Diff(want, combination(t, d, 1)); diff != "" || d.Combinations() != 1 {
		t.Error(d.Combinations(), diff)
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
		{"empty", "", "HPL.dat:1: the file ends here, want number of Ns"},
		{"cut behind the title", "title\n", "HPL.dat:1: the file ends here, want number of Ns"},
		{"cut", sampleDat[:strings.Index(sampleDat, "16.0")], "HPL.dat:12: the file ends here, want number of PFACTs"},
		{"blank lines", "\n\n\n\n\n", "HPL.dat:5: number of Ns: 0 values, want 1 (HPL reads what lies in memory behind the line)"},
		{"long line", strings.Repeat("x", 1<<17), `HPL.dat:1: number of Ns: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." is not an integer (HPL reads 0)`},
		{"no number", replace("1000 2000", "1000 x000"), `HPL.dat:6: N: "x000" is not an integer (HPL reads 1000 0)`},
		{"comment for a value", replace("1000 2000    Ns", "1000 Ns"), `HPL.dat:6: N: "Ns" is not an integer (HPL reads 1000 0)`},
		{"order 0", replace("1000 2000", "1000 0"), "HPL.dat:6: N = 0, allowed 1 or more"},
		{"no values", replace("2            # of problems", "0 # of problems"), "HPL.dat:5: number of Ns = 0, allowed 1 or more"},
		{"many values", replace("2            # of problems", "21 # of problems"), "HPL.dat:5: number of Ns = 21, allowed 1 to 20"},
		{"no grid", replace("2 1          Ps", "2 0 Ps"), "HPL.dat:11: P = 0, allowed 1 or more"},
		{"ndiv", replace("2            NDIVs", "1 NDIVs"), "HPL.dat:19: NDIV = 1, allowed 2 or more"},
		{"depth", replace("0 1          DEPTHs", "0 -1 DEPTHs"), "HPL.dat:25: DEPTH = -1, allowed 0 or more"},
		{"deep", replace("0 1          DEPTHs", "0 5000 DEPTHs"), "HPL.dat:25: DEPTH = 5000, allowed 0 to 4096"},
		{"no-break space", replace("1000 2000    Ns", "1000\u00a02000 Ns"), "HPL.dat:6: N: \"1000\\u00a02000\" is not an integer: the character U+00A0 in it is no blank for HPL (HPL reads 1000 0)"},
		{"overflow", replace("64           NBs", "3000000000 NBs"), `HPL.dat:8: NB: 3000000000 does not fit into the 32 bits of HPL's integers (HPL reads -1294967296)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ReadDat(strings.NewReader(tt.text), "HPL.dat"); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// TestReadDatOdd: what HPL takes, it reads as HPL does, with a warning where that is not what stands there. HPL
// takes atoi of each word, the word before where there is none, and the line before where the file has ended.
func TestReadDatOdd(t *testing.T) {
	for _, tt := range []struct{ name, old, to, par, want, warning string }{
		{"unit", "64           NBs", "64Ns", "NB", "64", ""},
		{"units", "1000 2000    Ns", "900Ns 7k Ns", "N", "900 7", ""},
		{"comma", "1000 2000    Ns", "1000, 2000 Ns", "N", "1000 2000", ""},
		{"sign", "1000 2000    Ns", "+1000 007 Ns", "N", "1000 7", ""},
		{"threshold", "16.0         threshold", "foo", "N", "1000 2000", ""},
		{"no threshold", "16.0         threshold", "", "PFACT", "2", ""},
		{"few values", "1000 2000    Ns", "1000", "N", "1000 1000", "HPL.dat:6: N: 1 values, want 2: HPL reads 1000 1000"},
		{"letters", "2            PFACTs", "right PFACTs", "PFACT", "0", `HPL.dat:15: PFACT: "right" is not an integer: HPL reads 0`},
		{"empty line", "1            PMAP process mapping (0=Row-,1=Column-major)", "", "PMAP", "0", "HPL.dat:9: PMAP: 0 values, want 1: HPL reads 64HPL.dat:9: PMAP = 64, which HPL does not know: it takes row"},
		{"mapping", "1            PMAP", "2            PMAP", "PMAP", "0", "HPL.dat:9: PMAP = 2, which HPL does not know: it takes row"},
		{"factorization", "0 1 2        RFACTs", "-1 0 7 RFACTs", "RFACT", "2 0 2", "HPL.dat:21: RFACT = -1, which HPL does not know: it takes right"},
		{"broadcast", "3            BCASTs", "6 BCASTs", "BCAST", "1", "HPL.dat:23: BCAST = 6, which HPL does not know: it takes 1ringM: 6 is a broadcast of a vendor's build, such as Intel's Psh or the MPI_Ibcast of builds for GPUs, and not known here"},
		{"broadcast 23", "3            BCASTs", "23 BCASTs", "BCAST", "1", "HPL.dat:23: BCAST = 23, which HPL does not know: it takes 1ringM"},
		{"swap", "2            SWAP", "3            SWAP", "SWAP", "1", "HPL.dat:26: SWAP = 3, which HPL does not know: it takes long"},
		{"swap threshold", "60           swapping", "-60          swapping", "swap-threshold", "0", "HPL.dat:27: swap-threshold = -60, which HPL does not know: it takes 0"},
		{"form", "1            U ", "2            U ", "U", "0", "HPL.dat:29: U = 2, which HPL does not know: it takes transposed"},
		{"equilibration", "1            Equil", "-1           Equil", "EQUIL", "1", "HPL.dat:30: EQUIL = -1, which HPL does not know: it takes yes"},
		{"alignment", "8            memory", "0            memory", "ALIGN", "4", "HPL.dat:31: ALIGN = 0, which HPL does not know: it takes 4"},
		{"overflow", "64           NBs", "99999999999 NBs", "NB", "1215752191", "HPL.dat:8: NB: 99999999999 does not fit into the 32 bits of HPL's integers: HPL reads 1215752191"}, // mod 2^32
		{"no alignment", "8            memory alignment in double (> 0)\n", "", "ALIGN", "1", ""},
		{"no equilibration", "1            Equilibration (0=no,1=yes)\n8            memory alignment in double (> 0)\n", "", "EQUIL", "1",
			"HPL.dat:29: EQUIL: the file ends before it, and the line before counts again: HPL reads 1"},
		{"no SWAP", sampleDat[strings.Index(sampleDat, "2            SWAP"):], "", "SWAP", "0", "HPL.dat:25: SWAP: the file ends before it, and the line before counts again: HPL reads 0" +
			"HPL.dat:25: swap-threshold: the file ends before it, and the line before counts again: HPL reads 0HPL.dat:25: L1: the file ends before it, and the line before counts again: HPL reads 0" +
			"HPL.dat:25: U: the file ends before it, and the line before counts again: HPL reads 0HPL.dat:25: EQUIL: the file ends before it, and the line before counts again: HPL reads 0" +
			"HPL.dat:25: ALIGN = 0, which HPL does not know: it takes 4"},
		{"no end of line", "8            memory alignment in double (> 0)\n", "8", "ALIGN", "8", ""},
		{"long line", "1            # of NBs", "1 " + strings.Repeat(" ", 251) + "2 is read as the NBs", "NB", "2", "HPL.dat:7: line of more than 252 characters: HPL takes the rest of it for the next one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(sampleDat, tt.old, tt.to, 1)
			if tt.name == "long line" { // the rest takes the place of the line behind it
				text = strings.Replace(text, "64           NBs\n", "", 1)
			}
			d, err := ReadDat(strings.NewReader(text), "HPL.dat")
			if err != nil || text == sampleDat {
				t.Fatal(err)
			}
			odd := ""
			for _, w := range d.Warnings() {
				odd += w.String()
			}
			if got := joined(d.values[tt.par]); got != tt.want || odd != tt.warning {
				t.Errorf("%s = %s, want %s; warnings %q, want %q", tt.par, got, tt.want, odd, tt.warning)
			}
		})
	}
}

// TestReadDatAsHPL: HPL moves on by the length of each value and one character, so that
// blanks which are more than one add up. The places are worked out behind each line.
func TestReadDatAsHPL(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"plain", "10 20 40 Ns", "10 20 40"},                       // looks from 0, 3, 6
		{"tabs", "10\t20\t40\tNs", "10 20 40"},                     // and takes each for a blank
		{"blanks behind", "10 20 40      Ns", "10 20 40"},          // which it does not come to
		{"one more before all", " 10 20 40 Ns", "10 20 40"},        // from 0, 3, 6: the blanks before 10, 20 and 40
		{"one more before the second", "10  20 40 Ns", "10 20 40"}, // from 0, 3, 6: the second blank, then that behind 20
		{"two more", "10   27 40 Ns", "10 27 7"},                   // 27 is at 5, and 6 is its 7
		{"in columns", "  17   20   40 Ns", "17 7 20"},             // 17 is at 2, and 3 is its 7; from 5 on comes 20
		{"small and in columns", " 1  2  4 Ns", "1 2 2"},           // 1 is at 1; from 2 on comes 2, at 4, where it looks again
		{"behind a long one", "100000     2 4 Ns", "100000 2 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(strings.Replace(sampleDat, "2            # of problems", "3 # of problems", 1), "1000 2000    Ns", tt.line, 1)
			d := must(ReadDat(strings.NewReader(text), "HPL.dat"))
			stands := joined(strings.Fields(tt.line)[:3])
			if got := joined(d.values["N"]); got != tt.want || (got != stands) != (len(d.Warnings()) == 1) {
				t.Errorf("%s, want %s; warnings %v", got, tt.want, d.Warnings())
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

// TestListsAndWriteDat: all combinations of the lists, the last fastest, are those that HPL runs, and each of them
// is the same run when it is written and read again.
func TestListsAndWriteDat(t *testing.T) {
	d := readDat(t, strings.NewReader(sampleDat))
	lists := d.Lists()
	for k := range d.Combinations() {
		want := combination(t, d, k+1)
		got, rest := DefaultParams(1, 1, 1), k
		for _, l := range slices.Backward(lists) {
			for j, text := range l.Values[rest%len(l.Values)] {
				if err := got.Set(l.Names[j], text); err != nil {
					t.Fatal(err)
				}
			}
			rest /= len(l.Values)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("combination %d (-want +got):\n%s", k+1, diff)
		}
		want.Equil = k%2 == 0
		var b strings.Builder
		if err := want.WriteDat(&b); err != nil {
			t.Fatal(err)
		}
		again := readDat(t, strings.NewReader(b.String()))
		if diff := cmp.Diff(want, combination(t, again, 1)); diff != "" || again.Combinations() != 1 {
			t.Errorf("%d combinations (-want +got):\n%s", again.Combinations(), diff)
		}
	}
}
