package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/testprogram"
)

// testCase is everything that a simulator is given, as text.
type testCase struct {
	number   int
	machine  string // kind of machine
	program  string // kind of program
	platform string // XML
	hosts    []string
	options  []string   // NAME:VALUE
	lines    [][]string // actions, by rank
	text     string     // a program on communicators, in the language of testdata/oracle/smpi-mpi, in place of actions
	shared   bool       // all ranks in one trace file
	long     bool
	profiles []profileFile // that the platform names
	energy   bool          // hosts and links have powers, and joules are compared
}

func (c *testCase) name() string { return fmt.Sprintf("%05d-%s-%s", c.number, c.machine, c.program) }

// actions returns the number of actions of all ranks.
func (c *testCase) actions() (n int) {
	for _, lines := range c.lines {
		n += len(lines)
	}
	return n
}

// options says which cases to draw.
type options struct {
	seed        uint64
	collectives []string // selectors; none: no collectives
	energy      bool     // hosts and links get powers
}

// extent is how large a case is.
type extent uint64

const (
	short extent = iota
	long         // many ranks and messages
	dense        // more ranks, and most of the messages at once
)

// draw draws a case by its number.
func (m *options) draw(number int, size extent) *testCase {
	stream := uint64(number) | uint64(size)<<32
	d := newSource(m.seed, stream)
	kind := machineKinds[number%len(machineKinds)]
	place := &machine{source: d}
	kind.draw(place)
	c := &testCase{number: number, machine: kind.name, long: size != short}
	s := drawSettings(d)
	ranks := d.ranks(place, size)
	c.hosts = d.mapping(place, ranks)
	p := &program{source: d, lines: make([][]string, ranks), settings: s, ranks: ranks, rounds: d.between(1, 6), speed: 1e9, self: place.self}
	if c.long {
		p.rounds = d.between(20, 40)
	}
	if d.chance(0.05) {
		p.all("init 1") // counts are of doubles
	} else {
		p.all("init")
	}
	k := d.IntN(len(programKinds) + len(m.collectives))
	// A poll on a node that is slow for good takes longer in SimGrid (docs/deviations.md, 32).
	for (c.long || place.slow) && k < len(programKinds) && programKinds[k].polls {
		k = d.IntN(len(programKinds) + len(m.collectives))
	}
	if size == dense {
		c.program = "dense"
		p.dense()
	} else if k < len(programKinds) {
		c.program = programKinds[k].name
		programKinds[k].draw(p)
	} else {
		selector := m.collectives[k-len(programKinds)]
		c.program = "coll" + selector
		p.collectives(selector)
	}
	if d.chance(0.9) {
		p.all("finalize")
	}
	c.shared, c.lines = d.chance(0.1), p.lines
	c.options = append([]string{"smpi/host-speed:1Gf"}, s.model...)
	if d.chance(0.9) {
		c.options = append(c.options, s.list...)
		c.platform = place.document(nil)
	} else {
		c.platform = place.document(s.list)
	}
	if !m.energy {
		m.addProfiles(c, stream, place.hosts)
	}
	if m.energy {
		m.addWatts(c)
	}
	return c
}

// ranks draws the number of ranks, at least 2.
func (d source) ranks(m *machine, size extent) int {
	most := min(16, max(2, len(m.hosts)))
	if size != short {
		most = map[extent]int{long: 64, dense: 96}[size]
	}
	if !m.self {
		most = min(most, len(m.hosts))
	} else if d.chance(0.25) {
		most = max(most, min(16, 3*len(m.hosts)))
	}
	switch size {
	case long:
		return max(2, most-d.IntN(max(1, most/4)))
	case dense:
		return d.between(min(32, most), most)
	}
	return d.between(2, most)
}

// mapping draws the lines of the host file. Without routes from hosts to themselves each rank has a
// host of its own.
func (d source) mapping(m *machine, ranks int) (list []string) {
	order := d.Perm(len(m.hosts))
	if d.chance(0.4) {
		slices.Sort(order)
	}
	if m.self && d.chance(0.2) {
		for _, h := range order {
			list = append(list, fmt.Sprintf("%s:%d", m.hosts[h], d.between(1, 3)))
		}
		return list
	}
	for r := range ranks {
		list = append(list, m.hosts[order[r%len(order)]])
	}
	return list
}

