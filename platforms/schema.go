package platforms

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// This file says which elements and attributes a description may have: modernise turns older versions into version 4,
// checkTree checks the result against schema.

// A rule says what an element may hold. Names ending in "!" are required; "*" is any.
type rule struct {
	attrs    string
	children string
}

// schema is what this package takes of the DTD, in the names of version 4. Whatever is not in it is refused, never
// ignored. Elements that do not matter to messages and computations, such as disks, are in it, and are read and not used.
var schema = map[string]rule{
	"platform": {"version!", "config zone cluster random trace trace_connect"},
	"config":   {"id", "prop"},
	"prop":     {"id! value!", ""},
	"zone": {"id! routing!",
		"prop config zone cluster peer cabinet backbone host router link host_link " +
			"route zoneRoute bypassRoute bypassZoneRoute storage storage_type trace trace_connect"},
	"cluster": {"id! prefix! suffix! radical! speed! core bw! lat! sharing_policy bb_bw bb_lat bb_sharing_policy " +
		"router_id limiter_link loopback_bw loopback_lat topology topo_parameters", "prop"},
	"cabinet":  {"id! prefix! suffix! radical! speed! bw! lat!", ""},
	"backbone": {"id! bandwidth! latency!", ""},
	"host": {"id! speed! core pstate coordinates state availability speed_file availability_file state_file",
		"prop disk mount gpu"},
	"peer":            {"id! speed! bw_in! bw_out! lat coordinates speed_file availability_file state_file", ""},
	"router":          {"id! coordinates", ""},
	"link":            {"id! bandwidth! latency sharing_policy state bandwidth_file latency_file state_file", "prop"},
	"trace":           {"id! file periodicity!", ""},
	"trace_connect":   {"kind trace! element!", ""},
	"host_link":       {"id! up! down!", ""},
	"route":           {"src! dst! symmetrical", "link_ctn"},
	"zoneRoute":       {"src! dst! gw_src! gw_dst! symmetrical", "link_ctn"},
	"bypassRoute":     {"src! dst!", "link_ctn"},
	"bypassZoneRoute": {"src! dst! gw_src! gw_dst!", "link_ctn"},
	"link_ctn":        {"id! direction", ""},

	// Passed over: what only SimGrid's models of disks and its plugins look at.
	"disk":         {"id read_bw! write_bw!", "prop"},
	"mount":        {"*", ""},
	"storage":      {"*", "prop"},
	"storage_type": {"*", "prop model_prop"},
	"model_prop":   {"id! value!", ""},
	"gpu":          {"name!", ""},
	"random":       {"id! min! max! mean! std_deviation! seed radical generator", ""},
}

// onlyValues lists attributes that have no effect with one of these values; with any other value they are refused.
var onlyValues = map[string][]string{"state": {"ON"}, "availability": {"1", "1.0"}}

// oldNames maps the words of version 3 to those of version 4.
var oldNames = map[string]string{
	"AS": "zone", "ASroute": "zoneRoute", "bypassASroute": "bypassZoneRoute", "power": "speed",
}

// modernise replaces the words of version 3 in a tree, and spells routings as this package does.
func modernise(e *element) {
	if name, ok := oldNames[e.name]; ok {
		e.name = name
	}
	for i := range e.attrs {
		a := &e.attrs[i]
		if name, ok := oldNames[a.Name.Local]; ok {
			a.Name.Local = name
		}
		if e.name == "zone" && a.Name.Local == "routing" {
			for _, routing := range routings {
				if strings.EqualFold(a.Value, routing) {
					a.Value = routing
				}
			}
		}
	}
	for _, c := range e.children {
		modernise(c)
	}
}

// routings are the ways to route in a zone, which files spell in any case.
var routings = []string{"Full", "Floyd", "Dijkstra", "DijkstraCache", "None", "Cluster", "Vivaldi"}

// checkTree checks a tree against the schema; e itself is allowed where it is. After it, code that reads an element may
// rely on required attributes, and on there being no unknown ones.
func checkTree(e *element, file string) error {
	r := schema[e.name]
	if err := checkAttrs(e, r); err != nil {
		return fmt.Errorf("%s:%d: %w", file, e.line, textutil.Brief(err))
	}
	allowed := strings.Fields(r.children)
	for _, c := range e.children {
		if !slices.Contains(allowed, c.name) {
			return fmt.Errorf("%s:%d: %w", file, c.line,
				textutil.Brief(fmt.Errorf("element %v in %v is not supported: want %s", c, e, oneOf(allowed))))
		}
		if err := checkTree(c, file); err != nil {
			return err
		}
	}
	return nil
}

// checkAttrs refuses attributes that the rule does not name, that come twice or are missing.
func checkAttrs(e *element, r rule) error {
	if r.attrs == "*" {
		return nil
	}
	names := strings.Fields(r.attrs)
	for i, a := range e.attrs {
		name := a.Name.Local
		if !slices.Contains(names, name) && !slices.Contains(names, name+"!") {
			return fmt.Errorf("attribute %s of %v is not supported: want %s", name, e, oneOf(names))
		}
		if want, ok := onlyValues[name]; ok && !slices.Contains(want, a.Value) {
			return fmt.Errorf("attribute %s of %v: value %q is not supported: want %q", name, e, a.Value, want[0])
		}
		// The decoder takes an attribute that is there twice, which XML forbids.
		for _, b := range e.attrs[:i] {
			if b.Name.Local == name {
				return fmt.Errorf("attribute %s of %v is there twice", name, e)
			}
		}
	}
	for _, name := range names {
		if need, ok := strings.CutSuffix(name, "!"); ok {
			if _, ok := e.attr(need); !ok {
				return fmt.Errorf("%v needs the attribute %s", e, need)
			}
		}
	}
	return nil
}

// oneOf lists words for a message.
func oneOf(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.ReplaceAll(strings.Join(words, ", "), "!", "")
}
