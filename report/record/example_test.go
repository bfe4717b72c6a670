package record_test

import (
	"context"
	"fmt"
	"log"

	"reprise/internal/tracetest"
	"reprise/replay"
	"reprise/report/record"
)

// Who sends how much to whom, and by which links: rank 0 sends rank 1 three messages.
func Example() {
	t, err := tracetest.Messages(3)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	spec := replay.MachineSpec{RanksPerHost: 1}
	machine, options, _, err := replay.LoadMachine(spec, t)
	if err != nil {
		log.Fatal(err)
	}
	r, err := record.New(record.Options{Header: t.Header(), Machine: machine, Replay: options})
	if err != nil {
		log.Fatal(err)
	}
	options.Observer = r
	if _, err := replay.Run(context.Background(), t, machine, options); err != nil {
		log.Fatal(err)
	}
	data, err := r.Data()
	if err != nil {
		log.Fatal(err)
	}
	messages, err := data.Communication[0].Number.Float32s()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("messages from rank 0 to rank 1:", messages[1])
	fmt.Println(data.Links.Levels)
	// Output:
	// messages from rank 0 to rank 1: 3
	// [default: host to level 1 default: level 1 to host]
}
