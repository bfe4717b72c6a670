package tune

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/platforms/machines"
	"reprise/replay"
	"reprise/study"
	"reprise/tracegen/hpl"
)

// This file makes a study of what is to be tuned: Request.Study, for HPL here, for HPCG by boxes.go.

const (
	// generic is the built-in machine that has as many hosts as a run needs.
	generic = "default"

	// orderStep is what orders are multiples of: the largest block size.
	orderStep = 256

	// Usual grids have at most twice as many rows as columns, and at least a sixteenth as many:
	// pivots are sought along columns, and panels sent along rows.
	tallest, flattest = 2, 16
)

// Request says what is to be tuned.
type Request struct {
	HPCG bool // not HPL: what is to be tuned are the process grid and the box of each rank
	// Settings are what all runs have: the machine, and any other parameter of a study's file.
	Settings []study.Setting
	// Dat is an HPL.dat whose lists are the levels; "": usual grids, block sizes, depths, broadcasts and swaps.
	Dat string

	// Without Dat: the order of the matrix, 0: as Memory and Fill say; and the number of ranks, or
	// of nodes, all of whose cores get ranks; both 0: all nodes.
	N, Ranks, Nodes int

	Memory float64 // of a node, in bytes; 0: enough
	Fill   float64 // the share of it that the matrix takes
}

// Set adds a setting, as PARAMETER=VALUE. Settings that have a field of Request, and those that
// other settings make, are errors.
func (r *Request) Set(text string) error {
	word, value, ok := strings.Cut(text, "=")
	if !ok || word == "" {
		return fmt.Errorf("%q, want WORD=VALUE, such as PFACT=crout", text)
	}
	s := study.Setting{Word: word, Value: value}
	var err error
	switch word {
	case "ranks":
		err = errors.New("the number of ranks is that of --ranks or --nodes")
	case "N":
		err = errors.New("the order of the matrix is --order's, or -N's")
	case "seed":
		err = errors.New("of random pivots it is pivot-seed, of noise it is --seed")
	case "machine": // is checked where it is loaded
	default:
		err = study.CheckSetting(r.program(), s)
	}
	for _, of := range r.Settings {
		for _, name := range of.Sets() {
			if err == nil && slices.Contains(s.Sets(), name) {
				err = fmt.Errorf("%s is set twice, by %s too: leave one out", name, of.Word)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", word, err)
	}
	r.Settings = append(r.Settings, s)
	return nil
}

// program returns the name of what is tuned.
func (r *Request) program() string {
	if r.HPCG {
		return "hpcg"
	}
	return "hpl"
}

// setting returns the value of a parameter, "" if it is not set.
func (r *Request) setting(name string) string {
	value := ""
	for _, s := range r.Settings {
		if s.Word == name {
			value = s.Value
		}
	}
	return value
}

// Study returns the study of all configurations that come into question, and how many others were left out since they
// would not fit into the memory. The study is made as the text of its file, so that every setting is checked as there.
func (r *Request) Study() (s *study.Study, leftOut int, err error) {
	defer textutil.Stopped(&err)
	places := textutil.Must(r.places())
	// One builder for each mapping of the file; what is of the machine stands at its top.
	var parameters, options, machine, factors strings.Builder
	for _, s := range r.Settings {
		to, indent := &parameters, "  "
		switch {
		case study.OfMachine(s.Word):
			to, indent = &machine, ""
		case strings.Contains(s.Word, "/"):
			to = &options
		}
		fmt.Fprintf(to, "%s%s: %s\n", indent, strconv.Quote(s.Word), strconv.Quote(s.Value))
	}
	var boxes *boxes
	switch {
	case r.HPCG:
		boxes = textutil.Must(r.boxes(places, &machine, &parameters, &factors))
	case r.Dat != "":
		textutil.Check(r.checkDat(places))
		fmt.Fprintf(&machine, "hpl-dat: %s\n", strconv.Quote(r.Dat))
	default:
		textutil.Check(r.usual(places, &machine, &parameters, &factors))
	}
	if r.Dat == "" && factors.Len() == 0 {
		return nil, 0, errors.New("all that could be chosen is set: there is nothing to choose")
	}
	text := "program: " + r.program() + "\n" + machine.String()
	for _, part := range []struct {
		key string
		of  *strings.Builder
	}{{"parameters", &parameters}, {"options", &options}, {"factors", &factors}} {
		if part.of.Len() > 0 {
			text += part.key + ":\n" + part.of.String()
		}
	}
	// Values are quoted above, so that none of them can be YAML of its own.
	s = textutil.Must(study.Parse(strings.NewReader(text), "study tune"))
	if r.HPCG {
		return s, 0, boxes.keep(s)
	}
	leftOut, err = r.leaveOut(s, places)
	return s, leftOut, err
}

// checkDat refuses an HPL.dat within whose lists nothing can be chosen, or whose grids the machine has no room for.
func (r *Request) checkDat(places *places) error {
	if r.N != 0 || r.Ranks != 0 || r.Nodes != 0 {
		return errors.New("an HPL.dat says N, P and Q itself: leave the order, the ranks and the nodes out, or the HPL.dat")
	}
	dat := textutil.Must(hpl.ReadDat(bytes.NewReader(textutil.Must(os.ReadFile(r.Dat))), r.Dat))
	if odd := dat.Warnings(); len(odd) > 0 {
		return fmt.Errorf("%s; a study wants a file that says what HPL reads", odd[0])
	}
	for _, l := range dat.Lists() {
		for _, name := range l.Names {
			if r.setting(name) != "" {
				return fmt.Errorf("%s says %s itself: leave the setting of %s out", r.Dat, name, name)
			}
		}
		if slices.Equal(l.Names, []string{"N"}) && len(l.Values) > 1 {
			return fmt.Errorf("%s: N has %d values: what is tuned solves one system; leave one of them", r.Dat, len(l.Values))
		}
	}
	if n := dat.Combinations(); n < 2 {
		return fmt.Errorf("%s: its lists have one value each: there is nothing to choose", r.Dat)
	}
	// Products of an HPL.dat's numbers may exceed an int of 32 bits.
	room := int64(places.hosts) * int64(places.perHost)
	for k := range dat.Combinations() {
		p, err := dat.Combination(k + 1)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Dat, err)
		}
		if ranks := int64(p.P) * int64(p.Q); places.hosts > 0 && ranks > room {
			return fmt.Errorf("%s: P = %d times Q = %d is %d ranks, and %s has room for %d", r.Dat, p.P, p.Q, ranks, places.name,
				room)
		}
	}
	return nil
}

