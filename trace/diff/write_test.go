package diff

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
)

// changed is a ring where in step 3 nobody sends to column 1, and NB is 4 instead of 2: two
// messages of 24 bytes, in two rows of one step, are empty.
var changed = diffTrace{header: func(h *trace.Header) { h.Params[1].Value = "4" }, call: func(step int, c *trace.Call) {
	if step == 3 {
		c.Args[1], c.Args[2] = []int64{8, 16, 0}, []int64{0, 8, 16}
	}
}}

func TestDiffMarkdown(t *testing.T) {
	d := diffOf(t, diffTrace{}, changed, Options{Actions: true})
	var out bytes.Buffer
	check(t, d.WriteMarkdown(&out, "old_one", "new"))
	want := "**A and B differ, first in step 3, rank 0.**\n\n- A old\\_one\n- B new\n" + `
| parameter | A | B |
| --- | ---: | ---: |
| NB | 2 | 4 |

| count | A | B | change |
| --- | ---: | ---: | ---: |
| all actions | 72 | 72 | = |
| all messages | 24 | 24 | = |
| all bytes | 384 | 336 | -12.5% |
| outside of phases: bytes | 384 | 336 | -12.5% |

rank 0, step 3:

` + "```" + `
    irecv 2 24 5 row
    send 1 8 5 row
    wait recv 2 24 5
  A irecv 2 24 5 row
`
	if got := out.String(); len(got) < len(want) || cmp.Diff(want, got[:len(want)]) != "" {
		t.Error(cmp.Diff(want, got))
	}
}

// TestDiffJUnit: all three checks fail, and pass where nothing differs.
func TestDiffJUnit(t *testing.T) {
	for _, c := range []struct {
		b    diffTrace
		want []string
	}{
		{changed, []string{"parameters: 1 parameter changed", "counts: counts changed", "actions: 4 ranks changed, first in step 3, rank 0"}},
		{diffTrace{}, []string{"parameters: ", "counts: ", "actions: "}},
	} {
		d := diffOf(t, diffTrace{}, c.b, Options{Actions: true, Summary: true})
		var out bytes.Buffer
		check(t, d.WriteJUnit(&out, "old", "new"))
		var read struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testsuite>testcase"`
		}
		check(t, xml.Unmarshal(out.Bytes(), &read))
		var got []string
		for _, c := range read.Cases {
			got = append(got, c.Name+": "+c.Failure.Message)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDiffHTML: the page has what the text has, and asks for nothing from anywhere.
func TestDiffHTML(t *testing.T) {
	d := diffOf(t, diffTrace{}, changed, Options{Actions: true})
	var out bytes.Buffer
	check(t, d.WriteHTML(&out, "<old>", "new"))
	page := out.String()
	for _, want := range []string{
		"<h1>A and B differ, first in step 3, rank 0</h1>", "A &lt;old&gt;<br>B new", "<tr><td>NB</td><td>2</td><td>4</td></tr>",
		"<tr><td>all bytes</td><td>384</td><td>336</td><td>-12.5%</td></tr>", "<h2>rank 0, step 3</h2>", "<pre>irecv 2 24 5 row\nsend 1 8 5 row\nwait recv 2 24 5</pre>",
		"<pre class=\"b\">irecv 2 0 5 row\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	for _, asks := range []string{"://", "src=", "href=", "url(", "@import", "<script"} {
		if strings.Contains(page, asks) {
			t.Errorf("the page has %s", asks)
		}
	}
}

// TestDiffOfManyGroups: a page shows the first twenty ways in which ranks diverge, by steps.
func TestDiffOfManyGroups(t *testing.T) {
	d := Difference{}
	for r := range int32(25) {
		d.Ranks = append(d.Ranks, Divergence{Rank: r, Step: int(30 - r), A: []string{fmt.Sprint(r)}})
	}
	groups, left := d.firstGroups()
	if len(groups) != 20 || groups[0].Step != 6 || left != "5 more divergences not shown; --actions prints all." {
		t.Errorf("%d groups, the first in step %d, %s", len(groups), groups[0].Step, left)
	}
	if first := d.first(); first.Rank != 24 {
		t.Errorf("the first is that of rank %d", first.Rank)
	}
}
