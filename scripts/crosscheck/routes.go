package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/platforms"
)

// routesFile is where times.cpp writes the routes between the hosts of a case.
const routesFile = "routes.txt"

// checkRoutes holds the routes between the hosts of the case in a directory against
// SimGrid's, link by link, and the sums of their latencies; the error names the first that
// is another.
func checkRoutes(dir string) error {
	p, err := platforms.Load(filepath.Join(dir, "platform.xml"))
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, routesFile))
	if err != nil {
		return err
	}
	defer f.Close()
	same := newIdentity(p)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 3 {
			return fmt.Errorf("%s: line %q", routesFile, lines.Text())
		}
		if len(words) == 3 && words[0] == words[1] {
			continue // a host without a loopback, to which nothing is sent
		}
		ours, latency, err := routeOf(p, words[0], words[1])
		if err != nil {
			return err
		}
		if theirs := words[3:]; !same.routes(theirs, ours) {
			return fmt.Errorf("route from %s to %s: SimGrid has %v, replay %v", words[0], words[1], theirs, ours)
		}
		if slices.Contains(ours, "loopback") || len(p.Profiles()) > 0 {
			continue // its latency is an option, which the model of the network applies, or changes
		}
		if sum, err := strconv.ParseFloat(words[2], 64); err != nil || sum != latency {
			return fmt.Errorf("route from %s to %s: latency %s in SimGrid, %v in replay", words[0], words[1], words[2], latency)
		}
	}
	return lines.Err()
}

// routeOf returns the names of the links between two hosts, in SimGrid's order, and
// their latency in seconds, added up as SimGrid does.
func routeOf(p *platforms.Platform, src, dst string) (names []string, latency float64, err error) {
	from, okFrom := p.HostIndex(src)
	to, okTo := p.HostIndex(dst)
	if !okFrom || !okTo {
		return nil, 0, fmt.Errorf("no host %q or %q", src, dst)
	}
	links, err := p.AppendLinks(platforms.AsListed, nil, from, to)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range links {
		names = append(names, p.Link(l).Name)
	}
	links, err = p.AppendLinks(platforms.AsSummed, links[:0], from, to)
	for _, l := range links {
		_, seconds, _ := p.LinkCapacity(l)
		latency += seconds
	}
	return names, latency, err
}

// An identity tells which link of ours a link of SimGrid's is. Those that a file names
// have one name. Those that SimGrid makes up in a cluster have names of its own: there
// each one of ours is to be the same one of SimGrid's in all routes.
type identity struct {
	named        map[string]bool // ours
	ours, theirs map[string]string
}

func newIdentity(p *platforms.Platform) *identity {
	s := &identity{map[string]bool{}, map[string]string{}, map[string]string{"loopback": "__loopback__"}}
	for i := range p.NumLinks() {
		s.named[p.Link(int32(i)).Name] = true
	}
	return s
}

// routes reports whether two routes have the same links in the same order.
func (s *identity) routes(theirs, ours []string) bool {
	return slices.EqualFunc(theirs, ours, s.links)
}

func (s *identity) links(theirs, ours string) bool {
	if s.named[theirs] {
		return theirs == ours
	}
	if _, ok := s.ours[theirs]; !ok {
		s.ours[theirs] = ours
	}
	if _, ok := s.theirs[ours]; !ok {
		s.theirs[ours] = theirs
	}
	return s.ours[theirs] == ours && s.theirs[ours] == theirs
}

// recordRoutes writes the machines of cases and SimGrid's routes on them into a directory,
// as recorded cases of testdata/oracle/routes, but for those with links whose names SimGrid
// makes up.
func (t *tools) recordRoutes(cases []*testCase, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range cases {
		var failed error
		v, err := t.playIn(c, func(at string, _ *verdict) {
			text, err := os.ReadFile(filepath.Join(at, routesFile))
			if err != nil || len(c.profiles) > 0 || strings.Contains(string(text), "link_from_") {
				failed = err
				return
			}
			name := filepath.Join(dir, fmt.Sprintf("%s-%d", c.machine, c.number))
			failed = errors.Join(os.WriteFile(name+".xml", []byte(c.platform), 0o644), os.WriteFile(name+".routes", text, 0o644))
		})
		if err := errors.Join(err, failed); err != nil || v.refused != nil {
			return errors.Join(err, v.refused)
		}
	}
	return nil
}
