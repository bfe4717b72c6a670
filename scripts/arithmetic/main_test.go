package main

import (
	"os"
	"path/filepath"
	"testing"
)

// sample is a module with what is refused, and beside it what is not.
var sample = map[string]string{
	"go.mod": "module sample\n\ngo 1.24\n",
	"sum/sum.go": `package sum

import "sample/area"

func Rounded(a, b, c float64) float64 { return float64(a*b) + c }
func Fused(a, b, c float64) float64   { return a*b + c }
func Less(a, b, c float64) float64    { return c - a*b }
func Minus(a, b, c float64) float64   { return -(a * b) - c }
func Single(a, b, c float32) float32  { return a*b + c }
func Integers(a, b, c int) int        { return a*b + c }

func Inlined(a, b, c float64) float64 { return area.Of(a, b) + c }
`,
	"area/area.go": `package area

import m "math"

func Of(a, b float64) float64 { return a * b }
func Root(a float64) float64  { return m.Sqrt(a) * m.Pi }
func Decay(a float64) float64 { return m.Exp(-a) }

var Log = m.Log
`,
	"dice/dice.go": `package dice

import (
	. "math"
	"math/rand/v2"
)

func Roll() float64 { return rand.ExpFloat64() * Pi }
`,
	"tool/main.go": `package main

func main() {}
`,
	"other/other.go": `package other

import "math"

func Log(a, b, c float64) float64 { return math.Log(a)*b + c }
`,
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range sample {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := check(dir, []string{"./sum", "./dice"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"area/area.go:7: the bits of math.Exp differ by processor; see internal/portable",
		"area/area.go:9: the bits of math.Log differ by processor; see internal/portable",
		"dice/dice.go:4: package math needs a name, by which its functions are found",
		"dice/dice.go:5: package math/rand/v2 is built on functions whose bits differ by processor",
		"sum/sum.go:6: fused multiply-add (FMADDD); write float64(a*b) + c",
		"sum/sum.go:7: fused multiply-add (FMSUBD); write float64(a*b) + c",
		"sum/sum.go:8: fused multiply-add (FNMADDD); write float64(a*b) + c",
		"sum/sum.go:9: fused multiply-add (FMADDS); write float64(a*b) + c",
		"sum/sum.go:12: fused multiply-add (FMADDD); write float64(a*b) + c",
	}
	for i := range max(len(found), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("unexpected: %v", found[i])
		case i >= len(found):
			t.Errorf("missing: %s", want[i])
		case found[i].String() != want[i]:
			t.Errorf("%v, want %s", found[i], want[i])
		}
	}
	if found, err := check(dir, []string{"./tool"}); err != nil || len(found) > 0 {
		t.Errorf("a program by itself: %v, %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tool", "tool")); err == nil {
		t.Error("the program is left behind")
	}
	if _, err := os.Stat(filepath.Join(dir, "tool.test")); err == nil {
		t.Error("the program is left behind")
	}
	if found, err := check(dir, []string{"./nowhere"}); err == nil {
		t.Errorf("a package that does not exist: %v", found)
	}
}
