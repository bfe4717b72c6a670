// Package hpl times the kernels of HPL within its own runs, for those who link HPL themselves: a
// C file, and the flags with which the linker leads each call of a kernel through it.
//
//	os.WriteFile("hpl-kernels.c", hpl.Source(), 0o666)
//	os.WriteFile("hpl-kernels.flags", hpl.Flags(), 0o666)
//
// The program is HPL, at its sizes, on its matrix, beside its messages: what no measurement from
// outside can be sure to copy. It works for an HPL that calls BLAS by HPL's own functions
// (Fortran's interface) or, compiled with
// -DCBLAS, by CBLAS; linked by GNU ld, gold or lld from objects that were not optimised across files (no -flto).
//
// # Units
//
// Times are in seconds, less the time of a look at the clock.
//
// # Errors
//
// The C file says on stderr when a rank cannot write its table. HPL goes on.
//
// # Source
//
// The functions are those of HPL 2.0 to 2.3, of its headers hpl_blas.h, hpl_auxil.h and hpl_pauxil.h.
package hpl

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed helper/hpl-kernels.c
var source []byte

// Source returns the C file. It needs a C99 compiler and GNU's attributes.
func Source() []byte { return source }

// The functions that are timed: BLAS by either name, and HPL's own.
var (
	blas     = []string{"dgemm", "dtrsm", "dgemv", "dger", "dtrsv", "dscal", "daxpy", "dcopy", "idamax"}
	prefixes = []string{"HPL_", "cblas_"}
	moves    = []string{
		"dlacpy", "dlatcpy", "dlaswp00N", "dlaswp01N", "dlaswp01T", "dlaswp02N", "dlaswp03N", "dlaswp03T",
		"dlaswp04N", "dlaswp04T", "dlaswp05N", "dlaswp05T", "dlaswp06N", "dlaswp06T", "dlaswp10N",
	}
)

// Functions returns the names of the functions whose calls are led through the C file.
func Functions() (list []string) {
	for _, prefix := range prefixes {
		for _, name := range blas {
			list = append(list, prefix+name)
		}
	}
	for _, name := range moves {
		list = append(list, "HPL_"+name)
	}
	return list
}

// Flags returns the flags for the compiler that links HPL, a line for each function, as a file that it reads by @FILE.
func Flags() []byte {
	var b strings.Builder
	for _, name := range Functions() {
		fmt.Fprintf(&b, "-Wl,--wrap=%s\n", name)
	}
	return []byte(b.String())
}
