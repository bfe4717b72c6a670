// Command arithmetic refuses, in the packages named and those of their module that
// they import, what gives other bits on other processors: products that a compiler
// fuses with a sum, and functions of package math that are neither exact nor rounded
// correctly. scripts/lint.sh calls it.
//
//	go run ./scripts/arithmetic PACKAGES
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// finding is a place where bits may differ.
type finding struct {
	file string // relative to the module's root, with slashes
	line int
	what string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.what) }

func main() {
	log.SetFlags(0)
	log.SetPrefix("arithmetic: ")
	found, err := check(".", os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// check returns what is found in the module of a directory, in order.
func check(dir string, patterns []string) ([]finding, error) {
	packages, err := list(dir, patterns)
	if err != nil {
		return nil, err
	}
	found, err := library(packages)
	if err != nil {
		return nil, err
	}
	fused, err := fused(dir, patterns, packages)
	if err != nil {
		return nil, err
	}
	found = append(found, fused...)
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.what, b.what))
	})
	return slices.Compact(found), nil
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	Module          *struct {
		Main bool
		Dir  string
	}
}

// list returns the packages of the main module that the patterns name or need.
func list(dir string, patterns []string) ([]listed, error) {
	out, err := run(dir, append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,Module"}, patterns...))
	if err != nil {
		return nil, err
	}
	var own []listed
	for d := json.NewDecoder(strings.NewReader(out.stdout)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return own, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && p.Module.Main {
			own = append(own, p)
		}
	}
}

type output struct{ stdout, stderr string }

// run runs go for arm64, whose compiler fuses wherever the language lets it.
func run(dir string, args []string) (output, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return output{}, fmt.Errorf("go %s: %w\n%s", args[0], err, lastLines(stderr.String()))
	}
	return output{stdout.String(), stderr.String()}, nil
}

// lastLines returns the end of what a compiler said, which may have listed megabytes before.
func lastLines(s string) string { return s[max(0, len(s)-2000):] }
