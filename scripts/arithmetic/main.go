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
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	out, _, err := run(dir, append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,Module"}, patterns...))
	if err != nil {
		return nil, err
	}
	var own []listed
	for d := json.NewDecoder(strings.NewReader(out)); ; {
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

// run runs go for arm64, whose compiler fuses wherever the language lets it.
func run(dir string, args []string) (output, errors string, err error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := stderr.String() // the compiler may have listed megabytes before its error
		return "", "", fmt.Errorf("go %s: %w\n%s", args[0], err, said[max(0, len(said)-2000):])
	}
	return stdout.String(), stderr.String(), nil
}

// instruction is a fused multiply-add of arm64 in a listing of the compiler's.
var instruction = regexp.MustCompile(`\(([^\t\n]+):(\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\b`)

// fused compiles the packages for arm64 and returns the fused multiply-adds: also those
// that appear only where a command's profile makes the compiler inline.
func fused(dir string, patterns []string, packages []listed) ([]finding, error) {
	args := []string{"build", "-o", os.DevNull} // a program by itself would be written to its directory
	for _, p := range packages {
		args = append(args, "-gcflags="+p.ImportPath+"=-S")
	}
	_, listing, err := run(dir, append(args, patterns...))
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, m := range instruction.FindAllStringSubmatch(listing, -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("fused multiply-add (%s); write float64(a*b) + c", m[3])
		found = append(found, finding{relative(packages, m[1]), line, what})
	}
	if !strings.Contains(listing, "STEXT") {
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

// exact are the functions of package math whose results are exact or rounded correctly.
var exact = []string{
	"Abs", "Ceil", "Copysign", "Dim", "FMA", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits", "Floor", "Frexp", "Ilogb", "Inf",
	"IsInf", "IsNaN", "Ldexp", "Logb", "Max", "Min", "Mod", "Modf", "NaN", "Nextafter", "Nextafter32", "Remainder", "Round", "RoundToEven", "Signbit",
	"Sqrt", "Trunc",
}

// refused are packages that are built on the other functions of math.
var refused = []string{"math/cmplx", "math/rand", "math/rand/v2"}

// library returns the uses of functions of package math that are not exact.
func library(packages []listed) ([]finding, error) {
	fset := token.NewFileSet()
	math, err := importer.ForCompiler(fset, "source", nil).Import("math")
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, p := range packages {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			uses(file, math.Scope(), func(at token.Pos, what string) {
				found = append(found, finding{relative(packages, path), fset.Position(at).Line, what})
			})
		}
	}
	return found, nil
}

// uses reports the uses in a file of the library whose bits may differ by processor.
func uses(file *ast.File, math *types.Scope, report func(at token.Pos, what string)) {
	local := "" // the file's name for math
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case slices.Contains(refused, path):
			report(spec.Pos(), fmt.Sprintf("package %s is built on functions whose bits differ by processor", path))
		case path == "math" && spec.Name == nil:
			local = "math"
		case path == "math" && spec.Name.Name == ".":
			report(spec.Pos(), "package math needs a name, by which its functions are found")
		case path == "math":
			local = spec.Name.Name
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if _, function := math.Lookup(sel.Sel.Name).(*types.Func); ok && function && local != "" && x.Name == local && !slices.Contains(exact, sel.Sel.Name) {
			report(sel.Pos(), fmt.Sprintf("the bits of math.%s differ by processor; see internal/portable", sel.Sel.Name))
		}
		return true
	})
}
