package packed_test

import (
	"encoding/json"
	"fmt"

	"reprise/report/packed"
)

func Example() {
	text, err := json.Marshal(packed.Float32s([]float32{0.25, 0.5}))
	if err != nil {
		fmt.Println(err)
	}
	var column packed.Bytes
	if err := json.Unmarshal(text, &column); err != nil {
		fmt.Println(err)
	}
	values, err := column.Float32s()
	fmt.Println(values, err)
	// Output: [0.25 0.5] <nil>
}
