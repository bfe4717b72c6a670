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

// TestNaturals: fields that are read together have the values that they have one by one, or
// none of them is read.
func TestNaturals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fields := []string{"0", "7", "129", "00", "9", "31", "4096", "65536", "100000", "123456789012345", "1234567890123456", "-1", "+1", "1.5", "1e3", "x", "12x", ""}
	blanks := []string{" ", " ", " ", " ", " ", " ", " ", "  ", "\t", ""}
	read := 0
	for range 200000 {
		text := ""
		for range random.IntN(5) {
			text += blanks[random.IntN(len(blanks))] + fields[random.IntN(len(fields))]
		}
		one := &lines{fields: fieldsOf(text)}
		all := &lines{fields: fieldsOf(text)}
		var got [3]int64
		if !all.naturals(got[:]) {
			if all.at != 0 {
				t.Fatalf("%q: not read, but at %d", text, all.at)
			}
			continue
		}
		read++
		for i := range got {
			if want := one.integer("number", 0, 1<<52); one.err != nil || got[i] != want {
				t.Fatalf("%q: %d, want %d, %v", text, got, want, one.err)
			}
		}
		if one.at != all.at {
			t.Fatalf("%q: up to %d, want %d", text, all.at, one.at)
		}
	}
	if read < 1000 {
		t.Errorf("only %d of the lines were read", read)
	}
}

func fieldsOf(text string) fields { return fields{text: []byte(text + "\n")} }
