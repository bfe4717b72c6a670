package buy

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/calibrate/sheet"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/study"
	"reprise/study/tune"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/programs"
)

// This file makes machines of sheets, those that change one thing, and the runs of HPL and HPCG that fit them.

const (
	// orderStep is what orders are multiples of: the largest block size of most.
	orderStep = 256

	// Slow nodes of a what-if: how many, and their speed.
	slowNodes = 3
	slowSpeed = "0.95"

	// memoryFactor is how much faster the memory of a what-if is.
	memoryFactor = 1.5

	// Grids of the search have at most twice as many rows as columns, and at most eight times as many columns.
	tallest, flattest = 2, 8
)

// blocks are the block sizes of the search.
var blocks = []int{96, 128, 192, 256, 384}

// machine is a candidate.
type machine struct {
	name     string
	dir      string // of the machine
	file     string // the sheet, maybe an edited one
	text     []byte
	sheet    *sheet.Sheet
	warnings []warning.Warning
	fill     float64
	stated   int      // ranks a node by the sheet
	basis    string   // why its ranks are not those of the sheet; "": they are
	made     []string // commands that make it

	usual, best *series // of HPL; the first is with a usual HPL.dat, the second what the search found
	hpcg        *series
	tuned       *machine // with tuned software, if the sheet does not say which; this one has typical software then
	changes     []*change
	factors     []*factor
	searched    *tune.Result // nil: not yet
	cut         bool         // the search was stopped
	plan        *study.Plan  // of the search
	// Replays that the search takes yet, and their cost or, once it is under way, their time.
	searchLeft int
	searchCost float64
	searchTime time.Duration
}

// change is a machine that differs in one thing.
type change struct {
	name       string
	slug       string              // of its directory
	key        string              // of the sheet
	value      func(string) string // the new value, by the one that the sheet says; "": there is none
	hostSpeed  string              // in place of key
	impossible string              // why there is no such machine
	last       bool                // its replays take longer than all others
	hpl, hpcg  *series
}

// unsafe matches what names of directories do not have.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// newMachine makes the machine of a sheet, with its runs, and those that differ in one thing.
func (b *buyer) newMachine(of Sheet) *machine {
	m := textutil.Must(b.parse(of.File, of.Text))
	m.name = m.sheet.Name
	if m.name == "" {
		m.name = strings.TrimSuffix(filepath.Base(of.File), filepath.Ext(of.File))
	}
	m.name = strings.Trim(unsafe.ReplaceAllString(m.name, "-"), "-.")
	for n := 2; m.name == "" || slices.ContainsFunc(b.machines, func(other *machine) bool { return other.name == m.name }); n++ {
		m.name = fmt.Sprintf("%s-%d", strings.TrimSuffix(m.name, fmt.Sprintf("-%d", n-1)), n)
	}
	m.dir, m.made = m.name, []string{fmt.Sprintf("calibrate machine %s --sheet %s", m.name, m.file)}
	both := false
	if m.sheet.Software == "" { // of a sheet in one line, one interval is of either
		if typical, err := m.edit(b, "software", "typical", m.name+"-typical"); err == nil {
			m, both = typical, true
		}
	}
	m.make(b, both)

	// Thousands of ranks may take longer than there is time. With a rank a socket and threaded kernels the same machine
	// takes minutes; what the ranks of the sheet change comes last.
	most := cmp.Or(b.Budget, patience) / time.Duration(len(b.Sheets))
	n, left, _ := (&buyer{Request: b.Request, machines: []*machine{m}, pace: b.pace}).forecast(0, false)
	if ranks := m.sheet.RanksPerHost; left > most && ranks > m.sheet.Sockets {
		other, err := m.edit(b, "ranks_per_host", strconv.Itoa(m.sheet.Sockets), m.name+"-socket")
		if err != nil {
			return m // a sheet in one line: as far as the time goes
		}
		other.basis = fmt.Sprintf("%s: replayed with a rank a socket, since %d replays with %d ranks a node would take about %v. What these"+
			" ranks change comes last.", m.name, n, ranks, study.Round(left.Seconds()))
		m = other
		m.make(b, both)
	}
	return m
}

