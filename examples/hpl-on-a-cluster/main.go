// Command hpl-on-a-cluster predicts how long HPL takes on a cluster, and at what rate.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

func main() {
	ctx := context.Background()
	var file bytes.Buffer                    // it takes a few kB
	params := hpl.DefaultParams(10000, 4, 8) // N, P, Q
	if err := hpl.Generate(ctx, &file, params, hpl.Options{}); err != nil {
		log.Fatal(err)
	}
	t, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "HPL")
	if err != nil {
		log.Fatal(err)
	}
	spec := replay.MachineSpec{Platform: "cluster.xml", Kernels: "kernels.yaml"}
	machine, options, warnings, err := replay.LoadMachine(spec, t)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range warnings {
		log.Print("warning: ", w)
	}
	result, err := replay.Run(ctx, t, machine, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.9g s, %.9g Gflops\n", result.Makespan, result.Gflops)
}
