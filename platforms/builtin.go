package platforms

import "errors"

// BuiltinNames returns the names of the built-in machines, sorted.
func BuiltinNames() []string { return []string{"dahu", "default", "stampede"} }

// Builtin returns a built-in machine. The generic one, "default", is sized to
// the ranks (>= 1) that shall run on it; the others are as big as they are.
func Builtin(name string, ranks int) (*Platform, error) {
	return nil, errors.New("not yet")
}
