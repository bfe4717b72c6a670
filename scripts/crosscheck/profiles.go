package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// profileStream gives profiles a random source of their own: without profiles, the rest of a case is the same.
const profileStream = 1 << 33

// A profileFile is a profile of a case.
type profileFile struct{ name, text string }

// A profiler draws the profiles of a case.
type profiler struct {
	source
	c     *testCase
	times []float64 // that several profiles share, so that they change at once
	still bool      // speeds may be 0
}

var (
	linkElement = regexp.MustCompile(`<link [^>]*`)
	hostElement = regexp.MustCompile(`<host `)
)

// addProfiles makes the machine of three of ten cases change with time: links by files, hosts inline or,
// where they are elements, by files.
func (m *options) addProfiles(c *testCase, stream uint64, hosts []string) {
	p := &profiler{source: newSource(m.seed, stream|profileStream), c: c, still: true}
	if !p.chance(0.3) || strings.Contains(c.platform, "<trace_connect") { // slow nodes have theirs
		return
	}
	for _, lines := range c.lines { // at a speed of 0 SimGrid ends computations of nothing when something else happens
		p.still = p.still && !slices.ContainsFunc(lines, func(l string) bool { return strings.HasSuffix(l, " compute 0") })
	}
	for range p.between(2, 6) {
		p.times = append(p.times, p.logarithmic(1e-6, 1))
	}
	one := func() float64 { return 1 }
	c.platform = linkElement.ReplaceAllStringFunc(c.platform, func(element string) string {
		attrs := "<link "
		if p.chance(0.4) {
			attrs += p.file("bandwidth_file", func() float64 { return p.logarithmic(1e6, 2e10) })
		}
		if p.chance(0.3) {
			attrs += p.file("latency_file", func() float64 { return p.logarithmic(1e-7, 2e-3) })
		}
		if p.chance(0.1) && !strings.Contains(element, "DUPLEX") { // SimGrid aborts where a split link has a state
			attrs += p.file("state_file", one)
		}
		return attrs + strings.TrimPrefix(element, "<link ")
	})
	inFiles := hostElement.MatchString(c.platform) && p.chance(0.5)
	if inFiles {
		c.platform = hostElement.ReplaceAllStringFunc(c.platform, func(element string) string {
			if p.chance(0.4) {
				element += p.file(pick(p.source, "speed_file", "availability_file"), p.factor)
			}
			return element
		})
	}
	inline := ""
	for i, host := range hosts {
		if !inFiles && p.chance(0.3) {
			inline += p.inline(fmt.Sprintf("speed-%d", i), "SPEED", host, p.factor)
		}
		if p.chance(0.05) {
			inline += p.inline(fmt.Sprintf("state-%d", i), "HOST_AVAIL", host, one)
		}
	}
	c.platform = strings.Replace(c.platform, "</platform>", inline+"</platform>", 1)
}

// factor draws the value of a speed.
func (p *profiler) factor() float64 {
	if p.chance(0.03) && p.still {
		return 0
	}
	return pick(p.source, 1, 0.5, 2, p.logarithmic(0.05, 3))
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

// inline draws a profile as an element.
func (p *profiler) inline(id, kind, element string, value func() float64) string {
	text, loop := p.values(value)
	if loop == 0 {
		loop = -1
	}
	return fmt.Sprintf("  <trace id=%q periodicity=\"%.17g\">\n%s  </trace>\n  <trace_connect kind=%q trace=%q element=%q/>\n", id, loop, text, kind, id, element)
}

// values draws times and values, and the length of a round, 0 for none.
func (p *profiler) values(value func() float64) (text string, loop float64) {
	var times []float64
	for range p.between(1, 5) {
		times = append(times, pick(p.source, pick(p.source, p.times...), p.logarithmic(1e-6, 1)))
	}
	if p.chance(0.3) {
		times[0] = 0
	}
	slices.Sort(times)
	for i, at := range times {
		v := value()
		if v == 0 && (i == len(times)-1 || at == 0) {
			v = 1 // at rest for good no program ends; at time 0 SimGrid passes over it (docs/deviations.md, 27)
		}
		text += fmt.Sprintf("%.17g %.6g\n", at, v)
	}
	if p.chance(0.4) {
		loop = times[len(times)-1] + p.logarithmic(1e-4, 0.1)
	}
	return text, loop
}
