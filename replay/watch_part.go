package replay

// part is the part of a run that a narrow observer is told of: of some ranks, while one of them is
// in some steps.
type part struct {
	first, end int32 // ranks
	from, to   int64 // steps
	begun      bool
	past       []bool // by rank from first: whether it has come to step to
	left       int    // ranks that have not
}

func newPart(o Narrow) part {
	p := part{}
	p.first, p.end = o.Ranks()
	p.from, p.to = o.Steps()
	p.left = max(0, int(p.end-p.first))
	p.past = make([]bool, p.left)
	return p
}

// has reports whether the part is of a rank.
func (p *part) has(r int32) bool { return r >= p.first && r < p.end }

// follows reports whether the narrow observer is told what becomes of messages to a rank: of those
// that were posted in its steps, too, which end after them.
func (p *part) follows(r int32) bool { return p.begun && p.has(r) }

// follows reports whether somebody is told what becomes of messages to a rank.
func (w *watch) follows(r int32) bool { return w.heedsAll || w.part.follows(r) }

// beginPart has the narrow observer told from now on, if its steps begin with the run or if so
// asked.
func (w *watch) beginPart(now bool) {
	if w.narrow != nil && (now || w.part.from <= 0) {
		w.part.begun = true
		w.first, w.end = w.part.first, w.part.end
	}
}

// narrowStep begins and ends what the narrow observer is told as one of its ranks comes to a step.
func (w *watch) narrowStep(r int32, step int64) {
	p := &w.part
	if !p.begun && step >= p.from {
		w.beginPart(true)
		w.tellNarrow()
	}
	if i := r - p.first; step >= p.to && !p.past[i] {
		p.past[i] = true
		if p.left--; p.left == 0 {
			w.first, w.end = 0, 0
		}
	}
}

// tellNarrow tells the narrow observer alone what is open.
func (w *watch) tellNarrow() {
	alone := &watch{engine: w.engine, narrow: w.narrow, first: w.first, end: w.end, part: w.part}
	alone.tellMessages()
	for r := w.first; r < w.end && w.narrowActs; r++ {
		if !w.wideActs {
			w.ranks[r].busy = false
		}
		if a := w.engine.underWay(r); a != nil {
			w.ranks[r].narrowOpen = true
			w.narrow.ActionBegins(r, *a, w.engine.ranks[r].charged)
		}
	}
}
