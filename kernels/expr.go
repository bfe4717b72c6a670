package kernels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sum is a factor of a product: the sum of one or more dimensions.
type sum []string

// product is what a coefficient multiplies: no factor stands for 1.
type product []sum

// condition is one comparison of a threshold: lo <= dim <= hi.
type condition struct {
	dim    string
	lo, hi int64
}

// tokens splits an expression into names, numbers and operators.
func tokens(text string) ([]string, error) {
	var list []string
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; {
		case c == ' ':
			i++
			continue
		case isLetter(c):
			for i+n < len(text) && (isLetter(text[i+n]) || isDigit(text[i+n])) {
				n++
			}
		case isDigit(c):
			for i+n < len(text) && isDigit(text[i+n]) {
				n++
			}
		case strings.IndexByte("<>=", c) >= 0:
			if i+1 < len(text) && text[i+1] == '=' {
				n = 2
			}
		case strings.IndexByte("*^()+", c) < 0:
			return nil, fmt.Errorf("unexpected %q in %q", c, text)
		}
		list = append(list, text[i:i+n])
		i += n
	}
	return list, nil
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// parseProduct parses a product of dimensions:
//
//	product = "1" | factor { "*" factor }
//	factor  = NAME [ "^" DIGITS ] | sum
//	sum     = "(" NAME { "+" NAME } ")"
//
// of degree at most maxDegree.
func parseProduct(text string) (product, error) {
	toks, err := tokens(text)
	if err != nil {
		return nil, err
	}
	if len(toks) == 1 && toks[0] == "1" {
		return nil, nil
	}
	var p product
	for first := true; first || len(toks) > 0; first = false {
		if !first {
			if toks[0] != "*" {
				return nil, badProduct(text)
			}
			toks = toks[1:]
		}
		factors, rest := parseFactor(toks)
		if factors == nil {
			return nil, badProduct(text)
		}
		if p, toks = append(p, factors...), rest; len(p) > maxDegree {
			return nil, fmt.Errorf("product %q: degree over %d", text, maxDegree)
		}
	}
	return p, nil
}

func badProduct(text string) error {
	return fmt.Errorf("product %q: want dimensions as in M*N*K, M^2*N, (M0+M1)*N or 1", text)
}

// parseFactor takes one factor off toks, a power as repeated factors. It
// returns no factor if there is none.
func parseFactor(toks []string) (product, []string) {
	if len(toks) == 0 {
		return nil, nil
	}
	if toks[0] == "(" {
		s, rest := parseSum(toks[1:])
		if s == nil || len(rest) == 0 || rest[0] != ")" {
			return nil, nil
		}
		return product{s}, rest[1:]
	}
	if !isLetter(toks[0][0]) {
		return nil, nil
	}
	p := product{sum{toks[0]}}
	if len(toks) < 2 || toks[1] != "^" {
		return p, toks[1:]
	}
	if len(toks) < 3 {
		return nil, nil
	}
	n, err := strconv.Atoi(toks[2])
	if err != nil || n < 1 {
		return nil, nil
	}
	return slices.Repeat(p, min(n, maxDegree+1)), toks[3:]
}

// parseSum takes NAME { "+" NAME } off toks; it returns nil if there is none
// or if it repeats a name.
func parseSum(toks []string) (sum, []string) {
	var s sum
	for len(toks) > 0 && isLetter(toks[0][0]) && !slices.Contains(s, toks[0]) {
		s, toks = append(s, toks[0]), toks[1:]
		if len(toks) == 0 || toks[0] != "+" {
			return s, toks
		}
		toks = toks[1:]
	}
	return nil, nil
}

// parseExtent parses a dimension or a sum of dimensions, in parentheses or not.
func parseExtent(text string) (sum, error) {
	toks, err := tokens(text)
	if err != nil {
		return nil, err
	}
	if n := len(toks); n > 2 && toks[0] == "(" && toks[n-1] == ")" {
		toks = toks[1 : n-1]
	}
	s, rest := parseSum(toks)
	if s == nil || len(rest) > 0 {
		return nil, fmt.Errorf("extent %q: want a dimension or a sum as in M0+M1", text)
	}
	return s, nil
}

// normal returns a text that is the same for products that differ only in the
// order of factors and summands.
func (p product) normal() string {
	var factors []string
	for _, s := range p {
		factors = append(factors, strings.Join(slices.Sorted(slices.Values(s)), "+"))
	}
	slices.Sort(factors)
	return strings.Join(factors, "*")
}

// parseConditions parses thresholds, comparisons of a dimension with a whole
// number that must all hold:
//
//	conditions = comparison { "and" comparison }
//	comparison = NAME ( ">" | ">=" | "<" | "<=" | "==" ) DIGITS
//
// The result has one condition per dimension, sorted by name.
func parseConditions(text string) ([]condition, error) {
	toks, err := tokens(text)
	if err != nil {
		return nil, err
	}
	var list []condition
	for n := 3; ; n += 4 {
		if len(toks) < n || len(toks) > n && toks[n] != "and" {
			return nil, badConditions(text)
		}
		c, err := parseComparison(toks[n-3 : n])
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, text)
		}
		list = restrict(list, c)
		if len(toks) == n {
			break
		}
	}
	for _, c := range list {
		if c.lo > c.hi {
			return nil, fmt.Errorf("thresholds %q on %s never hold", text, c.dim)
		}
	}
	return list, nil
}

func badConditions(text string) error {
	return fmt.Errorf("thresholds %q: want comparisons as in M > 1280 and K > 256", text)
}

// parseComparison parses the three tokens of one comparison.
func parseComparison(toks []string) (condition, error) {
	c := condition{dim: toks[0], hi: math.MaxInt64}
	v, err := strconv.ParseInt(toks[2], 10, 64)
	if err != nil || v == math.MaxInt64 || !isLetter(toks[0][0]) {
		return c, fmt.Errorf("comparison %q: want a dimension, an operator, a whole number", strings.Join(toks, " "))
	}
	switch toks[1] {
	case ">":
		c.lo = v + 1
	case ">=":
		c.lo = v
	case "<":
		c.hi = v - 1
	case "<=":
		c.hi = v
	case "==":
		c.lo, c.hi = v, v
	default:
		return c, fmt.Errorf("operator %q: want >, >=, <, <= or ==", toks[1])
	}
	return c, nil
}

// restrict adds c to list, merged with what list says about its dimension.
func restrict(list []condition, c condition) []condition {
	i, found := slices.BinarySearchFunc(list, c, func(a, b condition) int { return cmp.Compare(a.dim, b.dim) })
	if !found {
		return slices.Insert(list, i, c)
	}
	list[i].lo = max(list[i].lo, c.lo)
	list[i].hi = min(list[i].hi, c.hi)
	return list
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
