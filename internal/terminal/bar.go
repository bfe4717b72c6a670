package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"reprise/internal/textutil"
)

// Bar shows on a terminal how far something has come, how quick it is and how long it will take, if it takes long. On
// another file, such as the log of a job, it writes that in a line now and then. The nil Bar shows nothing.
//
// Methods may be called from several goroutines: timers and workers tell the same bar how far they are.
type Bar struct {
	mu    sync.Mutex
	renew func(number int) *progressbar.ProgressBar
	bar   *progressbar.ProgressBar
	timer *time.Timer // that shows the bar; nil once it is cleared
	done  int         // things
	shown bool

	// Of lines on a file that is no terminal; on a terminal all but note are unset.
	lines  io.Writer
	things string
	number int // of things; -1: not known
	begun  time.Time
	note   string
	due    time.Time // when all is done, by SetLeft; zero: that is told by the number of things
}

const (
	// patience is how long something may take without a bar.
	patience = time.Second
	// Lines on a file come after this time, and then this often.
	firstLine = 10 * time.Second
	nextLine  = time.Minute
)

// NewBar returns a bar over a number of things, such as steps, or nil if w is no file or quiet is wished.
func NewBar(w io.Writer, quiet bool, number int, things string) *Bar {
	return newBarOn(w, quiet || number < 1, number, things, progressbar.OptionShowIts(), progressbar.OptionSetItsString(""))
}

// NewCount is NewBar for things whose number nobody knows.
func NewCount(w io.Writer, quiet bool, things string) *Bar {
	return newBarOn(w, quiet, -1, things, progressbar.OptionShowIts(), progressbar.OptionSetItsString(""))
}

// NewBytes is NewBar for bytes that are read.
func NewBytes(w io.Writer, quiet bool, number int64, name string) *Bar {
	return newBarOn(w, quiet || number < 1, int(number), "bytes of "+name, progressbar.OptionShowBytes(true))
}

// newBarOn returns a bar on a terminal. A writer that hides control characters passes those of the bar on by Raw.
func newBarOn(w io.Writer, none bool, number int, things string, options ...progressbar.Option) *Bar {
	if _, file := w.(interface{ Fd() uintptr }); none || !file {
		return nil
	}
	if !Is(w) {
		return newLines(w, number, things, firstLine)
	}
	if shown, ok := w.(interface{ Raw() io.Writer }); ok {
		w = shown.Raw()
	}
	return newBar(w, number, patience, append(options, progressbar.OptionSetDescription(things))...)
}

// newBar returns a bar that shows itself after some time.
// Until then its state is kept here only: the bar of the library draws itself at each change of its number of things,
// so that one with another number is made anew while nothing is shown.
func newBar(w io.Writer, number int, after time.Duration, options ...progressbar.Option) *Bar {
	counted := number > 0
	b := &Bar{renew: func(number int) *progressbar.ProgressBar {
		p := progressbar.NewOptions(number, append(options,
			progressbar.OptionSetWriter(w),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(counted),
			progressbar.OptionThrottle(200*time.Millisecond))...)
		p.StartWithoutRender()
		return p
	}}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bar = b.renew(number)
	b.timer = time.AfterFunc(after, b.show)
	return b
}

// newLines returns a bar that writes lines, the first after some time.
func newLines(w io.Writer, number int, things string, after time.Duration) *Bar {
	b := &Bar{lines: w, things: things, number: number, begun: time.Now()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(after, b.show)
	return b
}

// line returns the line about what is done after a time.
func (b *Bar) line(after time.Duration) string {
	text := fmt.Sprintf("%s: %s after %v", b.things, textutil.Thousands(b.done), after.Round(time.Second))
	if b.number > 0 {
		of := map[bool]string{true: "of", false: "of about"}[b.due.IsZero()]
		text = fmt.Sprintf("%s: %s %s %s (%d %%) after %v", b.things, textutil.Thousands(b.done), of, textutil.Thousands(b.number),
			100*b.done/b.number, after.Round(time.Second))
		if b.due.IsZero() && b.done > 0 && b.done < b.number {
			left := float64(after) / float64(b.done) * float64(b.number-b.done)
			text += fmt.Sprintf(", about %v left", time.Duration(left).Round(time.Second))
		}
	}
	if words := b.words(); words != "" {
		text += "; " + words
	}
	return text + "\n"
}

// words returns what is left, if SetLeft has said it, and the note.
func (b *Bar) words() string {
	if b.due.IsZero() {
		return b.note
	}
	return strings.TrimSuffix(fmt.Sprintf("about %v left; %s", max(time.Until(b.due), time.Second).Round(time.Second), b.note), "; ")
}

// Note has the bar show a text beside the numbers, such as the best result so far.
func (b *Bar) Note(text string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note = text
	if b.lines == nil && b.shown {
		b.bar.Describe(b.words())
	}
}

// show shows the bar, though the first step may take long.
func (b *Bar) show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil {
		return
	}
	if b.lines != nil {
		_, _ = io.WriteString(b.lines, b.line(time.Since(b.begun))) // the error of a log is nobody's
		b.timer.Reset(nextLine)
		return
	}
	b.shown = true
	if words := b.words(); words != "" {
		b.bar.Describe(words)
	}
	b.update()
}

// update brings what is shown up to date. The error of a terminal that has gone is nobody's.
func (b *Bar) update() {
	switch {
	case !b.shown || b.timer == nil:
	case b.done == 0:
		_ = b.bar.RenderBlank()
	default:
		_ = b.bar.Set(b.done)
	}
}

// Set shows how many are done.
func (b *Bar) Set(done int) { b.SetOf(done, 0) }

// SetOf is Set, with another number of all things than the bar began with, unless that is 0.
func (b *Bar) SetOf(done, number int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.lines != nil:
		if number > 0 {
			b.number = number
		}
	case number < 1 || b.bar.GetMax() == number:
	case b.shown:
		b.bar.ChangeMax(number)
	default: // a change would show it
		b.bar = b.renew(number)
	}
	b.done = done
	b.update()
}

// SetLeft is SetOf for things of which neither number nor cost is known for certain: it says as well about how much time
// is left from now on.
func (b *Bar) SetLeft(done, number int, left time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.due = time.Now().Add(left)
	note := b.note
	b.mu.Unlock()
	b.Note(note) // with the time
	b.SetOf(done, number)
}

// Reader returns r, of which the bar shows how much has been read.
func (b *Bar) Reader(r io.Reader) io.Reader {
	if b == nil {
		return r
	}
	return &barReader{b, r}
}

// barReader is a reader whose bytes a bar counts.
type barReader struct {
	bar *Bar
	r   io.Reader
}

// Read implements io.Reader.
func (b *barReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.bar.Set(b.bar.done + n)
	return n, err
}

// Clear takes the bar off the terminal.
// A bar that is cleared shows nothing any more, whoever still counts.
func (b *Bar) Clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil {
		return
	}
	b.timer.Stop()
	b.timer = nil
	if b.shown {
		_ = b.bar.Clear()
	}
}