// edit returns a machine with another value of a key of its sheet, which is made in dir.
func (m *machine) edit(b *buyer, key, value, dir string) (_ *machine, err error) {
	defer textutil.Stopped(&err)
	text, command := edited(m.text, m.file, key, value, dir+".yaml")
	other := textutil.Must(b.parse(m.file, text))
	if said(text, key) != value {
		return nil, fmt.Errorf("%s: %s is not in a line of its own, where it could be changed", m.file, key)
	}
	other.name, other.dir, other.file, other.stated, other.warnings = m.name, dir, dir+".yaml", m.stated, m.warnings
	other.made = append(slices.Clone(m.made[:len(m.made)-1]), command, fmt.Sprintf("calibrate machine %s --sheet %s.yaml", dir, dir))
	return other, nil
}

// parse reads a sheet.
func (b *buyer) parse(file string, text []byte) (*machine, error) {
	s, warnings, err := sheet.Parse(bytes.NewReader(text), file)
	if err == nil && s.GPU.Count > 0 {
		err = fmt.Errorf("%s: nodes with GPUs: study buy compares machines by HPL and HPCG on processors; for rocHPL: calibrate machine --sheet, "+
			"tracegen hpl --variant rochpl, replay --uncertainty", file)
	}
	if err != nil {
		return nil, err
	}
	return &machine{file: file, text: text, sheet: s, warnings: warnings, fill: b.Fill, stated: s.RanksPerHost}, nil
}

// make writes the machine, and prepares its runs; with changes, and with both sorts of software, those of these as well.
func (m *machine) make(b *buyer, both bool) {
	m.write(b)
	if both {
		m.tuned = textutil.Must(m.edit(b, "software", "tuned", m.name+"-tuned"))
		m.tuned.write(b)
	}
	m.prepareChanges(b)
	s := textutil.Must(study.Parse(strings.NewReader(m.studyText(filepath.Join(b.Dir, m.dir), b)), m.name+"-search.yaml"))
	m.plan = textutil.Must(study.NewPlan(s, b.Tool))
	m.searchLeft, m.searchCost = tune.Forecast(m.plan, m.searchOptions(b))
}

// write writes the machine, and prepares its runs of the two programs.
func (m *machine) write(b *buyer) {
	textutil.Check(sheet.Make(filepath.Join(b.Dir, m.dir), m.sheet, m.text))
	err := error(nil)
	if m.usual, err = m.hplOn(b, m.usualParams(), ""); err == nil {
		m.hpcg, err = m.hpcgOn(b, "")
	}
	if err != nil {
		textutil.Stop(fmt.Errorf("%s: %w", m.file, err))
	}
}

// listChanges lists the what-ifs that make sense.
func (m *machine) listChanges() {
	s := m.sheet
	constant := func(format string, args ...any) func(string) string {
		return func(string) string { return fmt.Sprintf(format, args...) }
	}
	slow := min(slowNodes, max(1, s.Nodes/2))
	var names []string
	for i := range slow {
		names = append(names, strconv.Itoa(i))
	}
	m.changes = []*change{
		{name: "a second uplink", slug: "uplinks", key: "topology", value: doubleUplinks},
		{name: fmt.Sprintf("memory %g times as fast", memoryFactor), slug: "memory", key: "memory_bandwidth",
			value: constant("%gGBps", memoryFactor*s.MemoryBandwidth/1e9)},
		{name: "twice the nodes", slug: "nodes", key: "nodes", value: constant("%d", 2*s.Nodes)},
		{name: fmt.Sprintf("%s at %s of the speed", textutil.Count(slow, "node"), slowSpeed), slug: "slow",
			hostSpeed: "node-[" + strings.Join(names, ",") + "]=" + slowSpeed},
	}
	for _, r := range []struct {
		name  string
		ranks int
	}{{"a rank a socket", s.Sockets}, {"a rank a core", s.Sockets * s.Cores}, {textutil.Count(m.stated, "rank") + " a node", m.stated}} {
		known := slices.ContainsFunc(m.changes, func(c *change) bool { return c.slug == "ranks-"+strconv.Itoa(r.ranks) })
		if r.ranks != s.RanksPerHost && !known {
			m.changes = append(m.changes, &change{name: r.name, slug: "ranks-" + strconv.Itoa(r.ranks), key: "ranks_per_host",
				value: constant("%d", r.ranks), last: r.ranks > s.RanksPerHost})
		}
	}
}

