package capture

import (
	"cmp"
	"slices"

	"reprise/trace"
)

// kernel is a routine of BLAS, LAPACK or FFTW that the recorder knows (shim/blas.h, shim/lapack.h), with the names of
// its options and dimensions, in the order of records, and its flop as a polynomial of the dimensions.
type kernel struct {
	name    string
	options []string
	dims    []string
	flops   []trace.Term
}

// kernels are in the order of their numbers in records, behind those of procedures. They are named as in tracegen/hpl,
// so that one set of kernel models serves both. Of a transform, FFTW itself tells the flop of its plan. Without flop
// are copies and searches; those of dtrsm depend on its side (kernelTable.kernels).
var kernels = []kernel{
	{"dgemm", []string{"transa", "transb"}, []string{"M", "N", "K"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}}},
	{"dtrsm", []string{"side", "uplo", "trans", "diag"}, []string{"M", "N"}, nil},
	{"dgemv", []string{"trans"}, []string{"M", "N"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1}}}},
	{"dger", nil, []string{"M", "N"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1}}}},
	{"dtrsv", []string{"uplo", "trans", "diag"}, []string{"N"}, []trace.Term{{Coef: 1, Pow: [4]uint8{2}}}},
	{"dscal", nil, []string{"N"}, []trace.Term{{Coef: 1, Pow: [4]uint8{1}}}},
	{"daxpy", nil, []string{"N"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1}}}},
	{"dcopy", nil, []string{"N"}, nil},
	{"idamax", nil, []string{"N"}, nil},
	{"dgetrf", nil, []string{"M", "N", "K"}, factorization(1)},
	{"dpotrf", []string{"uplo"}, []string{"N"}, []trace.Term{{Coef: 1.0 / 3, Pow: [4]uint8{3}}}},
	{"dgeqrf", nil, []string{"M", "N", "K"}, factorization(2)},
	{"fftw", nil, []string{"FLOP"}, []trace.Term{{Coef: 1, Pow: [4]uint8{1}}}},
	{"fftwf", nil, []string{"FLOP"}, []trace.Term{{Coef: 1, Pow: [4]uint8{1}}}},
}

// factorization returns the flop of a factorization that in step k of K, the lesser of M and N, works on (M-k)(N-k)
// elements, with each products and as many sums for an element: to the leading order
// 2 (MNK - (M+N) K^2/2 + K^3/3) times each (Golub and Van Loan, Matrix Computations, sections 3.2 and 5.2).
func factorization(each float64) []trace.Term {
	return []trace.Term{
		{Coef: 2 * each, Pow: [4]uint8{1, 1, 1}}, {Coef: -each, Pow: [4]uint8{1, 0, 2}}, {Coef: -each,
			Pow: [4]uint8{0, 1, 2}},
		{Coef: each * 2 / 3, Pow: [4]uint8{0, 0, 3}},
	}
}

// used is a kernel with options, a letter each: the trace has a kernel of its own for each set of options, as their
// costs differ.
type used struct {
	number  int
	options string
}

// kernelCall is a call of a kernel with its dimensions.
type kernelCall struct {
	used
	dims [4]int64
}

// kernel reads a call of a kernel.
func (s *stream) kernel(e *event, number int) {
	k := &kernels[number]
	e.kernel.number = number
	letters := make([]byte, len(k.options))
	for i := range letters {
		letters[i] = byte(s.number(127))
		if letters[i] < 'A' || letters[i] > 'Z' {
			s.fail("%s %s %q", k.name, k.options[i], letters[i])
		}
	}
	e.kernel.options = string(letters)
	e.kernel.dims = [4]int64{}
	for i := range k.dims {
		e.kernel.dims[i] = s.number(mostCount)
	}
}

// kernelTable numbers the kernels that the ranks call.
type kernelTable struct {
	list []used
	of   map[used]int32
}

// newKernelTable numbers the kernels of all ranks in the order of their numbers in records and their options, so that
// the trace does not depend on which rank calls what first.
func newKernelTable(surveys []*survey) *kernelTable {
	t := &kernelTable{of: map[used]int32{}}
	for _, v := range surveys {
		for u := range v.kernels {
			if _, ok := t.of[u]; !ok {
				t.of[u] = 0
				t.list = append(t.list, u)
			}
		}
	}
	slices.SortFunc(t.list, func(a, b used) int { return cmp.Or(a.number-b.number, cmp.Compare(a.options, b.options)) })
	for i, u := range t.list {
		t.of[u] = int32(i)
	}
	return t
}

// kernels returns them for the header.
func (t *kernelTable) kernels() (list []trace.Kernel) {
	for _, u := range t.list {
		k := &kernels[u.number]
		out := trace.Kernel{Name: k.name, Flops: k.flops}
		for i, name := range k.options {
			out.Attrs = append(out.Attrs, trace.Param{Name: name, Value: u.options[i : i+1]})
		}
		for _, name := range k.dims {
			out.Dims = append(out.Dims, trace.Dim{Name: name})
		}
		if k.name == "dtrsm" { // the triangle is M by M on the left, N by N on the right
			powers := [4]uint8{2, 1}
			if u.options[0] == 'R' {
				powers = [4]uint8{1, 2}
			}
			out.Flops = []trace.Term{{Coef: 1, Pow: powers}}
		}
		list = append(list, out)
	}
	return list
}
