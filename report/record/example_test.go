package record_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/report/record"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// Which kinds of links a small run of HPL on four hosts uses, and who sends to whom.
func Example() {
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
	o := replay.DefaultOptions()
	r, err := record.New(record.Options{Header: t.Header(), Machine: m, Replay: o})
	if err != nil {
		log.Fatal(err)
	}
	o.Observers = []replay.Observer{r.Observer()}
	res, err := replay.Run(context.Background(), t, m, o)
	if err != nil {
		log.Fatal(err)
	}
	data, err := r.Data()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data.Columns.Count == res.Header.Steps, data.States)
	for _, traffic := range data.Communication {
		fmt.Println("by", traffic.By, traffic.Size)
	}
	fmt.Println(strings.Join(data.Links.Levels, ", "))
	// Output:
	// true [compute wait poll overhead sleep]
	// by rank 4
	// by grid row 2
	// by grid column 2
	// c: host to switch, c: switch to host
}
