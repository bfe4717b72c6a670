package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// polynomial is a model of dgemm: seconds of M*N*K, M*N, M*K and N*K and of a call.
type polynomial [5]float64

var products = [5]string{"M*N*K", "M*N", "M*K", "N*K", "1"}

// terms writes a polynomial as in a kernel file, without zeros.
func (p polynomial) terms() string {
	var list []string
	for i, coefficient := range p {
		if coefficient != 0 {
			list = append(list, products[i]+": "+exact(coefficient))
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// processor is a CPU of a host with a dgemm model of its own: the mean, and the standard
// deviation of the noise, which is a half-normal variable shifted to mean 0.
type processor struct {
	host, cpu       int
	mean, deviation polynomial
}

// dgemm writes the model as in a kernel file. Empty calls are charged, as the published
// simulations did.
func (p processor) dgemm(noisy bool) string {
	noise := ""
	if noisy && p.deviation != (polynomial{}) {
		noise = ", noise: {half-normal: " + p.deviation.terms() + "}"
	}
	return "{empty: charged, terms: " + p.mean.terms() + noise + "}"
}

// machineKernels are the kernel models of a machine.
type machineKernels struct {
	all         processor   // any that has no model of its own
	processors  []processor // that have one
	cpusPerHost int
	others      otherKernels
	noisyGemm   bool // dgemm has noise
	noisyOthers bool // all others have
}

// yaml writes the models as a kernel file for hosts node-0, node-1, ...
func (m machineKernels) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nunit: s\ncpus_per_host: %d\nkernels:\n  dgemm: %s\n", m.cpusPerHost, m.all.dgemm(m.noisyGemm))
	m.others.write(&b, m.noisyOthers)
	if len(m.processors) > 0 {
		b.WriteString("hosts:\n")
	}
	for _, p := range m.processors {
		fmt.Fprintf(&b, "  - {host: \"node-[%d]\", cpu: %d, kernels: {dgemm: %s}}\n", p.host, p.cpu, p.dgemm(m.noisyGemm))
	}
	return b.String()
}

// otherKernels are the models of all kernels but dgemm, by their published names.
type otherKernels map[string]coefficient

// coefficient is seconds per unit of the size, or of a call, and the deviation of its noise.
type coefficient struct{ mean, deviation float64 }

// without returns the models without some kernels, which cost nothing then.
func (o otherKernels) without(kernels ...string) otherKernels {
	m := maps.Clone(o)
	for _, name := range kernels {
		delete(m, name)
	}
	return m
}

// minimal returns the models without swaps and copies.
func (o otherKernels) minimal() otherKernels {
	return o.without("HPL_dlaswp01T", "HPL_dlaswp02N", "HPL_dlaswp03T", "HPL_dlaswp04T", "HPL_dlacpy", "HPL_dlatcpy")
}

// charges are the products of the published coefficients, each behind the calls that it is of, in the order of the file. dgemv is as
// simulated: a macro multiplied M by N without brackets, and the factorization calls it with kk+1
// columns, so that the size is M*kk + 1, or 1 with NBMIN = 2 (docs/deviations.md, 16).
var charges = []struct {
	kernel, name string
	pieces       [][2]string
}{
	{"dtrsm", "dtrsm", [][2]string{{"when: {side: L}, ", "M^2*N"}, {"when: {side: R}, ", "M*N^2"}}},
	{"dgemv", "dgemv", [][2]string{{"if: N > 1, ", "M*N"}, {"", "1"}}},
	{"dtrsv", "dtrsv", [][2]string{{"empty: charged, ", "1"}}},
	{"dscal", "dscal", [][2]string{{"", "N"}}},
	{"daxpy", "daxpy", [][2]string{{"empty: charged, ", "1"}}},
	{"idamax", "idamax", [][2]string{{"", "N"}}},
	{"dlaswp01T", "HPL_dlaswp01T", [][2]string{{"", "M*N"}}},
	{"dlaswp02N", "HPL_dlaswp02N", [][2]string{{"", "M*N"}}},
	{"dlaswp03T", "HPL_dlaswp03T", [][2]string{{"", "M*N"}}},
	{"dlaswp04T", "HPL_dlaswp04T", [][2]string{{"", "M1*N"}}},
	{"dlacpy", "HPL_dlacpy", [][2]string{{"", "M*N"}}},
	{"dlatcpy", "HPL_dlatcpy", [][2]string{{"", "M*N"}}},
}

// free are kernels that cost nothing; a pattern covers kernels without a model.
var free = []string{"dger", "dcopy", "dswap", "dlocmax", "dlocswp*", "dlaswp*", "dla*cpy", "dtrsv", "dgemv", "dscal", "daxpy", "idamax"}

func (o otherKernels) write(b *strings.Builder, noisy bool) {
	var written []string
	for _, c := range charges {
		x, ok := o[c.name]
		if !ok {
			continue
		}
		written = append(written, c.kernel)
		indent := " "
		if len(c.pieces) > 1 {
			indent = "\n    - "
		}
		fmt.Fprintf(b, "  %s:", c.kernel)
		for _, p := range c.pieces {
			fmt.Fprintf(b, "%s{%sterms: {%s: %s}", indent, p[0], p[1], exact(x.mean))
			if noisy {
				fmt.Fprintf(b, ", noise: {half-normal: {%s: %s}}", p[1], exact(x.deviation))
			}
			b.WriteString("}")
		}
		b.WriteString("\n")
	}
	for _, name := range free {
		if !slices.Contains(written, name) {
			fmt.Fprintf(b, "  %s: free\n", name)
		}
	}
}

// polynomial reads the coefficients of a row.
func (r row) polynomial(prefix string) polynomial {
	var p polynomial
	for i, name := range []string{"mnk", "mn", "mk", "nk", "intercept"} {
		p[i] = r.number(prefix + name)
	}
	return p
}

// gemms reads dgemm models of a set of a file; one without a processor is of all.
func (d *data) gemms(file, set string) machineKernels {
	m := machineKernels{cpusPerHost: 2}
	for _, r := range d.rows(file, "cpu_id", "mu_mnk", "mu_intercept", "sigma_mnk") {
		if r.text("model") != set {
			continue
		}
		p := processor{mean: r.polynomial("mu_"), deviation: r.polynomial("sigma_")}
		var id int
		if _, err := fmt.Sscan(r.text("cpu_id"), &id); err != nil {
			m.all = p
			continue
		}
		p.host, p.cpu = id/2, id%2
		m.processors = append(m.processors, p)
	}
	if m.all.mean == (polynomial{}) && len(m.processors) == 0 {
		d.fail(fmt.Errorf("%s: no dgemm model %q", file, set))
	}
	return m
}

// dahuOthers reads Dahu's models of all kernels but dgemm.
func (d *data) dahuOthers() otherKernels {
	var file struct {
		Kernels []struct {
			Kernel, Form string
			Mean, SD     float64
		}
	}
	d.document("dahu/kernels.json", &file)
	o := otherKernels{}
	for _, k := range file.Kernels {
		switch k.Form {
		case "coef*size", "constant":
			o[k.Kernel] = coefficient{k.Mean, k.SD}
		case "zero":
		default:
			d.fail(fmt.Errorf("kernel %s: unknown form %q", k.Kernel, k.Form))
		}
	}
	return o
}
