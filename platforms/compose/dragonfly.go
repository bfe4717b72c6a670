package compose

import (
	"fmt"

	"reprise/internal/textutil"
)

// Dragonfly is groups of switches: those of a group are joined by cables from each to each, and so are the groups.
type Dragonfly struct {
	Groups, Switches, Hosts int   // Switches of a group, Hosts of a switch
	LocalCables             int   // between two switches of a group
	Local                   Cable // each of them
	GlobalCables            int   // between two groups
	Global                  Cable
	// Adaptive says that the packets of a flow are spread over all cables that leave a switch or a group. Otherwise a message goes to the
	// switch of its group that has the cable to the other group, over that, and on to its destination.
	Adaptive bool
}

// flyForm is what ParseDragonfly reads.
const flyForm = "groups=9 switches=8 hosts=8 local=1x200Gbps global=2x200Gbps, and routing=adaptive or static"

// ParseDragonfly reads "groups=9 switches=8 hosts=8 local=1x200Gbps global=2x200Gbps@1us".
// Cables of which nothing is said are one, like those of the nodes. routing=adaptive replaces routing=static, the default.
func ParseDragonfly(text string, nic Cable) (d Dragonfly, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("dragonfly %s: %w; want %s", textutil.Quote(text), err, flyForm)
		}
	}()
	d = Dragonfly{LocalCables: 1, Local: nic, GlobalCables: 1, Global: nic}
	pairs, routing, err := parseWords(text)
	if err != nil {
		return d, err
	}
	d.Adaptive = routing == "adaptive"
	given, counts := map[string]bool{}, map[string]*int{"groups": &d.Groups, "switches": &d.Switches, "hosts": &d.Hosts}
	for _, p := range pairs {
		if given[p.key] {
			return d, fmt.Errorf("%s= twice", p.key)
		}
		given[p.key] = true
		switch p.key {
		case "groups", "switches", "hosts":
			*counts[p.key], err = parseCount(p.value)
		case "local":
			d.LocalCables, d.Local, err = parseCables(p.value, nic)
		case "global":
			d.GlobalCables, d.Global, err = parseCables(p.value, nic)
		default:
			return d, fmt.Errorf("%s= is not known", p.key)
		}
		if err != nil {
			return d, fmt.Errorf("%s=: %w", p.key, err)
		}
	}
	for _, key := range []string{"groups", "switches", "hosts"} {
		if !given[key] {
			return d, fmt.Errorf("%s= is missing", key)
		}
	}
	return d, nil
}

// maxRoutes bounds the routes between switches of a group and between groups.
const maxRoutes = 1 << 18

// check refuses other numbers of nodes, and more routes than readers hold.
func (d Dragonfly) check(s *Spec) error {
	if d.Groups < 1 || d.Switches < 1 || d.Hosts < 1 || d.LocalCables < 1 || d.GlobalCables < 1 {
		return fmt.Errorf("a dragonfly with a number that is not positive")
	}
	if n := product(d.Groups, d.Switches, d.Hosts); n != s.Nodes {
		return fmt.Errorf("a dragonfly of %s of %s of %s has %s, not %d",
			count(d.Groups, "group"), count(d.Switches, "switch"), count(d.Hosts, "host"), count(n, "node"), s.Nodes)
	}
	for _, c := range []Cable{d.Local, d.Global} {
		if err := c.check(); err != nil {
			return fmt.Errorf("dragonfly: %w", err)
		}
	}
	local, global := product(d.Groups, d.Switches, d.Switches), product(d.Groups, d.Groups)
	if local/2+global/2 > maxRoutes {
		return fmt.Errorf("a dragonfly with %d pairs of switches or groups that are joined, want at most %d",
			local/2+global/2, maxRoutes)
	}
	return nil
}

