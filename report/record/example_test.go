package record_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

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
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "dahu", RanksPerHost: 1}, t)
	if err != nil {
		log.Fatal(err)
	}
	r := record.New(record.Options{Header: t.Header(), Machine: m, Replay: o})
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
	// true [compute waiting poll overhead sleep]
	// by rank 4
	// by grid row 2
	// by grid column 2
	// dahu: host to switch, dahu: switch to host
}
