package calibrate

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// This file reads and evaluates the terms of models: products of dimensions such as M*N*K or M^2*N.

// product is a term of a model: 1, or dimensions joined by *, with powers.
type product struct {
	text   string // as kernel files write it
	powers []int  // by dimension
}

// parseProducts reads the terms of a model.
func parseProducts(terms, dims []string) (list []product, err error) {
	defer textutil.Stopped(&err)
	for _, text := range terms {
		list = append(list, textutil.Must(parseProduct(text, dims)))
	}
	return list, nil
}

// parseProduct reads "1", "M*N*K" or "M^2*N", of the dimensions dims.
func parseProduct(text string, dims []string) (product, error) {
	p := product{strings.TrimSpace(text), make([]int, len(dims))}
	if p.text == "1" {
		return p, nil
	}
	degree := 0
	for name, power := range factors(p.text) {
		at := slices.Index(dims, name)
		if at < 0 || power < 1 || power > maxDegree {
			return p, fmt.Errorf("term %q: want 1, or a product of %s and their powers up to %d, as M^2*N", p.text,
				strings.Join(dims, ", "), maxDegree)
		}
		p.powers[at] += power
		degree += power
	}
	if degree > maxDegree {
		return p, fmt.Errorf("term %q: degree %d, want at most %d", p.text, degree, maxDegree)
	}
	return p, nil
}

// factors returns the factors of a product: dimensions and their powers, 0 for what is no power.
func factors(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for factor := range strings.SplitSeq(text, "*") {
			name, exponent, has := strings.Cut(strings.TrimSpace(factor), "^")
			power := 1
			if has {
				power, _ = strconv.Atoi(exponent)
			}
			if !yield(name, power) {
				return
			}
		}
	}
}

// maxDegree is the highest degree of a product, as in kernel files.
const maxDegree = 3

// at returns the product at a size.
func (p *product) at(size *[MaxDims]int64) float64 {
	v := 1.0
	for d, power := range p.powers {
		for range power {
			v *= float64(size[d])
		}
	}
	return v
}

// allProducts returns the products of all subsets of the dimensions, largest first: M*N*K, M*N, M*K, N*K, M, N, K, 1.
func allProducts(dims []string) []string {
	byDegree := make([][]string, len(dims)+1)
	for set := 1<<len(dims) - 1; set >= 0; set-- {
		var names []string
		for d, name := range dims {
			if set>>(len(dims)-1-d)&1 != 0 {
				names = append(names, name)
			}
		}
		text := "1"
		if len(names) > 0 {
			text = strings.Join(names, "*")
		}
		byDegree[len(names)] = append(byDegree[len(names)], text)
	}
	slices.Reverse(byDegree)
	return slices.Concat(byDegree...)
}

// CheckTerm reports what is wrong with a kernel's name, or with a term of its model: 1,
// or a product of dimensions as M^2*N.
func CheckTerm(kernel, term string) error {
	if !isName(kernel) {
		return fmt.Errorf("kernel %q: want %s", kernel, wantedName)
	}
	// The dimensions of the kernel are not known here: all names that could be some are taken.
	var dims []string
	for name := range factors(term) {
		if isName(name) && !slices.Contains(dims, name) {
			dims = append(dims, name)
		}
	}
	if len(dims) == 0 && term != "1" {
		dims = []string{"dimensions"}
	}
	p, err := parseProduct(term, dims)
	if err == nil && p.text != term {
		err = fmt.Errorf("term %q: space around it", term)
	}
	return err
}

// NormalTerm returns the same text for all terms that CheckTerm takes and that are the same product: M*M*N for N*M^2.
func NormalTerm(term string) string {
	var names []string
	for name, power := range factors(term) {
		names = append(names, slices.Repeat([]string{name}, min(max(power, 1), maxDegree))...)
	}
	slices.Sort(names)
	return strings.Join(names, "*")
}
