package capture

// walker goes through items step by step, turn by turn.
type walker struct {
	loops *loops
	stack []frame
}

// frame is a sequence of items that is gone through so many times more.
type frame struct {
	items []item
	at    int
	turns int32
}

// next returns the next step; ok is false behind the last.
func (w *walker) next() (step int32, ok bool) {
	for len(w.stack) > 0 {
		f := &w.stack[len(w.stack)-1]
		if f.at == len(f.items) {
			if f.turns--; f.turns <= 0 {
				w.stack = w.stack[:len(w.stack)-1]
			} else {
				f.at = 0
			}
			continue
		}
		it := f.items[f.at]
		f.at++
		if it.turns == 0 {
			return it.what, true
		}
		w.stack = append(w.stack, frame{items: w.loops.bodies[it.what], turns: it.turns})
	}
	return 0, false
}

// walk returns a walker through items, a number of times.
func (l *loops) walk(items []item, turns int32) *walker {
	w := &walker{loops: l}
	if len(items) > 0 && turns > 0 {
		w.stack = append(w.stack, frame{items: items, turns: turns})
	}
	return w
}

// length returns how many steps items have.
func (l *loops) length(items []item) (n int64) {
	for _, it := range items {
		if it.turns == 0 {
			n++
		} else {
			n += int64(it.turns) * l.lengths[it.what]
		}
	}
	return n
}

// split parts items at a number of their steps, which may be in the midst of a loop.
func (l *loops) split(items []item, at int64) (head, tail []item) {
	for i, it := range items {
		n := int64(1)
		if it.turns > 0 {
			n = int64(it.turns) * l.lengths[it.what]
		}
		if at >= n {
			at -= n
			continue
		}
		head = append(head, items[:i]...)
		if at > 0 {
			body := l.lengths[it.what]
			whole := int32(at / body)
			inner, rest := l.split(l.bodies[it.what], at%body)
			head = append(l.repeat(head, it.what, whole), inner...)
			if len(inner) > 0 {
				tail, whole = rest, whole+1
			}
			tail = l.repeat(tail, it.what, it.turns-whole)
			return head, append(tail, items[i+1:]...)
		}
		return head, append(tail, items[i:]...)
	}
	return append(head, items...), nil
}

// repeat appends a number of turns of a loop to items.
func (l *loops) repeat(items []item, loop, turns int32) []item {
	switch {
	case turns <= 0:
		return items
	case turns == 1:
		return append(items, l.bodies[loop]...)
	}
	return append(items, item{loop, turns})
}