// usual writes, as parts of a study's file, the order of the matrix and those usual factors that are not set.
//
// The usual levels are grids that are not far from square (tallest, flattest), block sizes from 64 to 256 in steps
// of 32, a look-ahead of 0 or 1, all six broadcasts, and all three swaps. The other parameters of an HPL.dat, such
// as PFACT, are those that HPL has by default, unless they are set. A parameter that is set is no factor, nor is
// one with a single level.
func (r *Request) usual(places *places, machine, parameters, factors *strings.Builder) error {
	ranks := textutil.Must(r.ranks(places))
	grids := textutil.Must(r.grids(ranks))

	// The order that fills the memory, of the node with most ranks if some have fewer.
	n := r.N
	if n == 0 {
		if r.Memory == 0 {
			return errors.New("neither the order of the matrix nor the memory of a node is given: which problem is to be solved?")
		}
		// A matrix of order n has 8 n^2 bytes, in equal parts for all ranks.
		each := r.Fill * r.Memory / float64(min(places.perHost, ranks)) // bytes of a rank
		if n = int(math.Sqrt(each*float64(ranks)/8)) / orderStep * orderStep; n < orderStep {
			return fmt.Errorf("%s of memory on each of %s are too small: %.0f %% of it hold no matrix of order %d",
				study.Bytes(int64(r.Memory)), textutil.Count((ranks+places.perHost-1)/places.perHost, "node"), 100*r.Fill, orderStep)
		}
	}
	fmt.Fprintf(parameters, "  N: %d\n", n)
	if r.setting("ranks-per-host") == "" { // nodes are filled, one after the other
		fmt.Fprintf(machine, "ranks-per-host: %d\n", places.perHost)
	}

	// The grid is a factor unless P or Q is set, which leaves one.
	if r.setting("P") == "" && r.setting("Q") == "" {
		factors.WriteString("  PxQ:\n")
		for _, g := range grids {
			fmt.Fprintf(factors, "    %dx%d: {P: %d, Q: %d}\n", g[0], g[1], g[0], g[1])
		}
	} else {
		for i, name := range []string{"P", "Q"} {
			if r.setting(name) == "" {
				fmt.Fprintf(parameters, "  %s: %d\n", name, grids[0][i])
			}
		}
	}

	// Block sizes leave each process four blocks of rows.
	var blocks []string
	for nb := 64; nb <= 256; nb += 32 {
		if n/4/nb >= grids[len(grids)-1][0] {
			blocks = append(blocks, strconv.Itoa(nb))
		}
	}
	if len(blocks) == 0 {
		blocks = []string{"32"}
	}
	for _, f := range []struct{ name, levels string }{
		{"NB", strings.Join(blocks, ", ")},
		{"DEPTH", "0, 1"},
		{"BCAST", "1rg, 1rM, 2rg, 2rM, Lng, LnM"},
		{"SWAP", "bin, long, mix"},
	} {
		if r.setting(f.name) == "" {
			fmt.Fprintf(factors, "  %s: [%s]\n", f.name, f.levels)
		}
	}
	return nil
}

