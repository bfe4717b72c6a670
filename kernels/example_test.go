package kernels_test

import (
	"fmt"
	"log"
	"strings"

	"reprise/kernels"
)

// A file gives dgemm a cost on all hosts, and another one on a slow host.
func Example() {
	const file = `
version: 1
unit: s
kernels:
  dgemm: {terms: {M*N*K: 7.0e-11, 1: 2.0e-7}}
  dcopy: free
hosts:
  - {host: node-13, kernels: {dgemm: {terms: {M*N*K: 8.0e-11}}}}
`
	set, err := kernels.Parse(strings.NewReader(file), "machine.yaml")
	if err != nil {
		log.Fatal(err)
	}
	dgemm := kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}}
	for _, host := range []string{"node-1", "node-13"} {
		m, err := set.Bind(kernels.Host{Name: host}, dgemm)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.4f s\n", host, m.Seconds(&[4]int64{1000, 1000, 128}))
	}
	_, err = set.Bind(kernels.Host{Name: "node-1"}, kernels.Signature{Name: "dger", Dims: []string{"M", "N"}})
	fmt.Println(err)
	// Output:
	// node-1: 0.0090 s
	// node-13: 0.0102 s
	// machine.yaml: no kernel model for dger(M,N): add under kernels "dger: {terms: {M*N: COEFFICIENT}}", or "dger: free" if it costs nothing
}
