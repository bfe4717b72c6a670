package calibrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxDegree is the highest degree of a product, as in kernel files.
const maxDegree = 3

// product is a term of a model: 1, or dimensions joined by *, with powers.
type product struct {
	text   string // as kernel files write it
	powers []int  // by dimension
}

// parseProduct reads "1", "M*N*K" or "M^2*N", of the dimensions dims.
func parseProduct(text string, dims []string) (product, error) {
	p := product{strings.TrimSpace(text), make([]int, len(dims))}
	if p.text == "1" {
		return p, nil
	}
	degree := 0
	for factor := range strings.SplitSeq(p.text, "*") {
		name, exponent, has := strings.Cut(strings.TrimSpace(factor), "^")
		at, power := slices.Index(dims, name), 1
		if has {
			power, _ = strconv.Atoi(exponent)
		}
		if at < 0 || power < 1 || power > maxDegree {
			return p, fmt.Errorf("term %q: want 1, or a product of %s and their powers up to %d, as M^2*N", p.text, strings.Join(dims, ", "), maxDegree)
		}
		p.powers[at] += power
		degree += power
	}
	if degree > maxDegree {
		return p, fmt.Errorf("term %q: degree %d, want at most %d", p.text, degree, maxDegree)
	}
	return p, nil
}

// parseProducts reads the terms of a model.
func parseProducts(terms, dims []string) (list []product, err error) {
	for _, text := range terms {
		p, err := parseProduct(text, dims)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// sameProduct reports whether two texts are one product of the dimensions, as M*N and N*M.
func sameProduct(a, b string, dims []string) bool {
	p, err1 := parseProduct(a, dims)
	q, err2 := parseProduct(b, dims)
	return err1 == nil && err2 == nil && slices.Equal(p.powers, q.powers)
}

// CheckTerm reports what is wrong with a kernel's name, or with a term of its
// model: 1, or a product of dimensions as M^2*N.
func CheckTerm(kernel, term string) error {
	if !isName(kernel) {
		return fmt.Errorf("kernel %q: want %s", kernel, wantedName)
	}
	var dims []string
	for factor := range strings.SplitSeq(term, "*") {
		name, _, _ := strings.Cut(strings.TrimSpace(factor), "^")
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

// NormalTerm returns the same text for all terms that CheckTerm takes and that are the
// same product: M*M*N for N*M^2.
func NormalTerm(term string) string {
	var factors []string
	for factor := range strings.SplitSeq(term, "*") {
		name, exponent, has := strings.Cut(strings.TrimSpace(factor), "^")
		power := 1
		if has {
			power, _ = strconv.Atoi(exponent)
		}
		factors = append(factors, slices.Repeat([]string{name}, min(max(power, 1), maxDegree))...)
	}
	slices.Sort(factors)
	return strings.Join(factors, "*")
}

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

// allProducts returns the products of all subsets of the dimensions, largest
// first: M*N*K, M*N, M*K, N*K, M, N, K, 1.
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

// polynomial returns the terms of M-2: of three dimensions the product of all
// and of each two, and 1; of fewer, all products.
func polynomial(dims []string) []string {
	all := allProducts(dims)
	if len(dims) != 3 {
		return all
	}
	return append(slices.Clone(all[:4]), "1")
}