// up matches the cables up of a fat tree: a count, which a speed may follow, or the speed of one.
var up = regexp.MustCompile(`\bup=(?:(\d+)(x[^\s]*)?(\s|$)|([^\s]+))`)

// doubleUplinks returns a topology with twice the cables up.
func doubleUplinks(topology string) string {
	if !strings.HasPrefix(topology, "fat-tree") {
		return ""
	}
	return up.ReplaceAllStringFunc(topology, func(text string) string {
		of := up.FindStringSubmatch(text)
		if of[1] == "" {
			return "up=2x" + of[4]
		}
		n, _ := strconv.Atoi(of[1]) // of digits; one that is too long was no sheet's
		return fmt.Sprintf("up=%d%s%s", 2*n, of[2], of[3])
	})
}

// said returns what a sheet says for a key, in a line of its own; "" if it does not.
func said(text []byte, key string) string {
	of := regexp.MustCompile(`(?m)^` + key + `:[ \t]*([^#\n]*)`).FindSubmatch(text)
	if of == nil {
		return ""
	}
	return strings.Trim(strings.TrimSpace(string(of[1])), `"'`)
}

// edited returns the text of a sheet with another value, and a command that makes it.
func edited(text []byte, file, key, value, to string) (result []byte, command string) {
	line := regexp.MustCompile(`(?m)^` + key + `:.*$`)
	if line.Match(text) {
		return line.ReplaceAllLiteral(text, []byte(key+": "+value)), fmt.Sprintf("sed 's/^%s:.*/%s: %s/' %s > %s", key, key, value, file, to)
	}
	return fmt.Appendf(slices.Clone(text), "\n%s: %s\n", key, value), fmt.Sprintf(`(cat %s; echo; echo "%s: %s") > %s`, file, key, value, to)
}

// prepareChanges makes the machines of all changes, and their runs.
func (m *machine) prepareChanges(b *buyer) {
	m.listChanges()
	for _, c := range m.changes {
		if c.hostSpeed != "" {
			textutil.Check(c.runs(b, m, m))
			continue
		}
		value := c.value(said(m.text, c.key))
		if value == "" {
			c.impossible = "no fat tree"
			continue
		}
		other, err := m.edit(b, c.key, value, m.name+"-"+c.slug)
		if err == nil {
			err = sheet.Make(filepath.Join(b.Dir, other.dir), other.sheet, other.text)
		}
		if err == nil {
			err = c.runs(b, m, other)
		}
		if err != nil { // such as a torus of twice the nodes: all else has an answer
			c.impossible, c.hpl, c.hpcg = textutil.OneLine(err).Error(), nil, nil
		}
	}
}

// runs sets the runs of a change on a machine: those of m, with the order and the grid that the changed machine has
// room for.
func (c *change) runs(b *buyer, m, on *machine) (err error) {
	params := m.usual.params
	if on.ranks() != m.ranks() || on.order() != m.order() {
		grid := on.grid()
		if on.ranks() == 2*m.ranks() { // the smaller side twice
			p, q := params.int("P"), params.int("Q")
			if grid = [2]int{p, 2 * q}; p < q {
				grid = [2]int{2 * p, q}
			}
		}
		params = params.with("N", on.order()).with("P", grid[0]).with("Q", grid[1])
	}
	if c.hpl, err = on.hplOn(b, params, c.hostSpeed); err == nil {
		c.hpcg, err = on.hpcgOn(b, c.hostSpeed)
	}
	return err
}

