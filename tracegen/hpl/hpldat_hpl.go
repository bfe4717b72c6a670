package hpl

import (
	"math"
	"strings"
)

// hplLineLength is how many characters HPL reads of a line, its end included: fgets with
// HPL_LINE_MAX - 2 leaves one for the zero behind them.
const hplLineLength = 253

// hplLine reads values as HPL 2.3 does (testing/ptest/HPL_pdinfo.c). For each value sscanf
// takes the next word, and then HPL moves on by the length of that word and one character
// more, wherever the word began. Blanks before a value, and more than one between values,
// thus add up until it reads inside the previous value again. Behind the end of a line
// lies what is left of longer ones before it, and where there is no word, the last one
// counts again.
type hplLine struct {
	buffer [hplLineLength + 1]byte
	known  int    // characters of the buffer that some line has filled
	word   string // the last one
	read   bool   // whether there was one
}

// set makes the buffer hold a line, of at most hplLineLength characters with its end.
func (h *hplLine) set(line string) {
	n := copy(h.buffer[:hplLineLength], line)
	h.buffer[n] = 0
	h.known = max(h.known, n+1)
}

// values returns the n integers that HPL takes from the line, fewer if they come to
// depend on memory that was never filled.
func (h *hplLine) values(n int) []int {
	var list []int
	for at := 0; len(list) < n; at += len(h.word) + 1 {
		if !h.next(at) {
			break
		}
		list = append(list, atoi(h.word))
	}
	return list
}

// next makes the word that begins at or behind a place the last one, if there is one. It
// reports whether what HPL does is known.
func (h *hplLine) next(at int) bool {
	for at < h.known && isBlank(rune(h.buffer[at])) {
		at++
	}
	end := at
	for end < h.known && h.buffer[end] != 0 && !isBlank(rune(h.buffer[end])) {
		end++
	}
	if end >= h.known {
		return false
	}
	if end > at {
		h.word, h.read = string(h.buffer[at:end]), true
	}
	return h.read
}

// isBlank is C's isspace.
func isBlank(c rune) bool { return strings.ContainsRune(" \t\n\v\f\r", c) }

// atoi is C's: the integer that a word begins with, 0 if there is none, cut to 32 bits.
func atoi(word string) int {
	digits, negative := strings.CutPrefix(word, "-")
	if !negative {
		digits = strings.TrimPrefix(word, "+")
	}
	v := int64(0)
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			break
		}
		if v > (math.MaxInt64-9)/10 {
			v = math.MaxInt64
			if negative {
				v = math.MinInt64
			}
			return int(int32(v))
		}
		v = 10*v + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return int(int32(v))
}
