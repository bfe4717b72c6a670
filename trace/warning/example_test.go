package warning_test

import (
	"errors"
	"fmt"

	"reprise/trace/warning"
)

func Example() {
	var list warning.List
	list.Add(warning.At("lu.4.trace", 7, "ignored 40 lines of other ranks"))
	err := warning.With(errors.New("deadlock: 4 ranks wait"), list.All())
	for _, w := range warning.Of(fmt.Errorf("replay: %w", err)) {
		fmt.Println("warning:", w)
	}
	fmt.Println(err)
	// Output:
	// warning: lu.4.trace:7: ignored 40 lines of other ranks
	// deadlock: 4 ranks wait
}
