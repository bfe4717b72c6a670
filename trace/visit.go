package trace

// Visit calls f with every item of the blocks that are defined, and with those of
// their loops and conditions. Items must not be changed.
func (p *Program) Visit(f func(*Item)) {
	for i := range p.blocks {
		visitItems(p.blocks[i].Items, f)
	}
}

func visitItems(list []Item, f func(*Item)) {
	for i := range list {
		f(&list[i])
		visitItems(list[i].Body, f)
	}
}

// Polls reports whether a rank polls for a message: a definition makes an operation
// pending that waits for one, or a block has a recorded probe. Operations without a
// guard, as HPL's long broadcasts, run at their first poll, whatever has arrived.
func (p *Program) Polls() bool {
	polls := false
	p.Visit(func(it *Item) {
		polls = polls || it.Op == OpDefine && len(it.Guard) > 0 || it.Op == OpIprobe
	})
	return polls
}

// OneSided reports whether a rank has windows.
func (p *Program) OneSided() bool {
	has := false
	p.Visit(func(it *Item) { has = has || it.Op == OpAccess || it.Op == OpIaccess || it.Op == OpSync })
	return has
}

// Requests returns how many request slots the blocks that are defined use, by the largest.
func (p *Program) Requests() int {
	most := -1
	p.Visit(func(it *Item) {
		switch it.Op {
		case OpIsend, OpIssend, OpIrecv, OpIaccess:
			most = max(most, int(it.Req))
		}
	})
	return most + 1
}

// Called returns which of so many kernels the blocks that are defined call, and which
// collective operations.
func (p *Program) Called(kernels int) (called []bool, collectives [NumCollectives]bool) {
	called = make([]bool, kernels)
	p.Visit(func(it *Item) {
		switch it.Op {
		case OpCompute:
			called[it.Sym] = true
		case OpCollective: // a nonblocking one has an algorithm of its own
			collectives[it.Sym] = true
		}
	})
	return called, collectives
}
