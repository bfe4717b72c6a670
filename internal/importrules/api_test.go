package importrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNoInternalTypes: whoever imports a package can name all that it exports: no exported
// function, method, field, variable or type parameter has a type of internal/.
func TestNoInternalTypes(t *testing.T) {
	imp := exportData(t)
	for _, p := range list(t, "reprise/...") {
		if isProgram(p.ImportPath) || isInternal(p.ImportPath) || len(p.GoFiles) == 0 {
			continue
		}
		pkg, err := imp.Import(p.ImportPath)
		must(t, err)
		for _, use := range internalUses(pkg) {
			t.Error(use)
		}
	}
}

func isInternal(path string) bool {
	return strings.HasPrefix(path, "internal/") || strings.Contains(path+"/", "/internal/")
}

// exportData returns an importer of the compiler's export data of this module's packages.
func exportData(t *testing.T) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "reprise/...").Output()
	must(t, err)
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// internalUses names the exported things of a package that have a type of internal/ in them.
func internalUses(pkg *types.Package) []string {
	w := &walker{seen: map[types.Type]bool{}}
	for _, name := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(name); obj.Exported() {
			w.object(pkg.Path()+"."+name, obj)
		}
	}
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

// walker looks for types of internal/ in the exported part of a package.
type walker struct {
	seen  map[types.Type]bool // types whose definitions have been walked through
	found []string
}

func (w *walker) object(place string, obj types.Object) {
	name, isType := obj.(*types.TypeName)
	switch {
	case isType && name.IsAlias():
		w.visit(place, types.Unalias(name.Type()))
	case isType:
		w.define(place, name.Type().(*types.Named))
	default:
		w.visit(place, obj.Type())
	}
}

// define walks through a type's definition: its parameters, its underlying type, and its
// methods, those of embedded fields included.
func (w *walker) define(place string, t *types.Named) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	w.params(place, t.TypeParams())
	w.visit(place, t.Underlying())
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if m.Obj().Exported() {
			w.visit(place+"."+m.Obj().Name(), m.Type())
		}
	}
}

func (w *walker) params(place string, list *types.TypeParamList) {
	for p := range list.TypeParams() {
		w.visit(place+"["+p.Obj().Name()+"]", p.Constraint())
	}
}

// visit looks at a type as it is written. Of a type with a name that others can import, its
// own package is checked by itself; one that they cannot name is looked into here.
func (w *walker) visit(place string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		w.named(place, t.Obj(), t.TypeArgs())
		w.visit(place, types.Unalias(t))
	case *types.Named:
		w.named(place, t.Obj(), t.TypeArgs())
		if obj := t.Obj(); obj.Pkg() != nil && !obj.Exported() {
			w.define(place, t)
		}
	case *types.Signature:
		w.params(place, t.TypeParams())
		w.visit(place, t.Params())
		w.visit(place, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.visit(place, v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.visit(place+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			w.visit(place, e)
		}
		for m := range t.Methods() {
			if m.Exported() {
				w.visit(place+"."+m.Name(), m.Type())
			}
		}
	case *types.Union:
		for term := range t.Terms() {
			w.visit(place, term.Type())
		}
	case *types.Map:
		w.visit(place, t.Key())
		w.visit(place, t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		w.visit(place, t.Elem())
	}
}

func (w *walker) named(place string, obj *types.TypeName, args *types.TypeList) {
	if obj.Pkg() != nil && isInternal(obj.Pkg().Path()) {
		w.found = append(w.found, fmt.Sprintf("%s has the type %s.%s", place, obj.Pkg().Path(), obj.Name()))
	}
	for a := range args.Types() {
		w.visit(place, a)
	}
}
