package measure

import (
	"slices"
	"strings"
)

// shape is what a run's part of a process looks like: its kernels are timed in it.
type shape struct {
	rows, columns int64 // of the matrix; rows are its leading dimension
	nb            int64 // columns of a panel
	inPlace       bool  // rows are swapped in the matrix: the run has one process row
	wholeRows     bool  // a panel stays in the matrix: the run has one process column
}

// nearlyWhole is the part of the rows that a process has for sure, where the run has one process column: sizes of blocks do not divide.
const nearlyWhole = 0.9

// shape returns that of a run whose calls were added to r.
func (r *RunCalls) shape() shape {
	s := shape{nb: 1, inPlace: true}
	r.eachTimed(func(k *Kernel, d [4]int64) {
		if k.Name == "dgemm" {
			s.nb = max(s.nb, d[2])
		}
		s.inPlace = s.inPlace && !strings.HasPrefix(k.Name, "dlaswp01") && !strings.HasPrefix(k.Name, "dlaswp06")
	})
	r.eachTimed(func(k *Kernel, d [4]int64) {
		n := forms[k.Name].needs(k, &d, s.nb)
		s.rows, s.columns = max(s.rows, n.rows), max(s.columns, n.columns)
	})
	// Of N rows and columns on P x Q ranks a process has N/P and N/Q: their ratio is P/Q, which is P*Q where Q is 1.
	s.wholeRows = r.Ranks > 0 && float64(s.columns) >= nearlyWhole*float64(s.rows)*float64(r.Ranks)
	return s
}

func (r *RunCalls) eachTimed(f func(k *Kernel, d [4]int64)) {
	for _, k := range r.kernels {
		for d := range k.calls {
			if k.kernel.isHPL() {
				f(&k.kernel, d)
			}
		}
	}
}

// limit makes the matrix one of at most so many elements, and panels of at most so many columns.
func (s *shape) limit(elements, nb int64) {
	s.nb = min(s.nb, nb)
	s.rows = min(s.rows, elements/(2*s.nb+2))
	if s.rows = (s.rows + 7) / 8 * 8; s.rows&(s.rows-1) == 0 { // HPL avoids powers of two
		s.rows += 8
	}
	s.columns = max(2*s.nb+1, min(s.columns, elements/s.rows))
}

// hasRoom reports whether there is room for a call, which may have so many elements of work space.
func (s *shape) hasRoom(k *Kernel, d *[4]int64, work int64) bool {
	n := forms[k.Name].needs(k, d, s.nb)
	return n.rows <= s.rows && n.columns <= s.columns && n.order <= s.nb && n.work <= work
}

// largest returns the shape with the largest matrix.
func (p *Plan) largest() *shape {
	at := 0
	for i := range p.shapes {
		if p.shapes[i].rows*p.shapes[i].columns > p.shapes[at].rows*p.shapes[at].columns {
			at = i
		}
	}
	return &p.shapes[at]
}

// panels returns the different widths of panels.
func (p *Plan) panels() (list []int64) {
	for i := range p.shapes {
		list = append(list, p.shapes[i].nb)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
