package main

// part is a section of the page.
type part struct {
	name    string
	measure func(*lab) (section, error)
	replays bool // what does not is made of what the parts before it say
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
		{"dahu", matrixSize, true},
		{"causes", causes, true},
		{"cooling", cooling, true},
		{"factorial", factorial, true},
		{"geometry", geometry2020.measure, true},
		{"geometry-2019", geometry2019.measure, true},
		{"paravance", paravance, true},
		{"stampede", stampede, true},
		{"topology", topology, true},
		{"temporal", temporal, true},
		{"spatial", spatial, true},
		{"capacity", capacity, true},
		{"claims", judge, false},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}
