package platforms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// treeOfLeaves is a tree of two groups of two leaf switches of four hosts of 1e9 byte/s, with the
// bandwidths in byte/s of the cables up from leaves and from groups.
func treeOfLeaves(leaf, group float64, edit func(string) string) string {
	var b strings.Builder
	b.WriteString(`<platform version="4.1"><zone id="tree" routing="Floyd">`)
	core := func(of string) {
		fmt.Fprintf(&b, `<zone id="%s-core" routing="None"><router id="%s-switch"/></zone>`, of, of)
	}
	up := func(of, to string, bandwidth float64) {
		fmt.Fprintf(&b, `<link id="%s-up" bandwidth="%gBps" latency="1us" sharing_policy="SPLITDUPLEX"/>
<zoneRoute src="%s" dst="%s-core" gw_src="%s-switch" gw_dst="%s-switch"><link_ctn id="%s-up" direction="UP"/></zoneRoute>`, of, bandwidth, of, to, of, to, of)
	}
	for g := range 2 {
		group := fmt.Sprintf("group%d", g)
		fmt.Fprintf(&b, `<zone id="%s" routing="Floyd">`, group)
		for l := range 2 {
			fmt.Fprintf(&b, `<cluster id="leaf%d%d" prefix="n%d%d-" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us" router_id="leaf%d%d-switch"/>`, g, l, g, l, g, l)
		}
		core(group)
		for l := range 2 {
			up(fmt.Sprintf("leaf%d%d", g, l), group, leaf)
		}
		b.WriteString(`</zone>`)
	}
	core("tree")
	for g := range 2 {
		up(fmt.Sprintf("group%d", g), "tree", group)
	}
	b.WriteString(`</zone></platform>`)
	return edit(b.String())
}

// TestAmpleLinks: cables up are ample if and only if those below carry no more together, of four
// hosts to a leaf and two leaves to a group.
func TestAmpleLinks(t *testing.T) {
	const leaves, groups = "leaf00 leaf01 leaf10 leaf11 ", "group0 group1 "
	same := func(s string) string { return s }
	for _, c := range []struct {
		name        string
		leaf, group float64
		edit        func(string) string
		want        string // of the cables up, both directions of each
	}{
		{"as wide as what is below", 4e9, 8e9, same, leaves + groups},
		{"wider", 5e9, 8e9, same, leaves + groups}, // eight hosts to a group
		{"narrow leaves", 3e9, 6e9, same, groups},
		{"narrow groups", 4e9, 7e9, same, leaves},
		{"all narrow", 3e9, 5e9, same, ""},
		{"a gateway that is a host", 4e9, 8e9, func(s string) string {
			return strings.ReplaceAll(s, `gw_src="leaf00-switch"`, `gw_src="n00-0"`)
		}, "leaf01 leaf10 leaf11 " + groups}, // its cable still bounds what comes out of leaf00
		{"a cable of two leaves", 4e9, 8e9, func(s string) string {
			return strings.ReplaceAll(s, `<link_ctn id="leaf01-up"`, `<link_ctn id="leaf00-up"`)
		}, "leaf10 leaf11 " + groups},
		{"a way around", 4e9, 8e9, func(s string) string {
			return strings.Replace(s, `<zone id="tree-core"`, `<link id="side" bandwidth="9GBps" latency="1us"/><zoneRoute src="group0" dst="group1" gw_src="group0-switch" gw_dst="group1-switch"><link_ctn id="side"/></zoneRoute><zone id="tree-core"`, 1)
		}, leaves},
	} {
		p := parse(treeOfLeaves(c.leaf, c.group, c.edit))
		var got []string
		for _, l := range p.AmpleLinks() {
			got = append(got, p.Link(l).Name)
		}
		slices.Sort(got)
		var want []string
		for _, of := range strings.Fields(c.want) {
			want = append(want, of+"-up_UP", of+"-up_DOWN")
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
