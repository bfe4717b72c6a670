package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows on a terminal how far something long has come. The nil Bar shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// NewBar returns a bar over a number of things, such as steps, or nil if w is no
// terminal or quiet is wished.
func NewBar(w io.Writer, quiet bool, number int, things string) *Bar {
	if quiet || number < 1 || !Is(w) {
		return nil
	}
	if shown, ok := w.(interface{ Raw() io.Writer }); ok {
		w = shown.Raw() // a bar moves the cursor
	}
	bar := progressbar.NewOptions(number,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(things),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(200*time.Millisecond))
	_ = bar.RenderBlank() // something goes on, though the first step may take long
	return &Bar{bar}
}

// Set shows how many are done. The error of a terminal that has gone is nobody's.
func (b *Bar) Set(done int) {
	if b != nil {
		_ = b.bar.Set(done)
	}
}

// SetOf is Set of a number that has turned out to be another.
func (b *Bar) SetOf(done, number int) {
	if b != nil && number > 0 && b.bar.GetMax() != number {
		b.bar.ChangeMax(number)
	}
	b.Set(done)
}

// Clear takes the bar off the terminal.
func (b *Bar) Clear() {
	if b != nil {
		_ = b.bar.Clear()
	}
}
