package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// instruction is a fused multiply-add of arm64 in a listing of the compiler's.
var instruction = regexp.MustCompile(`\(([^\t\n]+):(\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)

// fused compiles the packages for arm64 and returns the fused multiply-adds: also those
// that appear only where a command's profile makes the compiler inline.
func fused(dir string, patterns []string, packages []listed) ([]finding, error) {
	args := []string{"build", "-o", os.DevNull} // a program by itself would be written to its directory
	for _, p := range packages {
		args = append(args, "-gcflags="+p.ImportPath+"=-S")
	}
	out, err := run(dir, append(args, patterns...))
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, m := range instruction.FindAllStringSubmatch(out.stderr, -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("fused multiply-add (%s); write float64(a*b) + c", m[3])
		found = append(found, finding{relative(packages, m[1]), line, what})
	}
	if !strings.Contains(out.stderr, "STEXT") {
		return nil, fmt.Errorf("go build -gcflags=-S lists no assembly")
	}
	return found, nil
}

// relative returns a file's name as seen from the root of the module.
func relative(packages []listed, file string) string {
	if name, err := filepath.Rel(packages[0].Module.Dir, file); err == nil {
		return filepath.ToSlash(name)
	}
	return file
}
