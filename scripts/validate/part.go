package main

// part is a section of the page.
type part struct {
	name    string
	measure func(*lab) (markdown string, err error)
}

// parts lists all sections in the order of the page.
func parts() []part {
	return []part{
		{"dahu", matrixSize},
		{"cooling", cooling},
		{"factorial", factorial},
		{"geometry", geometry},
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
