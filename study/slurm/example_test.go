package slurm_test

import (
	"fmt"

	"reprise/study/slurm"
)

// What each task of an array runs.
func Example() {
	dir := "/data/what if"
	array := slurm.Array{Name: slurm.Name(dir), Workers: 20, Dir: dir, Worker: []string{"/usr/bin/study", "worker", dir}}
	fmt.Print(array.Script())
	// Output:
	// #!/bin/sh
	// # A worker of a study. It begins nothing that would not end before the task has to.
	// set -- '/usr/bin/study' 'worker' '/data/what if'
	// end=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e)
	// case $end in
	// [0-9]*) set -- "$@" --until "$end" ;;
	// esac
	// exec "$@"
}
