// Package words makes the words of reports agree with their numbers.
package words

import (
	"fmt"
	"strings"
)

// Noun returns a noun as it stands behind the number n: "host" behind 1, "hosts" behind
// all others. It is for nouns whose plural is regular.
func Noun[T int | int32 | int64](n T, singular string) string {
	switch {
	case n == 1:
		return singular
	case strings.HasSuffix(singular, "s"):
		return singular + "es"
	}
	return singular + "s"
}

// Count returns a number with its noun: "1 host", "12 hosts".
func Count[T int | int32 | int64](n T, singular string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, singular))
}
