package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
)

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
			for _, use := range uses(file, math.Scope()) {
				found = append(found, finding{relative(packages, path), fset.Position(use.at).Line, use.what})
			}
		}
	}
	return found, nil
}

type use struct {
	at   token.Pos
	what string
}

// uses returns what a file uses of the library that may differ by processor.
func uses(file *ast.File, math *types.Scope) []use {
	var found []use
	local := "" // the file's name for math
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case slices.Contains(refused, path):
			found = append(found, use{spec.Pos(), fmt.Sprintf("package %s is built on functions whose bits differ by processor", path)})
		case path == "math" && spec.Name == nil:
			local = "math"
		case path == "math" && spec.Name.Name == ".":
			found = append(found, use{spec.Pos(), "package math needs a name, by which its functions are found"})
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
			found = append(found, use{sel.Pos(), fmt.Sprintf("the bits of math.%s differ by processor; see internal/portable", sel.Sel.Name)})
		}
		return true
	})
	return found
}
