package tune

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// usual is what comes into question without an HPL.dat, as parts of a study's file.
type usual struct {
	perHost    int // ranks
	parameters string
	factors    string
}

// usual returns the order of the matrix, and the factors that are usual but for those that are set.
func (r *Request) usual() (*usual, error) {
	places, err := r.places()
	if err != nil {
		return nil, err
	}
	ranks, err := r.ranks(places)
	if err != nil {
		return nil, err
	}
	grids, err := r.grids(ranks)
	if err != nil {
		return nil, err
	}
	n := r.N
	if n == 0 {
		if n, err = r.order(ranks, places); err != nil {
			return nil, err
		}
	}
	u := &usual{perHost: places.perHost, parameters: fmt.Sprintf("  N: %d\n", n)}
	u.varyGrids(r, grids)
	for _, f := range []struct {
		word   string
		levels []string
	}{
		{"NB", blocks(n, grids)},
		{"DEPTH", []string{"0", "1"}},
		{"BCAST", []string{"1rg", "1rM", "2rg", "2rM", "Lng", "LnM"}},
		{"SWAP", []string{"bin", "long", "mix"}},
	} {
		if r.setting(f.word) == "" {
			u.factors += fmt.Sprintf("  %s: [%s]\n", f.word, strings.Join(f.levels, ", "))
		}
	}
	if u.factors == "" {
		return nil, errors.New("all that could be chosen is set: there is nothing to choose")
	}
	return u, nil
}

// varyGrids makes the grid a factor, or sets that which P or Q leaves.
func (u *usual) varyGrids(r *Request, grids [][2]int) {
	if r.setting("P") != "" || r.setting("Q") != "" {
		for i, word := range []string{"P", "Q"} {
			if r.setting(word) == "" {
				u.parameters += fmt.Sprintf("  %s: %d\n", word, grids[0][i])
			}
		}
		return
	}
	u.factors = "  PxQ:\n"
	for _, g := range grids {
		u.factors += fmt.Sprintf("    %dx%d: {P: %d, Q: %d}\n", g[0], g[1], g[0], g[1])
	}
}

// grids returns those of so many ranks that come into question: the one with the P or Q that is set,
// or those that are usual.
func (r *Request) grids(ranks int) ([][2]int, error) {
	rows, columns := r.setting("P"), r.setting("Q")
	if rows == "" && columns == "" {
		return gridsOf(ranks)
	}
	for p := 1; p <= ranks; p++ {
		q := ranks / p
		if ranks%p == 0 && (rows == "" || rows == strconv.Itoa(p)) && (columns == "" || columns == strconv.Itoa(q)) {
			return [][2]int{{p, q}}, nil
		}
	}
	var set []string
	for _, word := range []string{"P", "Q"} {
		if text := r.setting(word); text != "" {
			set = append(set, word+" = "+text)
		}
	}
	return nil, fmt.Errorf("%d ranks make no grid with %s", ranks, strings.Join(set, " and "))
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
