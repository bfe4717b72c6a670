// Package linescan says what is wrong with the lines of a text file.
package linescan

import (
	"bufio"
	"errors"
	"fmt"
)

// Err is the error of a scanner of lines, nil at the end of the text. That of a line which
// is too long says so in words that do not speak of the scanner.
func Err(s *bufio.Scanner) error {
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line longer than %d bytes", bufio.MaxScanTokenSize)
	}
	return err
}