// grids returns the grids of so many ranks that come into question, by their number of rows: the
// one with the P or Q that is set, or those that are usual.
func (r *Request) grids(ranks int) ([][2]int, error) {
	// All factorisations of the number of ranks, by rows, that fit.
	grids := func(ranks int, fits func(p, q int) bool) (list [][2]int) {
		for p := 1; p <= ranks; p++ {
			if q := ranks / p; ranks%p == 0 && fits(p, q) {
				list = append(list, [2]int{p, q})
			}
		}
		return list
	}
	rows, columns := r.setting("P"), r.setting("Q")
	if rows == "" && columns == "" {
		usual := func(p, q int) bool { return p <= tallest*q && q <= flattest*p }
		if list := grids(ranks, usual); len(list) > 0 {
			return list, nil
		}
		// The next smaller number of ranks that has grids of two shapes.
		near := ranks - 1
		for len(grids(near, usual)) < 2 {
			near--
		}
		return nil, fmt.Errorf("%d ranks make no grid but those of fewer than one row for %d columns, or more than %d for one,"+
			" in which HPL is slow: take %d, or name grids in an HPL.dat", ranks, flattest, tallest, near)
	}
	list := grids(ranks, func(p, q int) bool {
		return (rows == "" || rows == strconv.Itoa(p)) && (columns == "" || columns == strconv.Itoa(q))
	})
	if len(list) > 0 {
		return list[:1], nil
	}
	var set []string
	for _, name := range []string{"P", "Q"} {
		if text := r.setting(name); text != "" {
			set = append(set, name+" = "+text)
		}
	}
	return nil, fmt.Errorf("%d ranks make no grid with %s", ranks, strings.Join(set, " and "))
}

// places are the hosts for ranks.
type places struct {
	name    string // of the platform
	hosts   int    // 0: as many as a run needs
	perHost int    // ranks
}

// places looks at the machine.
func (r *Request) places() (*places, error) {
	name := r.setting("platform")
	if machine := r.setting("machine"); machine != "" {
		name = machine
		if !regular.IsFile(machine) {
			platform, _, err := machines.Find(machine)
			if err != nil {
				return nil, err
			}
			name = platform
		}
	}
	each := 0
	if text := r.setting("ranks-per-host"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("ranks-per-host: %s, want a positive number", text)
		}
		each = n
	}
	p, err := replay.FindPlatform(cmp.Or(name, generic), 1)
	if err == nil && each == 0 {
		each, err = replay.PlacesOf(p, 0)
	}
	if err != nil {
		return nil, err
	}
	if name == "" || name == generic && !regular.IsFile(name) { // as many hosts as there have to be
		return &places{name: generic, perHost: each}, nil
	}
	return &places{name, p.NumHosts(), each}, nil
}

