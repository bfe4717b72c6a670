package linescan

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestErr(t *testing.T) {
	for _, c := range []struct {
		text io.Reader
		want string
	}{
		{strings.NewReader("a\nb"), ""},
		{strings.NewReader("a\n" + strings.Repeat("x", 1<<17)), "line longer than 65536 bytes"},
		{iotest.ErrReader(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF.Error()},
	} {
		s := bufio.NewScanner(c.text)
		for s.Scan() {
		}
		got := ""
		if err := Err(s); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
