// Package linescan reads the lines of text files, and says what is wrong with them.
package linescan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxIdle bounds what a text has in a row of lines without data, in bytes: empty ones and
// comments. Compressed, gigabytes of them take no room.
const MaxIdle = 4 << 20

// ErrIdle is the error of a text with more.
var ErrIdle = fmt.Errorf("more than %d bytes of empty lines and comments in a row", MaxIdle)

// New returns a scanner of the lines of r that ends with ErrIdle.
func New(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	idle := 0
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		if advance == 0 {
			return advance, line, err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			idle = 0
		} else if idle += advance; idle > MaxIdle {
			return 0, nil, ErrIdle
		}
		return advance, line, err
	})
	return s
}

// Err is the error of a scanner of lines, nil at the end of the text. That of a line which
// is too long says so in words that do not speak of the scanner.
func Err(s *bufio.Scanner) error {
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line longer than %d bytes", bufio.MaxScanTokenSize)
	}
	return err
}
