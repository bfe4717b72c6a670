package platforms

import (
	"bufio"
	"fmt"
	"io"
)

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
func (c *commentless) follows(text string) bool {
	head, _ := c.r.Peek(len(text))
	return string(head) == text
}
