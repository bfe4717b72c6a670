package junit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/junit"
)

// TestWrite: the form is that which JUnit's Ant task writes: testsuite with tests and failures,
// testcase with classname and name, failure with a message.
func TestWrite(t *testing.T) {
	var out strings.Builder
	err := junit.Write(&out, "compare", []junit.Case{
		{Class: "a", Name: "x < y", Text: "as it was"},
		{Class: "b", Name: "z", Failure: "1 \"2\"", Text: "line\n& line\x1b"},
		{Class: "b", Name: "empty"},
	})
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="compare" tests="3" failures="1">
    <testcase classname="a" name="x &lt; y">
      <system-out>as it was</system-out>
    </testcase>
    <testcase classname="b" name="z">
      <failure message="1 &#34;2&#34;">line
&amp; line` + "\uFFFD" + `</failure>
    </testcase>
    <testcase classname="b" name="empty"></testcase>
  </testsuite>
</testsuites>
`
	if diff := cmp.Diff(want, out.String()); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
