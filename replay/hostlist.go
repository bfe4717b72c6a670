package replay

import (
	"fmt"
	"strconv"
	"strings"
)

// splitOutside splits a text at separators that are in no brackets.
func splitOutside(text string, separator byte) (parts []string) {
	begin, depth := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case separator:
			if depth == 0 {
				parts, begin = append(parts, text[begin:i]), i+1
			}
		}
	}
	return append(parts, text[begin:])
}

// maxBrackets bounds the brackets of a name: Slurm has no more dimensions.
const maxBrackets = 5

// expandHosts calls add for each host that a list of Slurm means, in its order:
// rack[0-1]n[08-10,12]-ib is rack0n08-ib, rack0n09-ib, rack0n10-ib, rack0n12-ib, rack1n08-ib
// and so on. Numbers have as many digits as the first of their range, if that begins with a
// zero. The first error of add ends it.
func expandHosts(list string, add func(host string) error) error {
	if strings.Count(list, "[") > maxBrackets {
		return fmt.Errorf("%q has more than %d brackets", list, maxBrackets)
	}
	return expandFrom("", list, add)
}

// expandFrom is expandHosts for what begins with a prefix that has no more brackets.
func expandFrom(prefix, list string, add func(host string) error) error {
	head, rest, found := strings.Cut(list, "[")
	if strings.Contains(head, "]") {
		return fmt.Errorf("%q: a bracket is closed that is not open", prefix+list)
	}
	if !found {
		return add(prefix + head)
	}
	inside, tail, closed := strings.Cut(rest, "]")
	if !closed {
		return fmt.Errorf("%q: a bracket is not closed", prefix+list)
	}
	for _, text := range strings.Split(inside, ",") {
		r, err := parseRange(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("%q: %w", prefix+list, err)
		}
		for n := r.first; n <= r.last; n++ {
			if err := expandFrom(prefix+head+fmt.Sprintf("%0*d", r.digits, n), tail, add); err != nil {
				return err
			}
		}
	}
	return nil
}

// numberRange is the numbers from first to last, with at least so many digits.
type numberRange struct {
	first, last int64
	digits      int
}

// parseRange reads "7" or "00-07".
func parseRange(text string) (r numberRange, err error) {
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	a, errA := strconv.ParseUint(first, 10, 62)
	b, errB := strconv.ParseUint(last, 10, 62)
	if errA != nil || errB != nil || b < a || len(first) > 20 {
		return r, fmt.Errorf("%q in brackets, want a number, or a range as 0-7", text)
	}
	r = numberRange{first: int64(a), last: int64(b)}
	if first[0] == '0' {
		r.digits = len(first)
	}
	return r, nil
}
