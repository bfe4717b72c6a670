package platforms

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"reprise/internal/textutil"
)

// readTree reads the XML of a platform as a tree of elements, with the lines that errors name.

// maxDepth bounds how deep elements nest, so that recursion over them is safe.
const maxDepth = 100

// An element is one of the XML file, with all that is inside it. Attributes are few, so that a list of them is as quick
// as a map, and takes less memory.
type element struct {
	name     string
	line     int
	attrs    []xml.Attr
	children []*element
	text     []byte // of a <trace>
	textLine int    // where it begins
}

// attr returns an attribute, and whether it is there.
func (e *element) attr(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// value returns an attribute, "" if it is not there.
func (e *element) value(name string) string {
	v, _ := e.attr(name)
	return v
}

// String returns the element as messages name it: <link "up3">.
func (e *element) String() string {
	if id, ok := e.attr("id"); ok && e.name != "config" {
		return fmt.Sprintf("<%s %q>", e.name, id)
	}
	return "<" + e.name + ">"
}

// maxText bounds a description, and with it the memory that its elements take: some 14
// times as much if they are as short as can be. 2^20 hosts listed one by one fit.
const maxText = 128 << 20 // bytes

// readTree reads the whole document, of at most so many bytes, and returns its root
// element. Memory is proportional to the input.
func readTree(r io.Reader, name string, most int) (*element, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("longer than %d MiB", maxText>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, 1+bytes.Count(text, []byte("\n")), textutil.Brief(err))
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // the byte order mark of some editors
	if begin := blankComments(text); begin >= 0 {
		line := 1 + bytes.Count(text[:begin], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: the comment that begins in line %d has no end", name, line, line)
	}
	// The decoder resolves no entities but those of XML and reads no other file, whatever the document type says.
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.CharsetReader = charset
	root := &element{name: "the document"}
	open := []*element{root} // the elements around what is read next, the innermost last
	for {
		line, _ := dec.InputPos()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				return nil, fmt.Errorf("%s:%d: bad XML: %w", name, syntax.Line, textutil.Brief(errors.New(syntax.Msg)))
			}
			return nil, fmt.Errorf("%s:%d: %w", name, line, textutil.Brief(err))
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, fmt.Errorf("%s:%d: elements nest deeper than %d", name, line, maxDepth)
			}
			e := &element{name: t.Name.Local, line: line, attrs: t.Attr}
			parent := open[len(open)-1]
			parent.children = append(parent.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			in := open[len(open)-1]
			if in.name == "trace" {
				if len(in.text) == 0 {
					in.textLine = line
				}
				in.text = append(in.text, t...)
				continue
			}
			// Between elements descriptions have blanks only.
			if text := bytes.TrimLeft(t, " \t\r\n"); len(text) > 0 {
				line += bytes.Count(t[:len(t)-len(text)], []byte("\n"))
				return nil, fmt.Errorf("%s:%d: %w", name, line,
					textutil.Brief(fmt.Errorf("text %.20q in %v is not supported", text, in)))
			}
		}
	}
	if len(root.children) != 1 {
		return nil, fmt.Errorf("%s:1: want one <platform> element, found %d elements", name, len(root.children))
	}
	return root.children[0], nil
}

// charset reads a document in an encoding other than UTF-8.
// No others are read: each would need a table of its own.
func charset(label string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "ascii":
		return r, nil
	case "iso-8859-1", "latin1":
		return charmap.ISO8859_1.NewDecoder().Reader(r), nil
	}
	return nil, errors.New("want UTF-8, US-ASCII or ISO-8859-1")
}

// blankComments puts blanks in place of the comments of an XML document, but for their line feeds, so that lines and
// offsets stay. SimGrid's own files have comments with -- in them, which XML forbids and SimGrid's parser reads. It
// returns where a comment begins that has no end, or -1.
func blankComments(text []byte) (unended int) {
	const begin, end = "<!--", "-->"
	for at := 0; ; {
		n := bytes.Index(text[at:], []byte(begin))
		if n < 0 {
			return -1
		}
		from := at + n
		if n = bytes.Index(text[from+len(begin):], []byte(end)); n < 0 {
			return from
		}
		at = from + len(begin) + n + len(end)
		for i := from; i < at; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
}
