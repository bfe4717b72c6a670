package estimates_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/study/estimates"
)

// A process plays a window, and another one reads what came out.
func Example() {
	path, err := os.MkdirTemp("", "windows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	for range 2 {
		dir := estimates.New(path, time.Minute)
		if err := dir.Begin([]replay.Property{{Name: "seed", Value: "1"}}); err != nil {
			log.Fatal(err)
		}
		w, err := dir.Window(100, 148, func() (*replay.WindowTimes, error) {
			fmt.Println("played")
			return &replay.WindowTimes{Messages: 1200, Starts: make([]sampling.StartTimes, 49)}, nil
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(w.Messages, "messages")
		if err := dir.Leave(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// played
	// 1200 messages
	// 1200 messages
}