// words says how many cables there are in and between groups, and how many hosts of a group share the latter.
func (d Dragonfly) words(s *Spec) []string {
	list := []string{
		fmt.Sprintf("a dragonfly of %s of %s of %s, cables of %.4g us to the nodes", count(d.Groups, "group"),
			count(d.Switches, "switch"), count(d.Hosts, "host"), s.NIC.Latency*1e6),
		fmt.Sprintf("within a group %s of %v from each switch to each other", count(d.LocalCables, "cable"), d.Local),
	}
	if d.Adaptive {
		list = append(list, "adaptive routing: the cables that leave a switch, or a group, are one link of their sum")
	}
	if d.Groups == 1 {
		return list
	}
	all := d.GlobalCables * (d.Groups - 1)
	return append(list,
		fmt.Sprintf("between groups %s of %v from each to each other, at one switch of a group",
			count(d.GlobalCables, "cable"), d.Global),
		"of a group "+sharing(d.Switches*d.Hosts, "host", s.NIC, all, "global cable", d.Global))
}

// body writes a zone of all groups, each a zone of its switches, which are clusters. Routes of zones lead from router
// to router, so that the way between two groups passes the two switches that their cable joins: a minimal route. A
// cable of several that is narrower than what feeds it limits each flow.
func (d Dragonfly) body(b *xmlBuilder, s *Spec) {
	if d.Adaptive {
		list := d.pools()
		list.zone(b, s, len(list), 1, "dragonfly", 0, s.Nodes)
		return
	}
	b.line(1, `<zone id="dragonfly" routing="Full">`)
	for g := range d.Groups { // each of its switches is a cluster
		b.line(2, `<zone id="%s" routing="Full">`, groupName(g))
		first := g * d.Switches
		var local []bundle
		for i := first; i < first+d.Switches; i++ {
			b.cluster(3, switchName(i), s, i*d.Hosts, d.Hosts, fmt.Sprintf(` router_id="%s"`, routerName(i)))
			for j := i + 1; j < first+d.Switches; j++ {
				local = append(local, bundle{fmt.Sprintf("local-%d-%d", i, j), d.LocalCables, d.Local,
					d.Local.Bandwidth < s.NIC.Bandwidth,
					end{switchName(i), routerName(i)}, end{switchName(j), routerName(j)}})
			}
		}
		b.joined(3, local)
		b.line(2, `</zone>`)
	}
	var global []bundle
	narrow := d.Global.Bandwidth < min(s.NIC.Bandwidth, d.Local.Bandwidth)
	for from := range d.Groups {
		for to := from + 1; to < d.Groups; to++ {
			global = append(global, bundle{fmt.Sprintf("global-%d-%d", from, to), d.GlobalCables, d.Global, narrow,
				end{groupName(from), d.gateway(from, to)}, end{groupName(to), d.gateway(to, from)}})
		}
	}
	if len(global) > 0 {
		b.line(2, "<!-- The cables between two groups: together %d of %s. -->", d.GlobalCables, rate(d.Global.Bandwidth))
	}
	b.joined(2, global)
	b.line(1, `</zone>`)
}

// pools are the cables that leave a switch for the others of its group, and those that leave a group. A message pays half
// of a latency on the way out and half on the way in: of a local cable within a group, of two and a global one between
// two groups.
func (d Dragonfly) pools() (list pools) {
	local, global := d.Local, d.Global
	local.Latency, global.Latency = local.Latency/2, (local.Latency+global.Latency)/2
	if d.Switches > 1 {
		list = append(list, pool{d.Hosts, d.LocalCables * (d.Switches - 1), local})
	} else {
		global.Latency = d.Global.Latency / 2 // no local cable on the way
	}
	if d.Groups > 1 {
		list = append(list, pool{d.Hosts * d.Switches, d.GlobalCables * (d.Groups - 1), global})
	}
	return list
}

// Names of zones, clusters and routers. Switches are numbered through all groups.
func groupName(g int) string { return fmt.Sprintf("group-%d", g) }

// gateway is the switch of a group that has the cables to another one: the other groups are
// dealt to the switches in turn.
func (d Dragonfly) gateway(from, to int) string {
	other := to
	if to > from {
		other--
	}
	return routerName(from*d.Switches + other%d.Switches)
}

func switchName(number int) string { return fmt.Sprintf("switch-%d", number) }

func routerName(number int) string { return switchName(number) + "-router" }
