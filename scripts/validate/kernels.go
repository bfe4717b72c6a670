package main

import (
	"fmt"
	"maps"
	"strings"
)

// polynomial is a model of dgemm: seconds of M*N*K, M*N, M*K and N*K and of a call.
type polynomial struct{ mnk, mn, mk, nk, intercept float64 }

// gemm is a dgemm model of a processor: the mean, and the standard deviation of the
// noise, which is a half-normal variable shifted to mean 0.
type gemm struct{ mean, deviation polynomial }

// terms writes a polynomial as in a kernel file, without what is zero.
func (p polynomial) terms() string {
	var list []string
	for _, t := range []struct {
		product     string
		coefficient float64
	}{{"M*N*K", p.mnk}, {"M*N", p.mn}, {"M*K", p.mk}, {"N*K", p.nk}, {"1", p.intercept}} {
		if t.coefficient != 0 {
			list = append(list, t.product+": "+exact(t.coefficient))
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func (g gemm) times(x float64) gemm { return gemm{g.mean.times(x), g.deviation.times(x)} }

// ofBlocks returns the model of dgemm with another K. Its noise grows as its work does.
func (g gemm) ofBlocks(x blockRatio) gemm {
	p := g.mean
	return gemm{polynomial{x.work * p.mnk, x.work * p.mn, x.mk * p.mk, x.nk * p.nk, p.intercept}, g.deviation.times(x.work)}
}

func (p polynomial) times(x float64) polynomial {
	return polynomial{x * p.mnk, x * p.mn, x * p.mk, x * p.nk, x * p.intercept}
}

func (p polynomial) plus(q polynomial) polynomial {
	return polynomial{p.mnk + q.mnk, p.mn + q.mn, p.mk + q.mk, p.nk + q.nk, p.intercept + q.intercept}
}

// piece writes the model as in a kernel file. Empty calls are charged, as the
// published simulations did.
func (g gemm) piece(noisy bool) string {
	noise := ""
	if noisy && g.deviation != (polynomial{}) {
		noise = ", noise: {half-normal: " + g.deviation.terms() + "}"
	}
	return "{empty: charged, terms: " + g.mean.terms() + noise + "}"
}

// processor is a CPU of a host with a dgemm model of its own.
type processor struct {
	host, cpu int
	gemm
}

// id returns the number of the processor in the published data.
func (p processor) id() int { return 2*p.host + p.cpu }

func (p processor) same(q processor) bool { return p.host == q.host && p.cpu == q.cpu }

// machineKernels are the kernel models of a machine.
type machineKernels struct {
	gemm        gemm // of all processors that have none of their own
	processors  []processor
	cpusPerHost int
	others      otherKernels
	noisyGemm   bool // dgemm has noise
	noisyOthers bool // all others have
}

// yaml writes the models as a kernel file for hosts that are numbered node-0,
// node-1, ...
func (m machineKernels) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nunit: s\ncpus_per_host: %d\nkernels:\n  dgemm: %s\n", m.cpusPerHost, m.gemm.piece(m.noisyGemm))
	m.others.write(&b, m.noisyOthers)
	if len(m.processors) > 0 {
		b.WriteString("hosts:\n")
	}
	for _, p := range m.processors {
		fmt.Fprintf(&b, "  - {host: \"node-[%d]\", cpu: %d, kernels: {dgemm: %s}}\n", p.host, p.cpu, p.piece(m.noisyGemm))
	}
	return b.String()
}

// otherKernels are the models of all kernels but dgemm, by their published names.
type otherKernels map[string]coefficient

// coefficient is seconds per unit of the size, or of a call.
type coefficient struct{ mean, deviation float64 }

// swaps are the kernels that the minimal variant leaves out.
var swaps = []string{"HPL_dlaswp01T", "HPL_dlaswp02N", "HPL_dlaswp03T", "HPL_dlaswp04T", "HPL_dlacpy", "HPL_dlatcpy"}

// minimal returns the models without swaps and copies.
func (o otherKernels) minimal() otherKernels { return o.without(swaps...) }

// without returns the models without those of some kernels, which cost nothing then.
func (o otherKernels) without(kernels ...string) otherKernels {
	m := maps.Clone(o)
	for _, name := range kernels {
		delete(m, name)
	}
	return m
}

// charge is a piece of a model: a published coefficient times a product.
type charge struct{ when, product string }

// sizes are the products that the published coefficients are of, in the order of
// the file.
var sizes = []struct {
	kernel, name string
	pieces       []charge
}{
	{"dgemv", "dgemv", pastBrackets},
	{"dtrsv", "dtrsv", []charge{{"empty: charged, ", "1"}}},
	{"dscal", "dscal", []charge{{"", "N"}}},
	{"daxpy", "daxpy", []charge{{"empty: charged, ", "1"}}},
	{"idamax", "idamax", []charge{{"", "N"}}},
	{"dlaswp01T", "HPL_dlaswp01T", []charge{{"", "M*N"}}},
	{"dlaswp02N", "HPL_dlaswp02N", []charge{{"", "M*N"}}},
	{"dlaswp03T", "HPL_dlaswp03T", []charge{{"", "M*N"}}},
	{"dlaswp04T", "HPL_dlaswp04T", []charge{{"", "M1*N"}}},
	{"dlacpy", "HPL_dlacpy", []charge{{"", "M*N"}}},
	{"dlatcpy", "HPL_dlatcpy", []charge{{"", "M*N"}}},
}

// pastBrackets is dgemv as simulated: the macro multiplies M by N without brackets,
// and the factorization calls it with kk+1 columns, so that the size is M*kk + 1; with
// NBMIN = 2, where kk = 0 in all such calls, 1 (docs/deviations.md, 16).
var pastBrackets = []charge{{"if: N > 1, ", "M*N"}, {"", "1"}}

// free are kernels that cost nothing; a pattern covers what has no model by its name.
var free = []string{"dger", "dcopy", "dswap", "dlocmax", "dlocswp*", "dlaswp*", "dla*cpy", "dtrsv", "dgemv", "dscal", "daxpy", "idamax"}

func (o otherKernels) write(b *strings.Builder, noisy bool) {
	written := map[string]bool{}
	if c, ok := o["dtrsm"]; ok {
		fmt.Fprintf(b, "  dtrsm:\n    - {when: {side: L}, %s}\n    - {when: {side: R}, %s}\n", c.piece("M^2*N", noisy), c.piece("M*N^2", noisy))
	}
	for _, s := range sizes {
		c, ok := o[s.name]
		if !ok {
			continue
		}
		indent := " "
		if len(s.pieces) > 1 {
			indent = "\n    - "
		}
		fmt.Fprintf(b, "  %s:", s.kernel)
		for _, p := range s.pieces {
			fmt.Fprintf(b, "%s{%s%s}", indent, p.when, c.piece(p.product, noisy))
		}
		b.WriteString("\n")
		written[s.kernel] = true
	}
	for _, name := range free {
		if !written[name] {
			fmt.Fprintf(b, "  %s: free\n", name)
		}
	}
}

// piece writes the coefficient as in a kernel file.
func (c coefficient) piece(product string, noisy bool) string {
	text := fmt.Sprintf("terms: {%s: %s}", product, exact(c.mean))
	if noisy {
		text += fmt.Sprintf(", noise: {half-normal: {%s: %s}}", product, exact(c.deviation))
	}
	return text
}
