package platforms

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"reprise/internal/textutil"
)

// The XML of a platform as a tree of elements, with the lines that errors name.

// maxDepth bounds how deep elements nest, so that recursion over them is safe.
const maxDepth = 100

// An element is one of the XML file, with all that is inside it.
// It has few attributes, so that looking through all of them is as quick as a map, and takes less memory.
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

// cappedReader is a reader that fails where a text is too long.
type cappedReader struct {
	io.Reader
	left int // bytes that may follow
}

func (r *cappedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.left -= n; r.left < 0 {
		return 0, fmt.Errorf("longer than %d MiB", maxText>>20)
	}
	return n, err
}

// readTree reads the whole document, of at most so many bytes, and returns its root
// element. Memory is proportional to the input.
func readTree(r io.Reader, name string, most int) (*element, error) {
	// The decoder resolves no entities but those of XML and reads no other file, whatever the document type says.
	dec := xml.NewDecoder(withoutComments(&cappedReader{r, most}))
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
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
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

// commentless is the text of an XML document in which blanks stand for comments, but for
// their line feeds. SimGrid's own files have comments with -- in them, which XML forbids and
// SimGrid's parser reads.
type commentless struct {
	r      *bufio.Reader
	inside bool // a comment
	skip   int  // bytes of <!-- or --> that have been seen
	line   int  // lines that have ended
	began  int  // number of the line in which the last comment did
}

func withoutComments(r io.Reader) io.Reader { return &commentless{r: bufio.NewReader(r)} }

// Read implements io.Reader.
func (c *commentless) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || c.r.Buffered() > 0) {
		b, err := c.r.ReadByte()
		if err == io.EOF && c.inside {
			err = fmt.Errorf("the comment that begins in line %d has no end", c.began)
		}
		if err != nil {
			return n, err // n is 0: what is buffered can be read
		}
		p[n] = c.next(b)
		n++
	}
	return n, nil
}

// next returns what stands for the next byte.
// Bytes of comments become blanks and line feeds stay, so that lines and offsets are those of the file.
func (c *commentless) next(b byte) byte {
	if b == '\n' {
		c.line++
	}
	switch {
	case c.skip > 0:
		if c.skip--; c.skip == 0 {
			c.inside = !c.inside
		}
	case !c.inside && b == '<' && c.follows("!--"):
		c.skip, c.began = 3, c.line+1
	case c.inside && b == '-' && c.follows("->"):
		c.skip = 2
	case !c.inside:
		return b
	}
	if b == '\n' {
		return b
	}
	return ' '
}

// follows reports whether a text comes next.
// It stays unread.
func (c *commentless) follows(text string) bool {
	head, _ := c.r.Peek(len(text))
	return string(head) == text
}