// ranks returns the number of ranks that fill the machine.
func (m *machine) ranks() int { return m.sheet.Nodes * m.sheet.RanksPerHost }

// peak returns the Gflop/s of the machine by its sheet.
func (m *machine) peak() float64 {
	return m.sheet.Peak() * float64(m.sheet.Sockets*m.sheet.Cores) * float64(m.sheet.Nodes) / 1e9
}

// order returns the order of the matrix that fills the memory.
func (m *machine) order() int {
	return max(orderStep, int(math.Sqrt(m.fill*m.sheet.Memory*float64(m.sheet.Nodes)/8))/orderStep*orderStep)
}

// grids returns the grids of the search, the one that is nearest to a square first: all with usual shapes, else the one
// that is nearest.
func (m *machine) grids() (list [][2]int) {
	ranks := m.ranks()
	for p := int(math.Sqrt(float64(ranks))); p >= 1; p-- {
		if q := ranks / p; ranks%p == 0 && (q <= flattest*p || list == nil) {
			list = append(list, [2]int{p, q})
			if q <= tallest*p && q != p {
				list = append(list, [2]int{q, p})
			}
		}
	}
	return list
}

func (m *machine) grid() [2]int { return m.grids()[0] }

// parameters are those of HPL that are not its defaults, in the order of the command.
type parameters []trace.Param

// with returns the parameters with another value.
func (p parameters) with(name string, value any) parameters {
	p = slices.Clone(p)
	i := slices.IndexFunc(p, func(of trace.Param) bool { return of.Name == name })
	if i < 0 {
		i, p = len(p), append(p, trace.Param{Name: name})
	}
	p[i].Value = fmt.Sprint(value)
	return p
}

func (p parameters) text(name string) string {
	for _, of := range p {
		if of.Name == name {
			return of.Value
		}
	}
	return ""
}

func (p parameters) int(name string) int {
	n, _ := strconv.Atoi(p.text(name)) // made of a number
	return n
}

// flags returns the parameters as flags of tracegen.
func (p parameters) flags() string {
	var b strings.Builder
	for _, of := range p {
		dashes := "--"
		if len(of.Name) == 1 {
			dashes = "-"
		}
		fmt.Fprintf(&b, " %s%s %s", dashes, of.Name, of.Value)
	}
	return b.String()
}

// usualParams returns those of an HPL.dat that is not tuned: a grid near a square, what suits most machines, and no
// look-ahead, as in HPL's own file: estimates of a rank a core take a tenth of the time then.
func (m *machine) usualParams() parameters {
	g := m.grid()
	nb := m.blocks()
	var p parameters
	p = p.with("N", m.order()).with("NB", nb[min(2, len(nb)-1)]).with("P", g[0]).with("Q", g[1])
	return p.with("BCAST", "1ringM").with("DEPTH", 0)
}

// blocks returns the block sizes of the search: those that leave each process four blocks of rows.
func (m *machine) blocks() (list []int) {
	for _, nb := range blocks {
		if m.order()/4/nb >= m.grid()[0] {
			list = append(list, nb)
		}
	}
	if list == nil {
		list = []int{32}
	}
	return list
}

