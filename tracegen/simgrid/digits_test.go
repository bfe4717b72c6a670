package simgrid

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestDigits: numbers of all lengths are read as the standard library reads them, whatever
// follows, at any distance from the end of the text.
func TestDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		n := random.Int64N(1 << random.IntN(52))
		field := strconv.FormatInt(n, 10)
		if random.IntN(8) == 0 {
			field = "000"[:random.IntN(4)] + field
		}
		behind := []string{"\n", " \n", " 7\n", "\t12345678\n", "\r\n", "x\n", ".5\n", "-1\n", ":\n", "/ 1\n", "\xff\n", "\x80 \n"}[random.IntN(12)]
		text := []byte(" \t  "[:random.IntN(5)] + field + behind)
		got, end := digits(text, 0)
		if len(field) > 15 || !in(ends, behind[0]) {
			if end != 0 {
				t.Fatalf("%q: %d up to %d, want another field", text, got, end)
			}
			continue
		}
		if want := fmt.Sprint(n); fmt.Sprint(got) != want || end != len(text)-len(behind) {
			t.Fatalf("%q: %d up to %d, want %s up to %d", text, got, end, want, len(text)-len(behind))
		}
	}
	for _, text := range []string{"\n", " x\n", "-1\n", "+1\n", "x1234567890\n"} {
		if _, end := digits([]byte(text), 0); end != 0 {
			t.Errorf("%q is read as a number", text)
		}
	}
}
