package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"
)

// TestBarWaits: what is over soon shows no bar; after that it shows how far it has come of a number
// that may change, and it is gone in the end.
func TestBarWaits(t *testing.T) {
	var b bytes.Buffer
	bar := newBar(&b, 3, time.Hour, progressbar.OptionSetDescription("steps"))
	bar.SetOf(1, 4)
	if b.Len() > 0 {
		t.Fatalf("at once: %q", &b)
	}
	bar.show()
	if text := b.String(); !strings.Contains(text, "steps") || !strings.Contains(text, "25%") || !strings.Contains(text, "1/4") {
		t.Errorf("one of four: %q", text)
	}
	bar.Clear()
	b.Reset()
	bar.Set(2)
	bar.show()
	bar.Clear()
	if b.Len() > 0 {
		t.Errorf("after it was cleared: %q", &b)
	}
}

// TestBarReader: bytes are counted as they are read, and pass unchanged.
func TestBarReader(t *testing.T) {
	bar := newBar(io.Discard, 11, time.Hour, progressbar.OptionShowBytes(true))
	defer bar.Clear()
	text, err := io.ReadAll(bar.Reader(strings.NewReader("hello world")))
	if string(text) != "hello world" || err != nil || bar.done != 11 {
		t.Errorf("%q, %v, %d bytes", text, err, bar.done)
	}
	var none *Bar
	if r := strings.NewReader(""); none.Reader(r) != io.Reader(r) {
		t.Error("no bar, but another reader")
	}
}

// TestLines: on a file that is no terminal there are lines, with what is left by the pace so far and a note, until the
// bar is cleared.
func TestLines(t *testing.T) {
	b := newLines(io.Discard, 4000, "steps", time.Hour)
	for _, c := range []struct {
		done, number int
		note, want   string
	}{
		{0, 0, "", "steps: 0 of 4,000 (0 %) after 10s\n"},
		{1000, 0, "", "steps: 1,000 of 4,000 (25 %) after 10s, about 30s left\n"},
		{1000, 2000, "best so far: 12 Gflops", "steps: 1,000 of 2,000 (50 %) after 10s, about 10s left; best so far: 12 Gflops\n"},
	} {
		b.SetOf(c.done, c.number)
		b.Note(c.note)
		if got := b.line(10 * time.Second); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	b.SetLeft(1500, 2500, 90*time.Second)
	if got, want := b.line(10*time.Second), "steps: 1,500 of about 2,500 (60 %) after 10s; about 1m30s left; best so far: 12 Gflops\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	counting := newLines(io.Discard, -1, "actions", time.Hour)
	counting.Set(7)
	if got, want := counting.line(70*time.Second), "actions: 7 after 1m10s\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	lines := make(chan string, 9)
	b = newLines(writerFunc(func(p []byte) { lines <- string(p) }), 2, "runs", 0)
	if got, want := <-lines, "runs: 0 of 2 (0 %) after 0s\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Clear()
	b.show()
	if len(lines) > 0 {
		t.Errorf("after it was cleared: %q", <-lines)
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
