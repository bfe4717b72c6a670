package kernels_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"reprise/kernels"
)

// TestDahuCPUs checks rows of the published table of dgemm models: the CPU is
// 2*h + slot mod 2 on host h, and host 0, which has no row, takes the default.
func TestDahuCPUs(t *testing.T) {
	s := builtin("dahu")
	const M, N, K = 1000, 200, 128
	poly := func(mnk, mn, mk, nk, one float64) float64 {
		return mnk*M*N*K + mn*M*N + mk*M*K + nk*N*K + one
	}
	tests := []struct {
		host string
		slot int
		want float64
	}{
		{"dahu-0", 0, poly(6.864500e-11, -1.793648e-10, 1.604311e-09, 2.922754e-09, 5.249134e-07)},
		{"dahu-0", 31, poly(6.864500e-11, -1.793648e-10, 1.604311e-09, 2.922754e-09, 5.249134e-07)},
		{"dahu-1", 0, poly(7.160371e-11, -5.740287e-10, 1.361118e-09, 2.524071e-09, 5.393244e-07)},
		{"dahu-1", 1, poly(6.812406e-11, -1.334303e-10, 1.660894e-09, 2.965415e-09, 5.228051e-07)},
		{"dahu-1.grid5000.fr", 30, poly(7.160371e-11, -5.740287e-10, 1.361118e-09, 2.524071e-09, 5.393244e-07)},
		{"dahu-11", 2, poly(6.781534e-11, -1.004866e-10, 1.643766e-09, 2.990651e-09, 5.092075e-07)},
		{"dahu-13", 0, poly(7.920080e-11, -4.312371e-10, 1.570852e-09, 2.897047e-09, 5.854250e-07)},
		{"dahu-15", 31, poly(8.384803e-11, -4.844474e-10, 1.822356e-09, 3.099135e-09, 6.049290e-07)},
		{"dahu-31", 31, poly(6.802131e-11, -9.089474e-11, 1.650291e-09, 2.961259e-09, 5.203696e-07)},
		{"dahu-32", 0, poly(6.761471e-11, -4.793847e-11, 1.653379e-09, 3.015021e-09, 5.231576e-07)},
		{"dahu-33", 0, poly(6.864500e-11, -1.793648e-10, 1.604311e-09, 2.922754e-09, 5.249134e-07)},
	}
	for _, tt := range tests {
		m := bind(s, kernels.Host{Name: tt.host, Slot: tt.slot}, hpl["dgemm"])
		takes(t, m, [4]int64{M, N, K}, tt.want, rounding, tt.host, tt.slot)
	}
}

// TestHosts checks which override counts.
func TestHosts(t *testing.T) {
	s := parseFile(header + `
  k: 1
  l: 2
cpus_per_host: 2
hosts:
  - {host: node-7, kernels: {k: 10}}
  - {host: "node-[1-3,7,20-29].*", cpu: 1, kernels: {k: 20}}
  - {host: "node-[1-3,7,20-29]*", kernels: {"*": 30}}
  - {host: "*.lab", kernels: {k: 40}}
  - {host: "*-*-[5]x*", kernels: {k: 50}}
`)
	tests := []struct {
		host   string
		slot   int
		k, l   float64
		reason string
	}{
		{"node-4", 0, 1, 2, "no override"},
		{"node-7", 0, 10, 30, "exact name; another kernel of a later pattern"},
		{"node-7", 1, 10, 30, "the first of two"},
		{"node-7.x", 0, 30, 30, "not this CPU"},
		{"node-7.x", 3, 20, 30, "slot 3 is on CPU 1 of 2"},
		{"node-007.x", 1, 20, 30, "leading zeros"},
		{"node-10", 0, 1, 2, "not number 1 followed by a 0"},
		{"node-70", 0, 1, 2, "not number 7 followed by a 0"},
		{"node-25", 0, 30, 30, "within a range"},
		{"node-30.lab", 0, 40, 2, "suffix"},
		{"node-2.lab", 0, 30, 30, "the first of two patterns"},
		{"a-b-5x", 0, 50, 2, "two stars"},
		{"a-5x-b-5xy", 0, 50, 2, "a star that must take more than it first can"},
		{"a-b-55x", 0, 1, 2, "number 55 is not 5"},
		{"node-99999999999999999999", 0, 1, 2, "a number over 64 bits"},
		{"", 0, 1, 2, "no name"},
	}
	for _, tt := range tests {
		h := kernels.Host{Name: tt.host, Slot: tt.slot}
		for name, want := range map[string]float64{"k": tt.k, "l": tt.l} {
			takes(t, bind(s, h, sig(name, "", "M")), [4]int64{1}, want, 0, name, tt.host, tt.slot, tt.reason)
		}
	}
}

