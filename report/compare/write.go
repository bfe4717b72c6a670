package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"reprise/internal/junit"
	"reprise/internal/textutil"
)

// WriteMarkdown writes what WriteText does for a comment on a change: what follows comes first.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	for i := range c.Others {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := c.markdown(&b, &c.Others[i]); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c *Comparison) markdown(b *bytes.Buffer, a *Against) error {
	sentences := make([]string, len(a.Says))
	for i, s := range a.Says {
		sentences[i] = "**" + textutil.Escaped(s) + ".**"
	}
	fmt.Fprintf(b, "%s\n\n", strings.Join(sentences, "\n"))
	for _, side := range c.sides(a).Rows() {
		fmt.Fprintf(b, "- %s\n", textutil.Escaped(side[0]))
	}
	for _, t := range c.tables(a) {
		b.WriteString("\n")
		if err := t.WriteMarkdown(b); err != nil {
			return err
		}
	}
	for _, text := range a.Warnings {
		fmt.Fprintf(b, "\nWarning: %s\n", textutil.Escaped(text))
	}
	return nil
}

// WriteJSON writes everything; numbers have all the digits of the double.
func (c *Comparison) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// WriteJUnit writes a check for each of the others, which fails if it is worse by the gate.
func (c *Comparison) WriteJUnit(w io.Writer) error {
	var cases []junit.Case
	for i := range c.Others {
		a := &c.Others[i]
		var text strings.Builder
		if err := c.writeText(&text, a); err != nil {
			return err
		}
		check := junit.Case{Class: a.File, Name: "makespan against " + c.Base.File, Text: text.String()}
		if a.Worse {
			check.Failure = a.gate(*c.Threshold)
		}
		cases = append(cases, check)
	}
	return junit.Write(w, "replay compare", cases)
}
