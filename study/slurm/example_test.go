package slurm_test

import (
	"fmt"

	"reprise/study/slurm"
)

// What each task of an array runs.
func Example() {
	dir := "/data/what if"
	array := slurm.Array{Name: slurm.Name(dir), Workers: 20, Dir: dir, Worker: []string{"/usr/bin/study", "worker", dir, "--until", "slurm"}}
	fmt.Print(array.Script())
	// Output:
	// #!/bin/sh
	// exec '/usr/bin/study' 'worker' '/data/what if' '--until' 'slurm'
}
