package kernels

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// This file parses the formulas of a kernel file: parseProduct what a coefficient multiplies, as (M0+M1)*N, and
// parseConditions the thresholds of a piece, as M > 1280 and K > 256. Their comments have the grammars.

// sum is a factor of a product: the sum of one or more dimensions.
type sum []string

// product is the factors that a coefficient multiplies: no factor stands for 1.
type product []sum

// condition is one comparison of a threshold: lo <= dim <= hi.
type condition struct {
	dim    string
	lo, hi int64
}

// parseProduct parses a product of dimensions, of degree at most maxDegree; a power is repeated factors:
//
//	product = "1" | factor { "*" factor }
//	factor  = NAME [ "^" DIGITS ] | sum
//	sum     = "(" NAME { "+" NAME } ")"
func parseProduct(text string) (product, error) {
	toks, err := tokens(text)
	if err != nil {
		return nil, err
	}
	if len(toks) == 1 && toks[0] == "1" {
		return nil, nil
	}
	bad := fmt.Errorf("product %q: want dimensions as in M*N*K, M^2*N, (M0+M1)*N or 1", text)
	var p product
	for toks = append([]string{"*"}, toks...); len(toks) > 0; { // each factor stands behind an operator
		if toks[0] != "*" || len(toks) < 2 {
			return nil, bad
		}
		head, rest := toks[1], toks[2:]
		switch {
		case head == "(":
			var s sum
			if s, rest = parseSum(rest); s == nil || len(rest) == 0 || rest[0] != ")" {
				return nil, bad
			}
			p, toks = append(p, s), rest[1:]
		case !isLetter(head[0]):
			return nil, bad
		case len(rest) > 0 && rest[0] == "^":
			if len(rest) < 2 {
				return nil, bad
			}
			n, err := strconv.Atoi(rest[1])
			if err != nil || n < 1 {
				return nil, bad
			}
			p, toks = append(p, slices.Repeat(product{sum{head}}, min(n, maxDegree+1))...), rest[2:]
		default:
			p, toks = append(p, sum{head}), rest
		}
		if len(p) > maxDegree {
			return nil, fmt.Errorf("product %q: degree over %d", text, maxDegree)
		}
	}
	return p, nil
}

// parseSum takes NAME { "+" NAME } off toks; it returns nil if there is none or if it repeats a name.
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

// normal returns a text that is the same for products that differ only in the order of factors and summands.
func (p product) normal() string {
	factors := textutil.Texts(p, func(s sum) string { return strings.Join(slices.Sorted(slices.Values(s)), "+") })
	slices.Sort(factors)
	return strings.Join(factors, "*")
}

// parseConditions parses thresholds, comparisons of a dimension with a whole number that must all hold:
//
//	conditions = comparison { "and" comparison }
//	comparison = NAME ( ">" | ">=" | "<" | "<=" | "==" ) DIGITS
//
// The result has one condition per dimension, sorted by name.
func parseConditions(text string) (list []condition, err error) {
	toks, err := tokens(text)
	if err != nil {
		return nil, err
	}
	for n := 3; n < len(toks)+4; n += 4 {
		if len(toks) < n || len(toks) > n && toks[n] != "and" {
			return nil, fmt.Errorf("thresholds %q: want comparisons as in M > 1280 and K > 256", text)
		}
		c := condition{dim: toks[n-3], hi: math.MaxInt64}
		v, err := strconv.ParseInt(toks[n-1], 10, 64)
		if err != nil || v == math.MaxInt64 || !isLetter(c.dim[0]) {
			return nil, fmt.Errorf("comparison %q: want a dimension, an operator, a whole number in %q",
				strings.Join(toks[n-3:n], " "), text)
		}
		switch toks[n-2] {
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
			return nil, fmt.Errorf("operator %q: want >, >=, <, <= or == in %q", toks[n-2], text)
		}
		i, found := slices.BinarySearchFunc(list, c, func(a, b condition) int { return cmp.Compare(a.dim, b.dim) })
		if found { // both must hold
			list[i].lo, list[i].hi = max(list[i].lo, c.lo), min(list[i].hi, c.hi)
		} else {
			list = slices.Insert(list, i, c)
		}
	}
	for _, c := range list {
		if c.lo > c.hi {
			return nil, fmt.Errorf("thresholds %q on %s never hold", text, c.dim)
		}
	}
	return list, nil
}

// token is a name, a number or an operator: one character, or two if the second is =.
var token = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*|[0-9]+|[<>=]=?|[*^()+]`)

// tokens splits an expression. Blanks only part what stands around them.
func tokens(text string) ([]string, error) {
	if rest := strings.TrimLeft(token.ReplaceAllLiteralString(text, ""), " "); rest != "" {
		return nil, fmt.Errorf("unexpected %q in %q", rest[0], text)
	}
	return token.FindAllString(text, -1), nil
}

// isLetter reports whether a name may begin with a byte.
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
