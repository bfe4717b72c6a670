package hpl

import (
	"fmt"
	"io"
	"strings"
)

// WriteDat writes an HPL.dat of one run. What no HPL.dat says is left out: the build option, and where
// pivots come from.
func (p *Params) WriteDat(w io.Writer) error {
	var b strings.Builder
	line := func(value any, comment string) { fmt.Fprintf(&b, "%-12v %s\n", value, comment) }
	digit := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	b.WriteString("HPLinpack benchmark input file\nwritten by Reprise\n")
	line("HPL.out", "output file name (if any)")
	line(6, "device out (6=stdout,7=stderr,file)")
	list := func(value int, count, values string) {
		line(1, count)
		line(value, values)
	}
	list(p.N, "# of problems sizes (N)", "Ns")
	list(p.NB, "# of NBs", "NBs")
	line(int(p.PMap), "PMAP process mapping (0=Row-,1=Column-major)")
	line(1, "# of process grids (P x Q)")
	line(p.P, "Ps")
	line(p.Q, "Qs")
	line("16.0", "threshold")
	list(int(p.PFact), "# of panel fact", "PFACTs (0=left, 1=Crout, 2=Right)")
	list(p.NBMin, "# of recursive stopping criterium", "NBMINs (>= 1)")
	list(p.NDiv, "# of panels in recursion", "NDIVs")
	list(int(p.RFact), "# of recursive panel fact.", "RFACTs (0=left, 1=Crout, 2=Right)")
	list(int(p.Bcast), "# of broadcast", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)")
	list(p.Depth, "# of lookahead depth", "DEPTHs (>=0)")
	line(int(p.Swap), "SWAP (0=bin-exch,1=long,2=mix)")
	line(p.SwapThreshold, "swapping threshold")
	line(int(p.L1), "L1 in (0=transposed,1=no-transposed) form")
	line(int(p.U), "U  in (0=transposed,1=no-transposed) form")
	line(digit(p.Equil), "Equilibration (0=no,1=yes)")
	line(p.Align, "memory alignment in double (> 0)")
	_, err := io.WriteString(w, b.String())
	return err
}
