package linescan

import (
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
		{strings.NewReader("a\n" + strings.Repeat("\n", MaxIdle)), ""},
		{strings.NewReader("a\n" + strings.Repeat("\n", MaxIdle+1)), "more than 4194304 bytes of empty lines and comments in a row"},
		{strings.NewReader(strings.Repeat("# and so on\n \n", MaxIdle/10)), "more than 4194304 bytes of empty lines and comments in a row"},
		{strings.NewReader(strings.Repeat(strings.Repeat("\n", MaxIdle)+"a\n", 2)), ""},
		{iotest.ErrReader(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF.Error()},
	} {
		s := New(c.text)
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
