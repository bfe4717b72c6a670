// Package kernels says how long computations take: it maps a kernel (dgemm,
// dtrsm, a copy), its dimensions and the host it runs on to seconds.
//
// The models live in a YAML file ("kernel file", specified in docs/kernels.md)
// that is parsed once into a [Set]. A rank that is mapped to a host then binds
// each kernel of its trace once,
//
//	set, err := kernels.Load("machine.yaml") // or kernels.Builtin("dahu")
//	m, err := set.Bind(kernels.Host{Name: "dahu-3", Slot: 1, Speed: 32e9},
//		kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}})
//	t := m.Seconds(&[4]int64{1024, 512, 128})
//
// and asks the bound [Model] for every call. A model is a list of pieces, the
// first of which whose thresholds hold gives the time as a polynomial in the
// dimensions. Binding resolves names, attributes, hosts and units, so that
// evaluating is a few multiplications.
//
// A kernel that no model covers is an error ([ErrNoModel]), never a silent
// zero: what costs nothing is declared free in the file. The package knows
// neither traces nor programs; the vocabulary of kernels and dimensions is
// whatever the caller's signatures say.
//
// Models may have noise (package noise): Seconds is then the time without it, and
// Draw the time of one call, given the random bits of that call.
//
// # Units
//
// Models are in seconds, or in flop at the speed of a core, which is in flop/s; dimensions
// are numbers of elements.
//
// # Errors
//
// Errors of a file have the line. [ErrNoModel] names the kernel and what to add to the
// file.
//
// # Source
//
// Files of one's own come from calibrate kernels; where the built-in sets come from stands in
// their files, and in docs/kernels.md.
package kernels
