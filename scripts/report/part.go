package main

import (
	"fmt"
	"slices"
	"strings"
)

// part is a section of the page.
type part struct {
	name    string
	long    bool // takes more than some minutes
	measure func(*runner) (markdown string, err error)
}

// parts lists all sections. Those that are not long take less than ten minutes
// together.
func parts() []part {
	return []part{
		{"scaling", false, scaling},
		{"size", false, size},
		{"broadcasts", false, broadcasts},
		{"stampede", false, stampede},
		{"engine", false, engine},
		{"smpirun", false, sideBySide("Lazy")},
		{"published", false, published},
		{"traces", false, traces},
		{"smpirun-full", true, sideBySide("Full")},
		{"dahu-complete", true, dahuComplete},
		{"stampede-complete", true, stampedeComplete},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// chooseParts returns the parts that are named, in the order of the page; without
// names all, but for the long ones unless they are wanted.
func chooseParts(names []string, long bool) ([]part, error) {
	for _, name := range names {
		if !slices.Contains(partNames(), name) {
			return nil, fmt.Errorf("-only: %q is none of %s", name, strings.Join(partNames(), ", "))
		}
	}
	return slices.DeleteFunc(parts(), func(p part) bool {
		if len(names) > 0 {
			return !slices.Contains(names, p.name)
		}
		return p.long && !long
	}), nil
}
