package capture_test

import (
	"context"
	"fmt"
	"os"

	"reprise/tracegen/capture"
)

// A program is recorded into a directory, and the directory merged into a trace.
func Example() {
	dir, err := os.MkdirTemp("", "recordings-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	program := capture.Command{Args: []string{"true"}, Stdout: os.Stdout, Stderr: os.Stderr} // mpirun -np 4 ./app
	if err := capture.Record(context.Background(), dir, program); err != nil {
		fmt.Println(err)
		return
	}
	trace, err := os.CreateTemp("", "run-*.trace.zst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(trace.Name())
	if _, err := capture.Merge(dir, trace, capture.Options{Rate: 1e9}); err != nil {
		fmt.Println("true is no program of MPI")
	}
	// Output: true is no program of MPI
}
