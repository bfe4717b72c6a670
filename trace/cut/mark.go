package cut

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// Kind says what a mark is.
type Kind int

// The kinds of marks.
const (
	Begin          Kind = iota // of the trace
	End                        // of the trace
	Step                       // Number begins
	PhaseBegin                 // Name begins for the Number-th time, counted from 1
	PhaseEnd                   // likewise ends
	CommFirst                  // before a rank first uses the communicator that the family Name has for it
	CommLast                   // after it has last used it
	AfterOperation             // after Number collective operations of all ranks
)

// Mark is a place that each rank comes to.
type Mark struct {
	Kind   Kind
	Name   string // of a phase, or of a family
	Number int
}

// words are how marks are written, by kind.
var words = [...]string{Begin: "begin", End: "end", Step: "step", PhaseBegin: "phase", PhaseEnd: "end-of-phase",
	CommFirst: "comm", CommLast: "end-of-comm", AfterOperation: "collective"}

// String returns the text that Parse reads.
func (m Mark) String() string {
	text := words[m.Kind]
	switch m.Kind {
	case PhaseBegin, PhaseEnd:
		text += ":" + m.Name
		if _, n := numbered(m.Name); m.Number != 1 || n > 0 {
			text += fmt.Sprint(":", m.Number)
		}
	case CommFirst, CommLast:
		text += ":" + m.Name
	case Step, AfterOperation:
		text += fmt.Sprint(":", m.Number)
	}
	return text
}

// numbered returns the two parts of NAME:N, with a number above 0; of another text the number is 0.
func numbered(text string) (name string, n int) {
	at := strings.LastIndexByte(text, ':')
	if at <= 0 {
		return text, 0
	}
	n, err := strconv.Atoi(text[at+1:])
	if err != nil || n < 1 {
		return text, 0
	}
	return text[:at], n
}

// Parse reads a mark: begin, end, step:N, phase:NAME or phase:NAME:N, end-of-phase:NAME or
// end-of-phase:NAME:N, comm:NAME, end-of-comm:NAME, collective:N.
func Parse(text string) (Mark, error) {
	word, rest, has := strings.Cut(text, ":")
	for kind, w := range words {
		if w != word {
			continue
		}
		m := Mark{Kind: Kind(kind), Name: rest, Number: 1}
		switch m.Kind {
		case Begin, End:
			if has {
				return m, fmt.Errorf("mark %s, want %s alone", textutil.Quote(text), word)
			}
			return Mark{Kind: m.Kind}, nil
		case Step, AfterOperation:
			n, err := strconv.Atoi(rest)
			if err != nil || n < 0 {
				return m, fmt.Errorf("mark %s, want %s:N with a whole number of at least 0", textutil.Quote(text), word)
			}
			return Mark{Kind: m.Kind, Number: n}, nil
		case PhaseBegin, PhaseEnd:
			if name, n := numbered(rest); n > 0 {
				m.Name, m.Number = name, n
			}
		default:
			m.Number = 0
		}
		if m.Name == "" {
			return m, fmt.Errorf("mark %s, want %s:NAME", textutil.Quote(text), word)
		}
		return m, nil
	}
	return Mark{}, fmt.Errorf("mark %s, want begin, end, step:N, phase:NAME, end-of-phase:NAME, comm:NAME, end-of-comm:NAME or collective:N", textutil.Quote(text))
}
