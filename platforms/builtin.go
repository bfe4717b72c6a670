package platforms

import (
	"bytes"
	"embed"
	"fmt"
	"strings"

	"reprise/internal/builtin"
)

//go:embed machines/*.xml
var machines embed.FS

// BuiltinNames returns the names of the built-in machines, sorted.
func BuiltinNames() []string { return []string{"dahu", "default", "stampede"} }

// Builtin returns a built-in machine. The generic one, "default", is sized to
// the ranks (of [1, MaxHosts]) that shall run on it, one on a host; the others
// are as big as they are and do not look at ranks.
func Builtin(name string, ranks int) (*Platform, error) {
	var text []byte
	var err error
	switch name {
	case "default":
		text, err = genericMachine(ranks)
	case "dahu", "stampede":
		text, err = machines.ReadFile("machines/" + name + ".xml")
	default:
		return nil, fmt.Errorf("no built-in platform %q: want %s, or a file", name, strings.Join(BuiltinNames(), ", "))
	}
	if err != nil {
		return nil, err
	}
	p, err := Parse(bytes.NewReader(text), name)
	if err == nil {
		p.nominal = name != "default"
	}
	return p, err
}

// Find loads a file, or a built-in machine for so many ranks if there is no file of that
// name.
func Find(name string, ranks int) (*Platform, error) {
	if builtin.IsFile(name) {
		return Load(name)
	}
	p, err := Builtin(name, ranks)
	return p, builtin.Missing(name, err)
}

// leafHosts is the number of hosts of a leaf switch of the generic machine, and
// spines the number of switches above the leaves: leaves of 36 ports, two hosts
// to each cable upwards.
const (
	leafHosts = 24
	spines    = 12
)

// genericMachine describes a cluster that stands for no machine in particular:
// see docs/platforms.md for what it has and why.
func genericMachine(ranks int) ([]byte, error) {
	if ranks < 1 || ranks > MaxHosts-leafHosts {
		return nil, fmt.Errorf("built-in platform \"default\": %d ranks, want [1,%d]", ranks, MaxHosts-leafHosts)
	}
	hosts, tree := ranks, fmt.Sprintf("1;%d;1;1", ranks)
	if leaves := (ranks + leafHosts - 1) / leafHosts; leaves > 1 {
		hosts, tree = leaves*leafHosts, fmt.Sprintf("2;%d,%d;1,%d;1,1", leafHosts, leaves, spines)
	}
	return fmt.Appendf(nil, genericXML, hosts-1, tree), nil
}

const genericXML = `<?xml version="1.0"?>
<platform version="4.1">
  <config id="General">
    <prop id="smpi/bw-factor" value="0:1"/>
    <prop id="smpi/lat-factor" value="0:1"/>
    <prop id="smpi/os" value="0:5e-7:0"/>
    <prop id="smpi/ois" value="0:5e-7:0"/>
    <prop id="smpi/or" value="0:5e-7:0"/>
    <prop id="smpi/async-small-thresh" value="65536"/>
    <prop id="smpi/send-is-detached-thresh" value="65536"/>
    <prop id="smpi/iprobe" value="2e-7"/>
    <prop id="smpi/grow-injected-times" value="no"/>
    <prop id="smpi/test" value="2e-7"/>
  </config>
  <cluster id="default" prefix="node-" suffix="" radical="0-%d" speed="32Gf" core="32"
           bw="100Gbps" lat="0.5us" loopback_bw="20GBps" loopback_lat="0.1us"
           topology="FAT_TREE" topo_parameters="%s"/>
</platform>
`
