package diff_test

import (
	"fmt"

	"reprise/internal/tracetest"
	"reprise/trace/diff"
)

// One message more.
func ExampleTraces() {
	a := tracetest.Messages(3)
	defer a.Close()
	b := tracetest.Messages(4)
	defer b.Close()
	d, err := diff.Traces(a, b, diff.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Same)
	for _, c := range d.Totals {
		if c.Name == "messages" {
			fmt.Println(c.Name, c.A, c.B)
		}
	}
	// Output:
	// false
	// messages 3 4
}
