package foreign_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"reprise/trace"
	"reprise/tracegen/foreign"
)

func ExampleConvert() {
	f, err := os.CreateTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	fmt.Fprint(f, "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\n}\nrank 1 {\nl1: recv 8b from 0 tag 3\nl2: calc 500\nl2 requires l1\n}\n")
	f.Close()

	var run bytes.Buffer
	warnings, err := foreign.Convert(&run, "goal", f.Name(), foreign.Options{})
	if err != nil {
		log.Fatal(err)
	}
	t, err := trace.NewReader(&run, "run")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Header().Ranks, "ranks,", len(warnings), "warnings")
	// Output: 2 ranks, 0 warnings
}
