package platforms

import (
	"bytes"
	"fmt"
	"strings"

	"reprise/internal/regular"
	"reprise/platforms/machines"
)

// BuiltinNames returns the names of the built-in machines, sorted.
func BuiltinNames() []string { return machines.Names() }

// Builtin returns a built-in machine. The generic one, "default", is sized to the ranks (of [1, MaxHosts]) that shall
// run on it, one on a host; the others are as big as they are and do not look at ranks.
func Builtin(name string, ranks int) (*Platform, error) {
	text, err := machines.Platform(name)
	if err != nil {
		return nil, fmt.Errorf("no built-in platform %q: want %s, or a file", name, strings.Join(BuiltinNames(), ", "))
	}
	if name == genericMachine {
		// Its description is one of a leaf: what says how many hosts there are is replaced.
		if ranks < 1 || ranks > MaxHosts-leafHosts {
			return nil, fmt.Errorf("built-in platform %q: %d ranks, want [1,%d]", name, ranks, MaxHosts-leafHosts)
		}
		hosts, tree := ranks, fmt.Sprintf("1;%d;1;1", ranks)
		if leaves := (ranks + leafHosts - 1) / leafHosts; leaves > 1 {
			hosts, tree = leaves*leafHosts, fmt.Sprintf("2;%d,%d;1,%d;1,1", leafHosts, leaves, spines)
		}
		text = []byte(strings.NewReplacer(
			fmt.Sprintf(`radical="0-%d"`, leafHosts-1), fmt.Sprintf(`radical="0-%d"`, hosts-1),
			fmt.Sprintf(`topo_parameters="1;%d;1;1"`, leafHosts), fmt.Sprintf(`topo_parameters="%s"`, tree),
		).Replace(string(text)))
	}
	p, err := Parse(bytes.NewReader(text), name)
	if err == nil {
		p.nominal = name != genericMachine
	}
	return p, err
}

// Find loads a file, or a built-in machine for so many ranks if there is no file of that name.
func Find(name string, ranks int) (*Platform, error) {
	if regular.IsFile(name) {
		return Load(name)
	}
	p, err := Builtin(name, ranks)
	return p, regular.Missing(name, err)
}

// genericMachine is the built-in machine that stands for no machine in particular: see
// docs/platforms.md for what it has and why.
const genericMachine = "default"

// leafHosts is the number of hosts of a leaf switch of the generic machine, and spines the number of switches above the
// leaves: leaves of 36 ports, two hosts to each cable upwards.
const (
	leafHosts = 24
	spines    = 12
)
