package main

// part is a section of the page.
type part struct {
	name    string
	measure func(*lab) (section, error)
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
		{"dahu", matrixSize},
		{"causes", causes},
		{"cooling", cooling},
		{"factorial", factorial},
		{"geometry", geometry2020.measure},
		{"geometry-2019", geometry2019.measure},
		{"paravance", paravance},
		{"stampede", stampede},
		{"topology", topology},
		{"temporal", temporal},
		{"spatial", spatial},
		{"capacity", capacity},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}
