package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// A small run of HPL on four hosts whose dgemm does 50 Gflop/s and where nothing
// else takes time.
func ExampleRun() {
	var file bytes.Buffer
	if err := hpl.Generate(context.Background(), &file, hpl.DefaultParams(2048, 2, 2), hpl.Options{}); err != nil {
		log.Fatal(err)
	}
	t, err := trace.NewReader(&file, "example")
	if err != nil {
		log.Fatal(err)
	}
	var m replay.Machine
	m.Platform, err = platforms.Parse(strings.NewReader(`<platform version="4.1">
		<cluster id="c" prefix="node-" suffix="" radical="0-3" speed="50Gf" bw="10GBps" lat="1us"/></platform>`), "four.xml")
	if err != nil {
		log.Fatal(err)
	}
	m.Kernels, err = kernels.Parse(strings.NewReader("version: 1\nunit: s\nkernels:\n  dgemm: {terms: {M*N*K: 4e-11}}\n  \"*\": free\n"), "four.yaml")
	if err != nil {
		log.Fatal(err)
	}
	if m.Hosts, err = replay.FillHosts(m.Platform, t.Header().Ranks, 1); err != nil {
		log.Fatal(err)
	}
	res, err := replay.Run(context.Background(), t, m, replay.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d ranks, efficiency above a half: %v\n", len(res.Ranks), res.Gflops > 100)
	// Output: 4 ranks, efficiency above a half: true
}
