package main

// part is a section of the page.
type part struct {
	name    string
	measure func(*runner) (section, error)
	// aside says that the part is measured with -all or by its name only: it takes long
	// and tells what an input is worth, not how far off we are.
	aside bool
	own   bool // it needs no published data
}

// section is what a part writes: its text between the marks, and what it says about
// claims.
type section struct {
	text   string
	claims []verdict
}

// parts lists all sections in the order in which they are written.
func parts() []part {
	return []part{
		{name: "dahu", measure: matrixSize},
		{name: "causes", measure: causes},
		{name: "cooling", measure: cooling},
		{name: "factorial", measure: factorial},
		{name: "factorial-reconstructed", measure: reconstructed, aside: true},
		{name: "geometry", measure: geometry2020.measure},
		{name: "geometry-2019", measure: geometry2019.measure},
		{name: "paravance", measure: paravance},
		{name: "stampede", measure: stampede},
		{name: "topology", measure: topology},
		{name: "temporal", measure: temporal},
		{name: "spatial", measure: spatial},
		{name: "spatial-two-classes", measure: twoClasses},
		{name: "capacity", measure: capacity},
		{name: "intervals", measure: intervals, own: true},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}
