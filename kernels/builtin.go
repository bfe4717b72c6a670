package kernels

import (
	"bytes"
	"fmt"
	"strings"

	"reprise/internal/builtin"
	"reprise/machines"
)

// Builtin returns the built-in set of the given name, one of BuiltinNames.
// Each call returns a set of its own.
//
//   - default: a generic node whose speed is the host's; see docs/kernels.md
//   - dahu, dahu-c1, dahu-a1: 32 nodes with 2 x 16-core Xeon Gold 6130, one
//     rank per core
//   - stampede, stampede-constants: one rank per node with a Xeon Phi
func Builtin(name string) (*Set, error) {
	text, err := BuiltinText(name)
	if err != nil {
		return nil, err
	}
	return Parse(bytes.NewReader(text), name)
}

// Find loads a file, or a built-in set if there is no file of that name.
func Find(name string) (*Set, error) {
	if builtin.IsFile(name) {
		return Load(name)
	}
	set, err := Builtin(name)
	return set, builtin.Missing(name, err)
}

// BuiltinText returns the kernel file of a built-in set.
func BuiltinText(name string) ([]byte, error) {
	text, err := machines.Kernels(name)
	if err != nil {
		return nil, fmt.Errorf("no built-in kernel models %q: want %s, or a file", name, strings.Join(BuiltinNames(), ", "))
	}
	return text, nil
}

// BuiltinNames lists the built-in sets, sorted.
func BuiltinNames() []string { return machines.KernelSets() }
