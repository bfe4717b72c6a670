package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// profileShare is the part of the cases whose machine changes with time.
const profileShare = 0.3

// profileStream sets the dice of profiles apart: a case without them is what it is with
// other dice, and the program of one with them, too.
const profileStream = 1 << 33

// A profiler draws the profiles of a case.
type profiler struct {
	dice
	c     *testCase
	times []float64 // that several profiles share, so that they change at once
	still bool      // speeds may be 0
}

// addProfiles has the machine of a case change with time, now and then.
func (m *menu) addProfiles(c *testCase, stream uint64, hosts []string) {
	d := newDice(m.seed, stream|profileStream)
	if !d.chance(profileShare) || strings.Contains(c.platform, "<trace_connect") { // slow nodes have theirs
		return
	}
	// Where the speed is 0, computations of nothing end in SimGrid when something else happens.
	p := &profiler{dice: d, c: c, still: !c.script.has("compute 0")}
	for range d.between(2, 6) {
		p.times = append(p.times, d.logarithmic(1e-6, 1))
	}
	p.links()
	p.hosts(hosts)
}

var (
	linkElement = regexp.MustCompile(`<link [^>]*`)
	hostElement = regexp.MustCompile(`<host `)
)

// links gives files of profiles to links. SimGrid aborts where a split one has a state.
func (p *profiler) links() {
	p.c.platform = linkElement.ReplaceAllStringFunc(p.c.platform, func(element string) string {
		attrs := "<link "
		if p.chance(0.4) {
			attrs += p.file("bandwidth_file", func() float64 { return p.logarithmic(1e6, 2e10) })
		}
		if p.chance(0.3) {
			attrs += p.file("latency_file", func() float64 { return p.logarithmic(1e-7, 2e-3) })
		}
		if p.chance(0.1) && !strings.Contains(element, "DUPLEX") {
			attrs += p.file("state_file", func() float64 { return 1 })
		}
		return attrs + strings.TrimPrefix(element, "<link ")
	})
}

// hosts gives profiles to some hosts: inline, or in files where those are elements.
func (p *profiler) hosts(names []string) {
	var inline strings.Builder
	files := hostElement.MatchString(p.c.platform) && p.chance(0.5)
	if files {
		p.c.platform = hostElement.ReplaceAllStringFunc(p.c.platform, func(element string) string {
			if p.chance(0.4) {
				element += p.file(pick(p.dice, "speed_file", "availability_file"), p.factor)
			}
			return element
		})
	}
	for i, name := range names {
		if !files && p.chance(0.3) {
			p.inline(&inline, fmt.Sprintf("speed-%d", i), "SPEED", name, p.factor)
		}
		if p.chance(0.05) {
			p.inline(&inline, fmt.Sprintf("state-%d", i), "HOST_AVAIL", name, func() float64 { return 1 })
		}
	}
	p.c.platform = strings.Replace(p.c.platform, "</platform>", inline.String()+"</platform>", 1)
}

// factor draws the value of a speed.
func (p *profiler) factor() float64 {
	if p.chance(0.03) && p.still {
		return 0
	}
	return pick(p.dice, 1, 0.5, 2, p.logarithmic(0.05, 3))
}

// file draws a profile into a file and returns the attribute that names it.
func (p *profiler) file(attr string, value func() float64) string {
	name := fmt.Sprintf("profile-%d.txt", len(p.c.profiles))
	text, loop := p.values(value)
	if loop > 0 && p.chance(0.5) {
		text += fmt.Sprintf("PERIODICITY %.17g\n", loop)
	} else if loop > 0 {
		text += fmt.Sprintf("LOOPAFTER %.6g\n", p.logarithmic(1e-4, 0.1))
	}
	p.c.profiles = append(p.c.profiles, profileFile{name, text})
	return fmt.Sprintf("%s=%q ", attr, name)
}

func (p *profiler) inline(b *strings.Builder, id, kind, element string, value func() float64) {
	text, loop := p.values(value)
	if loop == 0 {
		loop = -1
	}
	fmt.Fprintf(b, "  <trace id=%q periodicity=\"%.17g\">\n%s  </trace>\n  <trace_connect kind=%q trace=%q element=%q/>\n",
		id, loop, text, kind, id, element)
}

// values draws times and values, and the length of a round, 0 for none.
func (p *profiler) values(value func() float64) (text string, loop float64) {
	var times []float64
	for range p.between(1, 5) {
		if p.chance(0.5) {
			times = append(times, pick(p.dice, p.times...))
		} else {
			times = append(times, p.logarithmic(1e-6, 1))
		}
	}
	if p.chance(0.3) {
		times[0] = 0
	}
	slices.Sort(times)
	for i, at := range times {
		v := value()
		if v == 0 && (i == len(times)-1 || at == 0) {
			v = 1 // what stands still for good ends no program; at time 0 SimGrid passes over it (docs/deviations.md, 27)
		}
		text += fmt.Sprintf("%.17g %.6g\n", at, v)
	}
	if p.chance(0.4) {
		loop = times[len(times)-1] + p.logarithmic(1e-4, 0.1)
	}
	return text, loop
}

// A profileFile is a profile of a case.
type profileFile struct{ name, text string }

// loadProfiles reads the profiles in the directory of a case.
func (c *testCase) loadProfiles(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "profile-*.txt"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		c.profiles = append(c.profiles, profileFile{filepath.Base(name), string(text)})
	}
	return nil
}
