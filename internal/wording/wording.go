// Package wording makes the words of reports agree with their numbers.
package wording

import (
	"fmt"
	"strconv"
	"strings"
)

// Noun returns a noun as it stands behind the number n: "host" behind 1, "hosts" behind
// all others. It is for nouns whose plural is regular.
func Noun[T int | int32 | int64](n T, singular string) string {
	switch {
	case n == 1:
		return singular
	case strings.HasSuffix(singular, "s"), strings.HasSuffix(singular, "ch"):
		return singular + "es"
	}
	return singular + "s"
}

// Count returns a number with its noun: "1 host", "12 hosts".
func Count[T int | int32 | int64](n T, singular string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, singular))
}

// Thousands returns a number with commas between groups of three digits: 3,491,026,162.
func Thousands[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	first := len(digits) - len(strings.TrimPrefix(digits, "-"))
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
