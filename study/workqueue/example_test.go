package workqueue_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"reprise/study/workqueue"
)

// Two workers, of whom one is quicker.
func ExampleWorker_Take() {
	dir, err := os.MkdirTemp("", "lease")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	a, err := workqueue.Join(dir, time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Leave()
	b, err := workqueue.Join(dir, time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Leave()
	first, _ := a.Take("item")
	second, _ := b.Take("item")
	fmt.Println(first != nil, second != nil)
	// Output: true false
}
