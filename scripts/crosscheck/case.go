package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testCase is everything that a simulator is given, as text.
type testCase struct {
	number   int
	machine  string   // kind of machine
	program  string   // kind of program
	platform string   // XML
	hosts    []string // lines of the host file
	options  []string // NAME:VALUE
	script   *script
	long     bool
	profiles []profileFile // that the platform names
}

func (c *testCase) name() string { return fmt.Sprintf("%05d-%s-%s", c.number, c.machine, c.program) }

// line is one action of a rank's trace. Lines of one group belong together: the
// program stays valid without all of them, not without some. Group 0 stays.
type line struct {
	text  string
	group int
}

// script is a program: the actions of each rank.
type script struct {
	ranks  [][]line
	groups int
	shared bool // all ranks in one trace file
}

// has reports whether some rank has an action.
func (s *script) has(action string) bool {
	return slices.ContainsFunc(s.ranks, func(lines []line) bool {
		return slices.ContainsFunc(lines, func(l line) bool { return strings.HasSuffix(l.text, " "+action) })
	})
}

func newScript(ranks int) *script { return &script{ranks: make([][]line, ranks)} }

// group returns a new group.
func (s *script) group() int {
	s.groups++
	return s.groups
}

// add appends an action to the trace of a rank.
func (s *script) add(group, rank int, format string, args ...any) {
	s.ranks[rank] = append(s.ranks[rank], line{fmt.Sprintf("%d ", rank) + fmt.Sprintf(format, args...), group})
}

// all appends an action to the traces of all ranks.
func (s *script) all(group int, format string, args ...any) {
	for r := range s.ranks {
		s.add(group, r, format, args...)
	}
}

// actions returns the number of actions of all ranks.
func (s *script) actions() int {
	n := 0
	for _, lines := range s.ranks {
		n += len(lines)
	}
	return n
}

// without returns the script less the groups for which drop is true.
func (s *script) without(drop func(group int) bool) *script {
	t := &script{ranks: make([][]line, len(s.ranks)), groups: s.groups, shared: s.shared}
	for r, lines := range s.ranks {
		for _, l := range lines {
			if l.group == 0 || !drop(l.group) {
				t.ranks[r] = append(t.ranks[r], l)
			}
		}
	}
	return t
}

func (s *script) text(rank int) string {
	var b strings.Builder
	for _, l := range s.ranks[rank] {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// files returns the trace files by name; the first is the index.
func (s *script) files() (names, texts []string) {
	if s.shared {
		all := ""
		for r := range s.ranks {
			all += s.text(r)
		}
		return []string{"trace.index", "trace.ti"}, []string{"trace.ti\n", all}
	}
	names, texts = []string{"trace.index"}, []string{""}
	for r := range s.ranks {
		name := fmt.Sprintf("rank-%d.ti", r)
		names, texts = append(names, name), append(texts, s.text(r))
		texts[0] += name + "\n"
	}
	return names, texts
}

// write stores the case in a directory, in the form of the recorded cases of
// testdata/oracle.
func (c *testCase) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	names, texts := c.script.files()
	names = append(names, "platform.xml", "hostfile", "cfg")
	texts = append(texts, c.platform, lines(c.hosts), lines(c.options))
	for _, f := range c.profiles {
		names, texts = append(names, f.name), append(texts, f.text)
	}
	for i, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(texts[i]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// load reads a case from a directory. Each action is a group.
func load(dir string) (*testCase, error) {
	c := &testCase{machine: "given", program: filepath.Base(dir)}
	text := map[string]string{}
	for _, name := range []string{"platform.xml", "hostfile", "cfg", "trace.index"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		text[name] = string(b)
	}
	if err := c.loadProfiles(dir); err != nil {
		return nil, err
	}
	c.platform, c.hosts, c.options = text["platform.xml"], strings.Fields(text["hostfile"]), strings.Fields(text["cfg"])
	files := strings.Fields(text["trace.index"])
	shared := len(files) == 1
	c.script = newScript(len(files))
	c.script.shared = shared
	for r, name := range files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if err := c.script.parse(r, string(b)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

// parse appends the lines of a trace file: of the rank, or of all ranks.
func (s *script) parse(rank int, text string) error {
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		r := rank
		if _, err := fmt.Sscan(l, &r); s.shared && (err != nil || r < 0 || r >= mostRanks) {
			return fmt.Errorf("line %q: no rank of [0,%d)", l, mostRanks)
		}
		for r >= len(s.ranks) {
			s.ranks = append(s.ranks, nil)
		}
		s.ranks[r] = append(s.ranks[r], line{l, s.group()})
	}
	return nil
}

// mostRanks bounds the ranks of a trace that is read from a file.
const mostRanks = 1 << 16
