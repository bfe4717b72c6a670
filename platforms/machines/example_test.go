package machines_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"reprise/platforms/machines"
)

// A directory of one's own, whose kernel models have not been measured yet.
func ExampleFind() {
	dir, err := os.MkdirTemp("", "machines")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, machines.PlatformFile), nil, 0o666); err != nil {
		log.Fatal(err)
	}
	platform, kernels, err := machines.Find(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %q\n", filepath.Base(platform), kernels)
	// Output: platform.xml ""
}
