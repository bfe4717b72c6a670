// Command crossarch runs the programs built for amd64 and for arm64, the latter under
// qemu, on the same input, and compares what they write: traces and text byte by byte,
// results to the last bit of each number. scripts/crossarch.sh builds them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("crossarch: ")
	bin := flag.String("bin", "out/crossarch", "`directory` with the programs, in amd64 and arm64")
	flag.Parse()
	different, n, err := compareAll(*bin)
	if err != nil {
		log.Fatal(err)
	}
	if different > 0 {
		log.Fatalf("%d of %d cases differ", different, n)
	}
	fmt.Printf("crossarch: %d cases, the same bits on amd64 and arm64\n", n)
}

// compareAll runs all cases, those that write traces before those that play them.
func compareAll(bin string) (different, n int, err error) {
	bin, err = filepath.Abs(bin)
	if err != nil {
		return 0, 0, err
	}
	work, err := os.MkdirTemp("", "crossarch")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(work)
	recorded, err := recordedCases("testdata/oracle", work)
	if err != nil {
		return 0, 0, err
	}
	docs, err := filepath.Abs("testdata/docs")
	if err != nil {
		return 0, 0, err
	}
	for _, cases := range [][]testCase{traceCases(work), append(playCases(work, docs), recorded...)} {
		different += compareEach(bin, cases)
		n += len(cases)
	}
	return different, n, nil
}

// compareEach runs cases on all processors and returns how many differ or fail.
func compareEach(bin string, cases []testCase) int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	different := 0
	todo := make(chan testCase)
	for range runtime.NumCPU() {
		wg.Go(func() {
			for c := range todo {
				if err := c.compare(bin); err != nil {
					mu.Lock()
					different++
					log.Printf("%s: %v", c.name, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, c := range cases {
		todo <- c
	}
	close(todo)
	wg.Wait()
	return different
}

// compare runs the case for both processors. The trace that it writes, if any, is then in
// its file.
func (c *testCase) compare(bin string) error {
	native, err := c.output(filepath.Join(bin, "amd64", c.program))
	if err != nil {
		return fmt.Errorf("amd64: %w", err)
	}
	foreign, err := c.output("qemu-aarch64-static", filepath.Join(bin, "arm64", c.program))
	if err != nil {
		return fmt.Errorf("arm64: %w", err)
	}
	if c.file != "" {
		if err := os.WriteFile(c.file, native, 0o666); err != nil {
			return err
		}
	}
	if c.json {
		return compareJSON(native, foreign)
	}
	return compareBytes(native, foreign)
}

// output runs a program with the case's arguments.
func (c *testCase) output(command ...string) ([]byte, error) {
	args := append(command[1:], c.args...)
	cmd := exec.Command(command[0], args...)
	cmd.Dir = c.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
