package buy_test

import (
	"context"
	"fmt"
	"os"

	"reprise/study/buy"
)

// Predict says what a request will replay, before the first replay.
func Example() {
	dir, err := os.MkdirTemp("", "buy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	sheet := buy.Sheet{File: "small.yaml", Text: []byte("nodes: 2\ncores: 4\nclock: 2GHz\nflop_per_cycle: 8\nmemory: 20MB\n")}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nothing is replayed
	_, err = buy.Run(ctx, buy.Request{Sheets: []buy.Sheet{sheet}, Fill: 0.8, Tolerance: 0.02, Level: 0.8, Draws: 5, Jobs: 1, Dir: dir})
	fmt.Println(err)
	// Output: context canceled
}
