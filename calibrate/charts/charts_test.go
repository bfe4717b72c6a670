package charts

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"reprise/calibrate"
)

func series(n int) calibrate.Series {
	s := calibrate.Series{Name: "dgemm-all", Title: "dgemm-all   M-1", XLabel: "M*N*K"}
	for i := range n {
		x := float64(i) // the first one has no place on a logarithmic axis
		s.X, s.Seconds, s.Fitted = append(s.X, x), append(s.Seconds, 1e-6+1.1e-9*x), append(s.Fitted, 1e-6+1e-9*x)
	}
	return s
}

func TestSVG(t *testing.T) {
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := Write(w, series(100), "svg"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two drawings of the same series differ")
	}
	for _, text := range []string{"M*N*K", "seconds", "residual"} {
		if !strings.Contains(first.String(), text) {
			t.Errorf("no %q in the picture", text)
		}
	}
	for d := xml.NewDecoder(&first); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, series(20000), "png")
	if _, wrong := png.Decode(&b); err != nil || wrong != nil {
		t.Error(err, wrong)
	}
	if data, _, _ := points(series(20000)); len(data) > maxPoints {
		t.Errorf("%d points, want at most %d", len(data), maxPoints)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		s            calibrate.Series
		format, want string
	}{
		{series(3), "gif", `format "gif", want svg or png`},
		{series(1), "svg", "dgemm-all: no sizes and times above zero"},
	} {
		if err := Write(io.Discard, test.s, test.format); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}
