package tune

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"reprise/study"
	"reprise/tracegen/hpl"
)

// Request says what is to be tuned.
type Request struct {
	// Settings are what all runs have: the machine, and any other word of a study's file.
	Settings []study.Setting
	// Dat is an HPL.dat, whose lists are what comes into question; "": grids, block sizes, depths,
	// broadcasts and swaps that are usual.
	Dat string

	// Without Dat: the order of the matrix, 0: as Memory and Fill say; and the number of ranks, or of
	// nodes, all of whose cores get ranks; both 0: all nodes.
	N, Ranks, Nodes int

	Memory float64 // of a node; 0: enough
	Fill   float64 // the share of it that the matrix takes
}

// Study returns the study of all configurations that come into question, and how many others were
// left out since they would not fit into the memory.
func (r *Request) Study() (s *study.Study, leftOut int, err error) {
	text, err := r.file()
	if err != nil {
		return nil, 0, err
	}
	if s, err = study.Parse(strings.NewReader(text), "study tune"); err != nil {
		return nil, 0, err
	}
	leftOut, err = r.leaveOut(s)
	return s, leftOut, err
}

// file returns the file of the study.
func (r *Request) file() (string, error) {
	var parameters, options, machine strings.Builder
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
	factors := ""
	if r.Dat != "" {
		if err := r.checkDat(); err != nil {
			return "", err
		}
		fmt.Fprintf(&machine, "hpl-dat: %s\n", strconv.Quote(r.Dat))
	} else {
		places, err := r.places()
		if err != nil {
			return "", err
		}
		n, lists, err := r.lists(places)
		if err != nil {
			return "", err
		}
		if r.setting("ranks-per-host") == "" { // nodes are filled, one after the other
			fmt.Fprintf(&machine, "ranks-per-host: %d\n", places.perHost)
		}
		fmt.Fprintf(&parameters, "  N: %d\n", n)
		factors = lists
	}
	text := "program: hpl\n" + machine.String()
	for _, part := range []struct{ key, text string }{{"parameters", parameters.String()}, {"options", options.String()}, {"factors", factors}} {
		if part.text != "" {
			text += part.key + ":\n" + part.text
		}
	}
	return text, nil
}

// checkDat refuses lists of an HPL.dat that cannot be tuned within.
func (r *Request) checkDat() error {
	if r.N != 0 || r.Ranks != 0 || r.Nodes != 0 {
		return errors.New("an HPL.dat says N, P and Q itself: leave the order, the ranks and the nodes out, or the HPL.dat")
	}
	text, err := os.ReadFile(r.Dat)
	if err != nil {
		return err
	}
	dat, err := hpl.ReadDat(bytes.NewReader(text), r.Dat)
	if err != nil {
		return err
	}
	for _, l := range dat.Lists() {
		if slices.Equal(l.Names, []string{"N"}) && len(l.Values) > 1 {
			return fmt.Errorf("%s: N has %d values: what is tuned solves one system; leave one of them", r.Dat, len(l.Values))
		}
	}
	if n := dat.Combinations(); n < 2 {
		return fmt.Errorf("%s: its lists have one value each: there is nothing to choose", r.Dat)
	}
	places, err := r.places()
	if err != nil {
		return err
	}
	for k := range dat.Combinations() {
		if p, err := dat.Combination(k + 1); err != nil {
			return fmt.Errorf("%s: %w", r.Dat, err)
		} else if ranks := int64(p.P) * int64(p.Q); places.finite() && ranks > places.ranks() {
			return fmt.Errorf("%s: P = %d times Q = %d is %d ranks, and %s has room for %d", r.Dat, p.P, p.Q, ranks, places.name, places.ranks())
		}
	}
	return nil
}

// lists returns the order of the matrix, and the factors that are usual.
func (r *Request) lists(p *places) (n int, factors string, err error) {
	ranks, nodes, err := r.ranks(p)
	if err != nil {
		return 0, "", err
	}
	grids, err := gridsOf(ranks)
	if err != nil {
		return 0, "", err
	}
	if n = r.N; n == 0 {
		if n, err = r.order(nodes); err != nil {
			return 0, "", err
		}
	}
	var b strings.Builder
	b.WriteString("  PxQ:\n")
	for _, g := range grids {
		fmt.Fprintf(&b, "    %dx%d: {P: %d, Q: %d}\n", g[0], g[1], g[0], g[1])
	}
	fmt.Fprintf(&b, "  NB: [%s]\n", strings.Join(blocks(n, grids), ", "))
	b.WriteString("  DEPTH: [0, 1]\n  BCAST: [1rg, 1rM, 2rg, 2rM, Lng, LnM]\n  SWAP: [bin, long, mix]\n")
	return n, b.String(), nil
}

// Grids come into question whose rows are at most twice as many as their columns, and at least a
// sixteenth: pivots are sought along columns, and panels sent along rows.
const tallest, flattest = 2, 16

// gridsOf returns the grids of so many ranks, by their number of rows.
func gridsOf(ranks int) ([][2]int, error) {
	if grids := usualGrids(ranks); len(grids) > 0 {
		return grids, nil
	}
	near := ranks - 1
	for len(usualGrids(near)) < 2 {
		near--
	}
	return nil, fmt.Errorf("%d ranks make no grid but those of fewer than one row for %d columns, or more than %d for one, in which HPL is slow: take %d, or name grids in an HPL.dat", ranks, flattest, tallest, near)
}

func usualGrids(ranks int) (grids [][2]int) {
	for p := 1; p <= ranks; p++ {
		if q := ranks / p; ranks%p == 0 && p <= tallest*q && q <= flattest*p {
			grids = append(grids, [2]int{p, q})
		}
	}
	return grids
}

// blocks returns the block sizes that come into question: those that leave each process four
// blocks of rows.
func blocks(n int, grids [][2]int) []string {
	var list []string
	for nb := 64; nb <= 256; nb += 32 {
		if n/4/nb >= grids[len(grids)-1][0] {
			list = append(list, strconv.Itoa(nb))
		}
	}
	if len(list) == 0 {
		list = []string{"32"}
	}
	return list
}
