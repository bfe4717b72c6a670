package kernels

import (
	"errors"
	"strings"
)

// MaxDims is the largest number of dimensions that a signature may have.
const MaxDims = 4

// ErrNoModel is wrapped by the errors of Bind for a kernel that no model of
// the file covers.
var ErrNoModel = errors.New("no kernel model")

// Attr is one named property of a kernel call that is not a number: side=L,
// uplo=U, trans=N.
type Attr struct {
	Name, Value string
}

// Signature is the kind of a kernel call: its name, its attributes, and the
// names of its dimensions in the order in which a call gives their values, at
// most MaxDims.
type Signature struct {
	Name  string   // as the trace writes it: dgemm, dlaswp00N
	Attrs []Attr   // in any order, names distinct
	Dims  []string // "M", "N", "K": the order of the values
}

// String returns the signature as "dtrsm(M,N) side=L uplo=U".
func (sig Signature) String() string {
	var b strings.Builder
	b.WriteString(sig.Name + "(" + strings.Join(sig.Dims, ",") + ")")
	for _, a := range sig.Attrs {
		b.WriteString(" " + a.Name + "=" + a.Value)
	}
	return b.String()
}

// CostUnit is what a model gives the time of a kernel in.
type CostUnit uint8

// Units of models; see Set.CostUnit.
const (
	NoUnit CostUnit = iota
	Seconds
	Flop
)

// Host is where a rank runs, as far as the models can tell hosts apart.
type Host struct {
	Name  string
	Slot  int     // index of the rank among the ranks of its host, from 0
	Speed float64 // flop/s of what one rank gets; used by models in unit flop only
	// Factor is how many times as quick it is as the file says; 0 means 1.
	Factor float64
}
