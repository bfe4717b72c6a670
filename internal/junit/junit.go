// Package junit writes results of checks as XML in the form of JUnit, which CI systems show beside a change: one
// suite of [Case] values. Commands that compare, such as replay compare, make the cases.
package junit

import (
	"bytes"
	"encoding/xml"
	"io"
)

// Case is one check.
type Case struct {
	Class, Name string
	Failure     string // in a line; "": the check has passed
	Text        string // its whole output
}

// Write writes a suite of checks.
// The output of a check that has failed is the text of its failure, where CI systems look for it; that of one that has
// passed is its standard output.
func Write(w io.Writer, name string, cases []Case) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	var all struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   struct {
			Name     string     `xml:"name,attr"`
			Tests    int        `xml:"tests,attr"`
			Failures int        `xml:"failures,attr"`
			Cases    []testCase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	s := &all.Suite
	s.Name, s.Tests = name, len(cases)
	for _, c := range cases {
		t := testCase{Class: c.Class, Name: c.Name}
		if c.Failure != "" {
			s.Failures++
			t.Failure = &failure{c.Failure, c.Text}
		} else {
			t.Out = c.Text
		}
		s.Cases = append(s.Cases, t)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	// Escaped line breaks are as good for programs, and unreadable for people.
	lines := bytes.ReplaceAll(text, []byte("&#xA;"), []byte("\n"))
	_, err = io.WriteString(w, xml.Header+string(lines)+"\n")
	return err
}
