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
