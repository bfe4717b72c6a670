package textutil

import (
	"fmt"
	"strconv"
	"strings"
)

// Pattern matches names of kernels and of hosts. "*" stands for any run of characters; "[1-3,7]", as in the host lists
// of batch systems, for one whole decimal number of these ranges, leading zeros ignored. Everything else stands for
// itself.
type Pattern struct {
	text    string
	parts   []patternPart
	literal int // characters that stand for themselves
}

// patternPart is one element of a pattern.
type patternPart struct {
	star   bool
	ranges []numberRange // not nil: a number
	char   byte
}

// numberRange holds the numbers first..last.
type numberRange struct{ first, last uint64 }

// ParsePattern compiles text.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	if text == "" {
		return p, fmt.Errorf("empty pattern")
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*':
			p.parts = append(p.parts, patternPart{star: true})
		case '[':
			n := strings.IndexByte(text[i:], ']')
			if n < 0 {
				return p, fmt.Errorf("pattern %q: [ without ]", text)
			}
			// A number is whole: neither a digit nor another number may stand beside it.
			before := i > 0 && (isDigit(text[i-1]) || text[i-1] == ']')
			after := i+n+1 < len(text) && (isDigit(text[i+n+1]) || text[i+n+1] == '[')
			if before || after {
				return p, fmt.Errorf("pattern %q: a digit beside [...], which stands for a whole number", text)
			}
			var ranges []numberRange
			for item := range strings.SplitSeq(text[i+1:i+n], ",") {
				lo, hi, ok := ParseRange(item, "-")
				if !ok {
					return p, fmt.Errorf("pattern %q: range %q: want a number or first-last", text, item)
				}
				ranges = append(ranges, numberRange{lo, hi})
			}
			p.parts = append(p.parts, patternPart{ranges: ranges})
			i += n
		default:
			p.parts = append(p.parts, patternPart{char: text[i]})
			p.literal++
		}
	}
	return p, nil
}

// String returns the text of the pattern.
func (p *Pattern) String() string { return p.text }

// Exact reports whether the pattern stands for its own text only.
func (p *Pattern) Exact() bool { return p.literal == len(p.text) }

// Specificity orders patterns: exact names before all others, then the number of characters that stand for themselves.
func (p *Pattern) Specificity() int {
	const exact = 1 << 30 // more than any text has
	if p.Exact() {
		return len(p.text) + exact
	}
	return p.literal
}

// Match reports whether the pattern stands for name. On a mismatch the last star takes one character more, so the cost
// is at most len(name) times len(parts).
func (p *Pattern) Match(name string) bool {
	i, at := 0, 0                 // part, position in name
	star, starAt := -1, len(name) // last star seen and where its run ends
	for {
		switch {
		case i == len(p.parts) && at == len(name):
			return true
		case i < len(p.parts) && p.parts[i].star:
			star, starAt = i, at
			i++
			continue
		case i < len(p.parts):
			if n := p.parts[i].length(name, at); n > 0 {
				i++
				at += n
				continue
			}
		}
		if star < 0 || starAt >= len(name) {
			return false
		}
		starAt++
		i, at = star+1, starAt
	}
}

// length returns how many characters of name the part matches at position at, or 0 for none.
func (e *patternPart) length(name string, at int) int {
	if at == len(name) {
		return 0
	}
	if e.ranges == nil {
		if name[at] == e.char {
			return 1
		}
		return 0
	}
	if at > 0 && isDigit(name[at-1]) {
		return 0
	}
	end := at
	for end < len(name) && isDigit(name[end]) {
		end++
	}
	v, err := strconv.ParseUint(name[at:end], 10, 64)
	if err != nil {
		return 0
	}
	for _, r := range e.ranges {
		if r.first <= v && v <= r.last {
			return end - at
		}
	}
	return 0
}

// isDigit reports whether a byte is a decimal digit of ASCII.
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
