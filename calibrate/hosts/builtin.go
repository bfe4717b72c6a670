package hosts

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// builtinNames are the models that come with the package, in the order to list
// them.
var builtinNames = []string{"dahu-cpu", "dahu-cooling", "dahu-node"}

// BuiltinNames returns the names of the models that come with the package.
func BuiltinNames() []string { return append([]string(nil), builtinNames...) }

// Builtin returns the model of a name.
func Builtin(name string) (*Model, error) {
	text, err := builtin.ReadFile("builtin/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no built-in machine model %q: want %s, or a file", name, strings.Join(builtinNames, ", "))
	}
	return Parse(bytes.NewReader(text), name)
}