// studyText returns the study that the search is, for a machine in a directory.
func (m *machine) studyText(dir string, b *buyer) string {
	fixed, factors := fmt.Sprintf("N: %d", m.order()), ""
	if grids := m.grids(); len(grids) == 1 {
		fixed += fmt.Sprintf(", P: %d, Q: %d", grids[0][0], grids[0][1])
	} else {
		factors += "  PxQ:\n"
		for _, g := range grids {
			factors += fmt.Sprintf("    %dx%d: {P: %d, Q: %d}\n", g[0], g[1], g[0], g[1])
		}
	}
	var nb []string
	for _, n := range m.blocks() {
		nb = append(nb, strconv.Itoa(n))
	}
	if len(nb) == 1 {
		fixed += ", NB: " + nb[0]
	} else {
		factors += "  NB: [" + strings.Join(nb, ", ") + "]\n"
	}
	return fmt.Sprintf("program: hpl\nmachine: %q\nparameters: {%s}\nfactors:\n%s  BCAST: [1ringM, 2ringM]\n  DEPTH: [0, 1]\ntolerance: %g%%\n",
		dir, fixed, factors, 100*max(searchTolerance, b.Tolerance))
}

// configured returns a series of the machine with the parameters of a run.
func (m *machine) configured(b *buyer, name string, run *programs.Run) *series {
	p := parameters{}
	for _, of := range run.HPL.List() {
		if m.usual.params.text(of.Name) != "" {
			p = append(p, trace.Param{Name: of.Name, Value: of.Value})
		}
	}
	s, _ := m.hplOn(b, p, "") // the plan has checked the parameters
	s.name = m.name + ", " + name
	return s
}

// hplOn returns a series of HPL on the machine.
func (m *machine) hplOn(b *buyer, p parameters, hostSpeed string) (*series, error) {
	run, err := programs.Find("hpl").New(p)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("N %s, NB %s, %s x %s, %s, depth %s", p.text("N"), p.text("NB"), p.text("P"), p.text("Q"), p.text("BCAST"), p.text("DEPTH"))
	return m.newSeries(b, "hpl", run, p, title, hostSpeed)
}

// hpcgOn returns a series of HPCG on the machine: the largest cubes that the memory has room for.
func (m *machine) hpcgOn(b *buyer, hostSpeed string) (*series, error) {
	points := m.fill * m.sheet.Memory / float64(m.sheet.RanksPerHost) / tune.BytesPerPoint
	n := max(16, int(math.Cbrt(points))/8*8)
	box := func() parameters {
		return parameters{}.with("ranks", m.ranks()).with("nx", n).with("ny", n).with("nz", n)
	}
	run, err := programs.Find("hpcg").New(box())
	for err != nil && n > 16 { // HPCG counts the nonzeros of a rank in 32 bits
		n -= 8
		run, err = programs.Find("hpcg").New(box())
	}
	if err != nil {
		return nil, fmt.Errorf("HPCG: %w", err)
	}
	share := tune.BytesPerPoint * math.Pow(float64(n), 3) * float64(m.sheet.RanksPerHost) / m.sheet.Memory
	title := fmt.Sprintf("boxes of %d x %d x %d, %.0f %% of the memory", n, n, n, 100*share)
	if share < tune.LeastShare {
		title += ", less than the quarter that HPCG's rules want"
	} else if share > 1 {
		title += ", more than there is"
	}
	return m.newSeries(b, "hpcg", run, box(), title, hostSpeed)
}

// newSeries returns a series, with the commands that give its numbers.
func (m *machine) newSeries(b *buyer, program string, run *programs.Run, p parameters, title, hostSpeed string) (*series, error) {
	s := &series{name: m.dir, program: program, run: run, params: p, title: title, spec: replay.MachineSpec{Machine: filepath.Join(b.Dir, m.dir)}}
	s.again, s.trace = "replay --machine "+m.dir, fmt.Sprintf("%s-%s.trace.zst", m.dir, program)
	if hostSpeed != "" {
		s.again += fmt.Sprintf(" --host-speed '%s'", hostSpeed)
		if err := replay.FindParameter("host-speed").Set(&s.spec, hostSpeed); err != nil {
			return nil, err
		}
	}
	s.again += fmt.Sprintf(" --tolerance %g%%", 100*b.Tolerance)
	s.commands = append(slices.Clone(m.made), fmt.Sprintf("tracegen %s%s -o %s", program, p.flags(), s.trace))
	return s, nil
}
