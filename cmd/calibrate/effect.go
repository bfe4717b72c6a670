package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

// needs refuses flags that have no effect without another one, which is not given.
func needs(c *cli.Context, other string, flags ...string) error {
	if given := firstSet(c, flags); given != "" && !c.IsSet(other) {
		return command.Usagef("%s: --%s is about --%s: it needs one", c.Command.Name, given, other)
	}
	return nil
}

// excludes refuses flags that have no effect with another one, which is given.
func excludes(c *cli.Context, other string, flags ...string) error {
	if given := firstSet(c, flags); given != "" && c.IsSet(other) {
		return command.Usagef("%s: --%s has no effect with --%s: leave one out", c.Command.Name, given, other)
	}
	return nil
}

// firstSet returns the first of the flags that is given, "" if none is.
func firstSet(c *cli.Context, flags []string) string {
	for _, f := range flags {
		if c.IsSet(f) {
			return f
		}
	}
	return ""
}

// namesOf returns the names of flags, but for some.
func namesOf(flags []cli.Flag, but ...string) []string {
	var names []string
	for _, f := range flags {
		if name := f.Names()[0]; !slices.Contains(but, name) {
			names = append(names, name)
		}
	}
	return names
}
