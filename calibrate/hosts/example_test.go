package hosts_test

import (
	"fmt"

	"reprise/calibrate/hosts"
)

// Four nodes as those of Dahu: the fastest and the slowest of them on the same day.
func Example() {
	model, err := hosts.Find("dahu-node")
	if err != nil {
		fmt.Println(err)
		return
	}
	machine, err := model.Draw(hosts.DrawOptions{Hosts: 4, Seed: 7, Day: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := machine.Summary().Classes[0].Range[0]
	fmt.Printf("%s: %t\n", s.Variable, 2e-12 < s.Least && s.Least < s.Most && s.Most < 3e-12)
	// Output: dgemm:M*N*K: true
}
