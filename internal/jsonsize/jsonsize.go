// Package jsonsize bounds JSON before it is decoded: a few bytes of text can be a hundred of memory.
package jsonsize

import "fmt"

// Limits are how much a text may have, of each.
type Limits struct {
	Objects int
	Values  int // members of objects and elements of lists, but for the first of each
	String  int // bytes of a string or of a key, with its escapes
}

// Check returns an error if a text has more than the limits. It need not be JSON.
func (l Limits) Check(text []byte) error {
	objects, values := 0, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			if objects++; objects > l.Objects {
				return fmt.Errorf("more than %d objects", l.Objects)
			}
		case ',':
			if values++; values > l.Values {
				return fmt.Errorf("more than %d values", l.Values)
			}
		case '"':
			begin := at + 1
			for at = begin; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if at-begin > l.String {
				return fmt.Errorf("byte %d: a string of %d bytes, want at most %d", begin, at-begin, l.String)
			}
		}
	}
	return nil
}