// TestPrecedence: exact names, then the pattern with more characters of its
// own, wherever they stand in the file; a model that is not for the attributes
// leaves the call to the next one.
func TestPrecedence(t *testing.T) {
	s := parse(`"*": 1`, "dlaswp*: 2", "dlaswp04*: 3", "dlaswp04T: 4", "dtrsm: [{when: {side: L}, terms: {1: 5}}]",
		"dl*: 6", `"*py": 7`, "d*rsv: [{when: {uplo: U, trans: N}, terms: {1: 8}}, {when: {uplo: U}, terms: {1: 9}}]")
	for kernel, want := range map[string]float64{
		"dger": 1, "dlaswp00N": 2, "dlaswp04N": 3, "dlaswp04T": 4, "dtrsm/L": 5, "dtrsm/R": 1, "dlocmax": 6, "dcopy": 7, "dtrsv": 8,
	} {
		m := bind(s, kernels.Host{}, hpl[kernel])
		takes(t, m, [4]int64{1, 1, 1}, want, 0, kernel)
	}
	m := bind(s, kernels.Host{}, sig("dtrsv", "trans=T uplo=U", "N"))
	takes(t, m, [4]int64{1}, 9, 0)
}

// TestAlone: models of four ranks on a host, of which one alone takes 70 % of the time: two and three take 80 and 90 %.
func TestAlone(t *testing.T) {
	s := parseFile("alone: {ranks: 4, time: 70%}\n" + header + "  k: 10\n")
	for ranks, want := range map[int]float64{0: 10, 1: 7, 2: 8, 3: 9, 4: 10, 8: 10} {
		takes(t, bind(s, kernels.Host{Ranks: ranks}, sig("k", "", "M")), [4]int64{1}, want, rounding, ranks)
		takes(t, bind(s.Quicker("other", 2), kernels.Host{Ranks: ranks}, sig("k", "", "M")), [4]int64{1}, want, rounding, ranks, "in a set derived from it")
	}
}

