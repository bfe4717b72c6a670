package trace

// liveItems says of which items of a block something comes: an action, or a value that such an
// item reads. A replay needs most values for markers alone, or for kernels that cost nothing.
type liveItems struct {
	read [maxRegs]bool // by items that are behind
	live []bool        // from the last item to the first; of bodies that are left out nothing
}

// find looks at the items of a block as they are linked. Each register is set once, before it is
// read, so that one look from the end to the beginning tells all.
func (l *liveItems) find(p *Program, c *code, items []Item) {
	l.read, l.live = [maxRegs]bool{}, l.live[:0]
	l.list(p, c, items)
}

// next says of the items one after the other whether they are live; bodies of those that are not
// are left out.
func (l *liveItems) next() bool {
	last := len(l.live) - 1
	live := l.live[last]
	l.live = l.live[:last]
	return live
}

// list reports whether any of the items is live.
func (l *liveItems) list(p *Program, c *code, items []Item) bool {
	some := false
	for i := len(items) - 1; i >= 0; i-- {
		it, body := &items[i], len(l.live)
		live := l.item(p, c, it)
		if live {
			l.reads(it.Args)
			l.reads(it.Guard)
		} else {
			l.live = l.live[:body]
		}
		l.live = append(l.live, live)
		some = some || live
	}
	return some
}

func (l *liveItems) item(p *Program, c *code, it *Item) bool {
	switch it.Op {
	case OpIf, OpLoop:
		return l.list(p, c, it.Body)
	case OpCall:
		return c.instrs[c.entries[it.Sym].pc].op != opRet
	case OpCompute:
		return it.Sym >= len(c.omit) || !c.omit[it.Sym]
	case OpMark:
		return c.markers || p.header.Markers[it.Sym].Phase > 0
	}
	if !it.Op.Lets() {
		return true
	}
	live := l.read[it.Dst]
	l.read[it.Dst] = false
	return live
}

func (l *liveItems) reads(args []Operand) {
	for _, a := range args {
		l.read[a.Reg] = true
	}
}