// write stores the case in a directory, in the form of the recorded cases of testdata/oracle.
func (c *testCase) write(dir string) error {
	files := map[string]string{"platform.xml": c.platform, "hostfile": joinLines(c.hosts), "cfg": joinLines(c.options)}
	if c.text != "" {
		data, err := testprogram.Parse(c.text)[0].Trace()
		if err != nil {
			return err
		}
		files["cases.txt"], files["trace.zst"] = c.text, string(data)
		return writeFiles(dir, files)
	}
	index := ""
	for r, lines := range c.lines {
		name := fmt.Sprintf("rank-%d.ti", r)
		if c.shared {
			name = "trace.ti"
		}
		if files[name] == "" {
			index += name + "\n"
		}
		files[name] += joinLines(lines)
	}
	files["trace.index"] = index
	for _, f := range c.profiles {
		files[f.name] = f.text
	}
	return writeFiles(dir, files)
}

func joinLines(list []string) string { return strings.Join(append(slices.Clone(list), ""), "\n") }

// writeFiles writes files by name into a directory.
func writeFiles(dir string, files map[string]string) error {
	errs := []error{os.MkdirAll(dir, 0o755)}
	for name, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

// readFiles reads files of a directory by name.
func readFiles(dir string, names ...string) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = string(b)
	}
	return files, nil
}

// load reads a case from a directory.
func load(dir string) (*testCase, error) {
	text, err := readFiles(dir, "platform.xml", "hostfile", "cfg")
	if err != nil {
		return nil, err
	}
	c := &testCase{machine: "given", program: filepath.Base(dir), platform: text["platform.xml"],
		hosts: strings.Fields(text["hostfile"]), options: strings.Fields(text["cfg"])}
	if text, err := readFiles(dir, "cases.txt"); err == nil {
		c.text = text["cases.txt"]
		c.lines = make([][]string, testprogram.Parse(c.text)[0].Ranks)
		return c, nil
	}
	if text, err = readFiles(dir, "trace.index"); err != nil {
		return nil, err
	}
	profiles, err := filepath.Glob(filepath.Join(dir, "profile-*.txt"))
	if err != nil {
		return nil, err
	}
	for _, path := range profiles {
		text, err := readFiles(dir, filepath.Base(path))
		if err != nil {
			return nil, err
		}
		c.profiles = append(c.profiles, profileFile{filepath.Base(path), text[filepath.Base(path)]})
	}
	names := strings.Fields(text["trace.index"])
	c.shared = len(names) == 1
	c.lines = make([][]string, len(names))
	for rank, name := range names {
		text, err := readFiles(dir, name)
		if err != nil {
			return nil, err
		}
		for l := range strings.Lines(text[name]) {
			if l = strings.TrimSpace(l); l == "" || l[0] == '#' {
				continue
			}
			if _, err := fmt.Sscan(l, &rank); c.shared && (err != nil || rank < 0 || rank >= 1<<16) {
				return nil, fmt.Errorf("%s: line %q begins with no rank", name, l)
			}
			for rank >= len(c.lines) {
				c.lines = append(c.lines, nil)
			}
			c.lines[rank] = append(c.lines[rank], l)
		}
	}
	return c, nil
}

// skewed returns the case with a sleep of 1e-9 to longest seconds before each action
// but the first of each rank.
func (c *testCase) skewed(seed uint64, longest float64) *testCase {
	d := newSource(seed, uint64(c.number))
	other := *c
	other.lines = make([][]string, len(c.lines))
	for r, lines := range c.lines {
		for i, l := range lines {
			if i > 0 {
				other.lines[r] = append(other.lines[r], fmt.Sprintf("%d sleep %.6g", r, 1e-9+d.Float64()*(longest-1e-9)))
			}
			other.lines[r] = append(other.lines[r], l)
		}
	}
	return &other
}