func TestBindErrors(t *testing.T) {
	tests := []struct {
		name, file string
		host       kernels.Host
		sig        kernels.Signature
		want       string
		noModel    bool
	}{
		{"unknown kernel", "k: 1", kernels.Host{}, hpl["dgemm"],
			`test.yaml: no kernel model for dgemm(M,N,K) transa=N transb=T: add under kernels "dgemm: {terms: {M*N*K: COEFFICIENT}}", or "dgemm: free" if it costs nothing`, true},
		{"no dimensions", "k: 1", kernels.Host{}, sig("l", ""),
			`test.yaml: no kernel model for l(): add under kernels "l: {terms: {1: COEFFICIENT}}", or "l: free" if it costs nothing`, true},
		{"other attributes", "dtrsm: [{when: {side: L}, terms: {1: 5}}]", kernels.Host{}, hpl["dtrsm/R"],
			`test.yaml: no kernel model for dtrsm(M,N) side=R uplo=U trans=N diag=U: add`, true},
		{"unknown attribute", "dtrsm: [{when: {sied: L}, terms: {1: 5}}, {terms: {1: 1}}]", kernels.Host{}, hpl["dtrsm/R"],
			`test.yaml:4: kernel dtrsm(M,N) side=R uplo=U trans=N diag=U: when: no attribute "sied"`, false},
		{"unknown dimension", "dtrsm: {terms: {M*K: 1}}", kernels.Host{}, hpl["dtrsm/R"],
			`test.yaml:4: kernel dtrsm(M,N) side=R uplo=U trans=N diag=U: no dimension "K": want one of M, N`, false},
		{"unknown dimension in a pattern", "dlaswp*: {terms: {M*N: 1}}", kernels.Host{}, hpl["dlaswp04T"],
			`test.yaml:4: kernel dlaswp04T(M0,M1,N): no dimension "M": want one of M0, M1, N`, false},
		{"unknown dimension in if", "dger: [{if: K > 1, free: true}, {terms: {1: 1}}]", kernels.Host{}, hpl["dger"],
			`test.yaml:4: kernel dger(M,N): no dimension "K": want one of M, N`, false},
		{"unknown dimension in empty", "dger: {empty: [K], terms: {1: 1}}", kernels.Host{}, hpl["dger"],
			`test.yaml:4: kernel dger(M,N): empty: no dimension "K": want one of M, N`, false},
		{"open end for an attribute", "dtrsm: [{when: {side: R}, if: M > 1, free: true}, {when: {side: L}, free: true}]", kernels.Host{}, hpl["dtrsm/R"],
			`test.yaml:4: kernel dtrsm(M,N) side=R uplo=U trans=N diag=U: every piece for these attributes has thresholds: no time for other dimensions`, false},
		{"unknown dimension in noise", "k: {terms: {M: 1}, noise: {normal: {K: 1}}}", kernels.Host{}, sig("k", "", "M"),
			`test.yaml:4: kernel k(M): noise: no dimension "K": want one of M`, false},
		{"no speed", "k: {unit: flop, terms: {M: 1}}", kernels.Host{Name: "h"}, sig("k", "", "M"),
			`test.yaml:4: kernel k(M): cost in flop, but host h has speed 0 flop/s`, false},
		{"negative slot", "k: 1", kernels.Host{Name: "h", Slot: -1}, sig("k", "", "M"), `test.yaml: host h: negative slot -1`, false},
		{"no name", "k: 1", kernels.Host{}, sig("", ""), `test.yaml: kernel "": want a name and at most 4 dimensions, found 0`, false},
		{"five dimensions", "k: 1", kernels.Host{}, sig("k", "", "A", "B", "C", "D", "E"), `test.yaml: kernel "k": want a name and at most 4 dimensions, found 5`, false},
		{"dimension twice", "k: 1", kernels.Host{}, sig("k", "", "A", "A"), `test.yaml: kernel k(A,A): dimension "A" twice`, false},
		{"attribute twice", "k: 1", kernels.Host{}, sig("k", "a=1 a=2"), `test.yaml: kernel k() a=1 a=2: attribute "a" twice`, false},
	}
	for _, tt := range tests {
		_, err := parse(tt.file).Bind(tt.host, tt.sig)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", tt.name, err, tt.want)
		}
		if errors.Is(err, kernels.ErrNoModel) != tt.noModel {
			t.Errorf("%s: ErrNoModel: %v", tt.name, !tt.noModel)
		}
	}
}

// TestModelsAreShared: equal models are the same, wherever they come from.
func TestModelsAreShared(t *testing.T) {
	s := parse("a: {terms: {M*N: 1}}", "b: {terms: {N*M: 1}}", "c: {terms: {M*N: 2}}", "d: free", "e: [{if: M > 1, free: true}, {free: true}]")
	m := map[string]kernels.Model{}
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		m[k] = bind(s, kernels.Host{}, sig(k, "", "M", "N"))
	}
	if m["a"] != m["b"] || m["a"] == m["c"] || m["d"] != m["e"] || m["d"] != (kernels.Model{}) {
		t.Errorf("a=b %v, a=c %v, d=e %v", m["a"] == m["b"], m["a"] == m["c"], m["d"] == m["e"])
	}
}

// TestBindConcurrently is for the race detector.
func TestBindConcurrently(t *testing.T) {
	s := builtin("dahu")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 32 {
				if _, err := s.Bind(kernels.Host{Name: fmt.Sprintf("dahu-%d", i), Slot: g}, hpl["dgemm"]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
