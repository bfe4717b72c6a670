package typedarray_test

import (
	"encoding/json"
	"fmt"

	"reprise/report/typedarray"
)

func Example() {
	text, err := json.Marshal(typedarray.Of([]float32{0.25, 0.5}))
	if err != nil {
		fmt.Println(err)
	}
	var column typedarray.Bytes
	if err := json.Unmarshal(text, &column); err != nil {
		fmt.Println(err)
	}
	values, err := typedarray.Values[float32](column)
	fmt.Println(values, err)
	// Output: [0.25 0.5] <nil>
}
