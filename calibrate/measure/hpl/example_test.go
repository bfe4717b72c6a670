package hpl_test

import (
	"bytes"
	"fmt"

	"reprise/calibrate/measure/hpl"
)

// A user of HPL's sources compiles the C file and links it with the flags.
func Example() {
	first, _, _ := bytes.Cut(hpl.Flags(), []byte("\n"))
	fmt.Printf("%s\n", first)
	fmt.Println(len(hpl.Functions()), "functions are led through", len(hpl.Source()) > 0)
	// Output:
	// -Wl,--wrap=HPL_dgemm
	// 33 functions are led through true
}
