package network_test

import (
	"fmt"

	"reprise/calibrate/measure/network"
)

// Errors of options, before anything is started.
func Example() {
	o := network.DefaultOptions()
	fmt.Println(o.Validate())
	o.Launcher = []string{"mpirun", "-np", "2"}
	fmt.Println(o.Validate())
	// Output:
	// no command that starts MPI programs, as in -- mpirun -np 2
	// <nil>
}
