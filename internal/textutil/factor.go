package textutil

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/bounds"
)

// ParsePatternFactor reads PATTERN=FACTOR, such as node-[3,17]=0.9, and checks both.
func ParsePatternFactor(text string) (pattern string, factor float64, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return "", 0, fmt.Errorf("%s, want PATTERN=FACTOR", Quote(text))
	}
	pattern = text[:at]
	if factor, err = strconv.ParseFloat(text[at+1:], 64); err != nil {
		return pattern, 0, fmt.Errorf("%s: factor %s is not a number", Quote(text), Quote(text[at+1:]))
	}
	if _, err = ParsePattern(pattern); err == nil {
		err = bounds.Factor.Check("factor", factor)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", Quote(text), err)
	}
	return pattern, factor, err
}