// ranks returns the number of ranks that a request asks for, if the machine has room for them.
func (r *Request) ranks(p *places) (int, error) {
	ranks := p.hosts * p.perHost
	switch {
	case r.Ranks > 0 && r.Nodes > 0:
		return 0, errors.New("ranks and nodes are both given: leave one out")
	case r.Ranks > 0:
		ranks = r.Ranks
	case r.Nodes > 0:
		ranks = r.Nodes * p.perHost
	case p.hosts == 0:
		return 0, fmt.Errorf("the machine %s is as large as it has to be: say how many ranks or nodes", p.name)
	}
	if nodes := (ranks + p.perHost - 1) / p.perHost; p.hosts > 0 && nodes > p.hosts {
		return 0, fmt.Errorf("%d ranks need %d nodes, and %s has %d, of %d ranks each", ranks, nodes, p.name, p.hosts,
			p.perHost)
	}
	return ranks, nil
}

// leaveOut removes the configurations that would not fit into the memory from a study, and
// returns their number. If none fits, the error names the largest order that does.
func (r *Request) leaveOut(s *study.Study, places *places) (int, error) {
	if r.Memory == 0 {
		return 0, nil
	}
	bytes := func(p *hpl.Params) float64 { // of the node with most ranks
		return float64(min(places.perHost, p.P*p.Q)) * bytesOfRank(p)
	}
	// The rows stay in the order of the design, of which some are taken out.
	var fit [][]int
	var list []hpl.Params
	for i, row := range s.Rows {
		p := *textutil.Must(s.Config(i)).Run.HPL
		if bytes(&p) <= r.Memory {
			fit = append(fit, row)
		}
		list = append(list, p)
	}
	if len(fit) > 0 {
		out := len(s.Rows) - len(fit)
		s.Rows = fit
		return out, nil
	}

	// The largest order below theirs with which one of the configurations fits, of those with the
	// smallest blocks, which come into question for smaller orders as well.
	smallest := slices.MinFunc(list, func(a, b hpl.Params) int { return cmp.Compare(a.NB, b.NB) }).NB
	n := (list[0].N - 1) / orderStep * orderStep
	// Orders are tried one after the other: what HPL allocates is no smooth function of the order.
	for ; n > 0; n -= orderStep {
		if slices.ContainsFunc(list, func(c hpl.Params) bool {
			c.N = n
			return c.NB == smallest && bytes(&c) <= r.Memory
		}) {
			break
		}
	}
	todo := fmt.Sprintf("no order from %d fits: take more ranks, or nodes with more memory", orderStep)
	if n > 0 {
		todo = fmt.Sprintf("take N = %d", n)
		if r.N == 0 && r.Dat == "" {
			todo += ", or less fill"
		}
	}
	least := slices.MinFunc(list, func(a, b hpl.Params) int { return cmp.Compare(bytes(&a), bytes(&b)) })
	return 0, fmt.Errorf("HPL would not fit: N = %d takes at least %s of a node (NB %d on %d x %d), which has %s: %s",
		least.N, study.Bytes(int64(bytes(&least))), least.NB, least.P, least.Q, study.Bytes(int64(r.Memory)), todo)
}

// bytesOfRank returns what HPL allocates on the rank that has most: its part of the matrix with the right-hand
// side, a panel for each depth of the look-ahead and the current one, and U with as much again to send it from.
func bytesOfRank(p *hpl.Params) float64 {
	part := func(processes int) float64 { // rows or columns of the first process, which has most
		blocks := (p.N + p.NB - 1) / p.NB
		return float64(min(p.N, (blocks+processes-1)/processes*p.NB))
	}
	nb, rows, cols := float64(p.NB), part(p.P), part(p.Q)
	panels := float64(p.Depth+1) * nb * (rows + 2*nb)
	return 8 * (rows*(cols+1) + panels + 2*nb*cols)
}
