package typedarray_test

import (
	"encoding/json"
	"fmt"

	"reprise/report/typedarray"
)

func Example() {
	text, err := json.Marshal(typedarray.Float32s([]float32{0.25, 0.5}))
	if err != nil {
		fmt.Println(err)
	}
	var column typedarray.Bytes
	if err := json.Unmarshal(text, &column); err != nil {
		fmt.Println(err)
	}
	values, err := column.Float32s()
	fmt.Println(values, err)
	// Output: [0.25 0.5] <nil>
}
