package hosts

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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

// Find returns a built-in model, or the one in a file.
func Find(name string) (*Model, error) {
	if slices.Contains(builtinNames, name) {
		return Builtin(name)
	}
	m, err := Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; built-in machine models: %s", err, strings.Join(builtinNames, ", "))
	}
	return m, err
}

// SourceOfDraw says what hosts are that are drawn from a model of a name: no measurement, but of
// a law with a source.
func (m *Model) SourceOfDraw(name string) string {
	source := strings.Join(strings.Fields(m.Source), " ")
	if source == "" {
		source = "source not said"
	}
	return fmt.Sprintf("random numbers, no measurement of these hosts, by the machine model %s (%s)", name, source)
}
