package trace

import (
	"slices"

	"reprise/trace/vectors"
)

// unpacker turns the content of chunk records into chunks (unpack). The content may be damaged or forged: each number
// is checked before it becomes a size of memory or an index. Numbers of blocks and vectors must appear in the order of
// their first use, so that equal chunks have equal bytes. The hash is that of the decoded numbers and not of the bytes:
// other codings of the same content have the same hash.
type unpacker struct {
	// What calls may refer to.
	prog   *Program
	known  *featureSet // that the file lists
	layout layout
	digest *digest
	cols   columnReader
	// The column at hand, in memory that is used again, and the blocks of the chunk at hand.
	values []int64
	blocks chunkBlocks
}

// chunkBlocks are the blocks that a chunk calls, by its own numbers.
type chunkBlocks struct {
	numbers []int32
	params  []int // number of parameters
	seen    firstUse
}

// firstUse checks that numbers of blocks or vectors first appear in the order 0, 1, 2, ... In another order an equal
// chunk would have other bytes.
type firstUse struct{ next, count int64 }

// see takes the number of the next use, and reports whether it may come here.
func (f *firstUse) see(v int64) bool {
	if v == f.next && v < f.count {
		f.next++
	}
	return 0 <= v && v < f.next
}

// callGroup is what unpack needs to know of the calls of one call site.
type callGroup struct {
	calls []*CallColumns
	items []int // by call, of its list
}

// unpack decodes the content of a chunk record whose header is f. It returns the chunk and how much it holds.
func (u *unpacker) unpack(plain []byte, f *frame) (*Chunk, Totals, error) {
	w, totals, err := u.decode(plain, f)
	if err != nil {
		return nil, Totals{}, err
	}
	if u.digest.sum() != f.hash {
		return nil, Totals{}, errHash
	}
	return w, totals, nil
}

// decode does what unpack does, except for the hash, which u.digest has afterwards.
// Columns come in the order in which packer.pack writes them; the numbers of items, which the
// lengths of later columns depend on, are read on the way. The first mistake stays in u.cols.err.
func (u *unpacker) decode(plain []byte, f *frame) (*Chunk, Totals, error) {
	var m chunkMessage
	if err := unmarshal(plain, m.wire); err != nil {
		return nil, Totals{}, err
	}
	u.digest.reset()
	u.cols = columnReader{buf: m.columns, budget: maxValues}
	w := &Chunk{number: int(f.number)}
	// Which calls there are follows from the shapes, before any column is read.
	groups, err := u.units(w, &m, f)
	if err != nil {
		return nil, Totals{}, err
	}
	if err := u.dictionary(m.blocks); err != nil {
		return nil, Totals{}, err
	}
	vectors := firstUse{count: int64(m.vectors)}
	for t := range groups {
		u.callSite(t, &groups[t], &vectors)
	}
	// The order of what follows is that of the digest.
	u.finishBlocks()
	u.vectors(w, &vectors, m.generators)
	if u.cols.left() > 0 {
		u.cols.fail("%d bytes after the last column", u.cols.left())
	}
	return w, countCalls(w, groups), u.cols.err
}

// countCalls sums up a chunk.
func countCalls(w *Chunk, groups []callGroup) Totals {
	t := Totals{Units: int64(len(w.units))}
	for _, g := range groups {
		t.Calls += int64(len(g.calls))
		for _, n := range g.items {
			t.Items += int64(n)
		}
	}
	return t
}

// units decodes steps and shapes, and groups the calls by call site.
func (u *unpacker) units(w *Chunk, m *chunkMessage, f *frame) ([]callGroup, error) {
	n := len(m.steps)
	if n == 0 || n != int(f.count) || n != len(m.shapes) {
		return nil, corruptf("%d steps and %d shapes, the record names %d units", n, len(m.shapes), f.count)
	}
	shapes, err := u.shapes(m)
	if err != nil {
		return nil, err
	}
	// The calls of all units are allocated in one piece, once it is known that they are not too many.
	total, err := u.countCells(m, shapes)
	if err != nil {
		return nil, err
	}
	w.units = make([]Unit, n)
	calls := make([]CallColumns, total)
	groups := make([]callGroup, len(u.layout))
	step := int64(0)
	u.digest.number(n)
	for i, s := range m.shapes {
		if step += int64(m.steps[i]); step > maxStep {
			return nil, corruptf("unit %d: step %d", i, step)
		}
		k := len(shapes[s])
		w.units[i] = Unit{Step: int(step), Calls: calls[:k:k]}
		calls = calls[k:]
		u.digest.number(int(step))
		u.digest.number(k)
		for j, t := range shapes[s] {
			c := &w.units[i].Calls[j]
			c.Site = int32(t)
			groups[t].calls = append(groups[t].calls, c)
			u.digest.number(int(t))
		}
	}
	if w.units[0].Step != int(f.first) || int(step) != int(f.last) {
		return nil, corruptf("steps %d to %d, the record names %d to %d", w.units[0].Step, step, f.first, f.last)
	}
	return groups, nil
}

// countCells returns the number of calls, after checking that they are not too many.
func (u *unpacker) countCells(m *chunkMessage, shapes [][]uint32) (calls int, err error) {
	cells := 0
	for i, s := range m.shapes {
		if int64(s) >= int64(len(shapes)) {
			return 0, corruptf("unit %d: shape %d out of [0,%d)", i, s, len(shapes))
		}
		calls += len(shapes[s])
		for _, t := range shapes[s] {
			cells += len(u.layout[t])
		}
		if cells > maxCells {
			return 0, corruptf("unit %d: %d calls with %d columns, at most %d columns", i, calls, cells, maxCells)
		}
	}
	return calls, nil
}

// shapes returns the sequences of call sites that units refer to. They are parts of the message's list, not copies.
func (u *unpacker) shapes(m *chunkMessage) ([][]uint32, error) {
	for i, t := range m.sites {
		if int64(t) >= int64(len(u.layout)) {
			return nil, corruptf("call %d of the shapes: call site %d out of [0,%d)", i, t, len(u.layout))
		}
	}
	shapes := make([][]uint32, len(m.shapeSizes))
	rest := m.sites
	for i, n := range m.shapeSizes {
		if int64(n) > int64(len(rest)) {
			return nil, corruptf("shape %d: %d calls, %d are left", i, n, len(rest))
		}
		shapes[i], rest = rest[:n], rest[n:]
	}
	if len(rest) > 0 {
		return nil, corruptf("%d calls in no shape", len(rest))
	}
	return shapes, nil
}

// dictionary stores the blocks that the chunk calls.
// The hashes of the blocks go into the digest later, by finishBlocks.
func (u *unpacker) dictionary(numbers []uint32) error {
	b := &u.blocks
	b.numbers, b.params = b.numbers[:0], b.params[:0]
	b.seen = firstUse{count: int64(len(numbers))}
	for _, n := range numbers {
		if int64(n) >= int64(u.prog.NumBlocks()) {
			return corruptf("block %d is not defined, only [0,%d)", n, u.prog.NumBlocks())
		}
		b.numbers = append(b.numbers, int32(n))
		b.params = append(b.params, u.prog.Block(int(n)).Params)
	}
	return nil
}

// finishBlocks adds the blocks' hashes to the digest.
func (u *unpacker) finishBlocks() {
	b := &u.blocks
	if b.seen.next != b.seen.count {
		u.cols.fail("%d blocks, but only %d are called", b.seen.count, b.seen.next)
	}
	u.digest.number(len(b.numbers))
	for _, n := range b.numbers {
		hash := u.prog.BlockHash(int(n))
		u.digest.bytes(hash[:])
	}
}

// callSite decodes the columns of all calls of site t.
// vectors counts uses of vectors over all call sites of the chunk.
func (u *unpacker) callSite(t int, g *callGroup, vectors *firstUse) {
	if len(g.calls) == 0 {
		return
	}
	def := &u.prog.header.CallSites[t]
	u.allot(g, len(def.Masks), len(def.Params))
	for _, col := range u.layout[t] {
		if u.table(col, g); u.cols.err != nil {
			return
		}
		switch {
		case col.kind == columnCount:
			u.counts(col, g)
		case col.kind == columnBlock:
			u.checkBlocks(def)
			scatter(u, col, g, func(c *CallColumns, v []int32) { c.Blocks = v })
		case col.kind == columnMask:
			scatter(u, col, g, func(c *CallColumns, v []int64) { c.Masks[col.index] = v })
		default:
			if col.vector {
				u.checkVectors(def, col, vectors)
			}
			scatter(u, col, g, func(c *CallColumns, v []int64) { c.Args[col.index] = v })
		}
	}
}

// allot gives the calls of a call site their lists of columns. All lists of the call site are cut from one slab.
func (u *unpacker) allot(g *callGroup, masks, args int) {
	slab := make([][]int64, len(g.calls)*(masks+args))
	for _, c := range g.calls {
		c.Masks, slab = slab[:masks:masks], slab[masks:]
		c.Args, slab = slab[:args:args], slab[args:]
	}
}

// table decodes a column of all calls into u.values, in the order of the file.
func (u *unpacker) table(col column, g *callGroup) {
	// A table of classes times calls, or a list as long as the items of all calls.
	outer, inner := col.width, len(g.calls)
	if outer < 0 {
		outer, inner = 0, 1
		for _, n := range g.items {
			outer += n
		}
	}
	u.values = u.cols.table(u.values[:0], outer, inner)
	u.digest.table(u.values)
}

// counts turns the count column into the starts of the classes' items.
// It sets g.items, by which the columns of items are divided among the calls.
func (u *unpacker) counts(col column, g *callGroup) {
	n := len(g.calls)
	starts := make([]int32, n*(col.width+1))
	g.items = make([]int, n)
	for i, c := range g.calls {
		c.Starts, starts = starts[:col.width+1], starts[col.width+1:]
		sum := int64(0)
		for k := range col.width {
			v := u.values[k*n+i]
			if v < 0 || v > maxItems-sum {
				u.cols.fail("class %d: %d items after %d, at most %d in all", k, v, sum, maxItems)
				return
			}
			sum += v
			c.Starts[k+1] = int32(sum)
		}
		g.items[i] = int(sum)
	}
}

// checkBlocks replaces the chunk's numbers of blocks by the program's.
func (u *unpacker) checkBlocks(t *CallSite) {
	b := &u.blocks
	for i, v := range u.values {
		if v == 0 {
			u.values[i] = NoBlock
			continue
		}
		if !b.seen.see(v - 1) {
			u.cols.fail("call site %q: block %d of the chunk's, %d seen so far of %d", t.Name, v-1, b.seen.next, b.seen.count)
			return
		}
		if b.params[v-1] > len(t.Params) {
			u.cols.fail("call site %q: block %d takes %d arguments, the call site has %d", t.Name, b.numbers[v-1], b.params[v-1],
				len(t.Params))
			return
		}
		u.values[i] = int64(b.numbers[v-1])
	}
}

// checkVectors checks the names of vectors in a column. They stay the chunk's own numbers, which are
// handles for Chunk.Sums.
func (u *unpacker) checkVectors(t *CallSite, col column, vectors *firstUse) {
	for _, v := range u.values {
		if !vectors.see(v) {
			u.cols.fail("call site %q column %q: vector %d of the chunk's, %d seen so far of %d", t.Name, col.name, v,
				vectors.next, vectors.count)
			return
		}
	}
}

// scatter hands each call of a group its part of u.values. A table is stored with classes outermost, as values of
// one class over the calls resemble each other. Here it is transposed: a call gets a slice with a value for each
// class. A list is cut into pieces.
func scatter[T int32 | int64](u *unpacker, col column, g *callGroup, set func(*CallColumns, []T)) {
	if u.cols.err != nil {
		return
	}
	slab, rest := make([]T, len(u.values)), u.values
	n := len(g.calls)
	for i, c := range g.calls {
		size := col.width
		if size < 0 {
			size = g.items[i]
		}
		part := slab[:size:size]
		slab = slab[size:]
		if col.width >= 0 {
			for k := range part {
				part[k] = T(u.values[k*n+i])
			}
		} else {
			for k := range part {
				part[k] = T(rest[k])
			}
			rest = rest[size:]
		}
		set(c, part)
	}
}

// vectors decodes the chunk's vectors; names are the kinds of those that are generated.
func (u *unpacker) vectors(w *Chunk, seen *firstUse, names []string) {
	if seen.next != seen.count {
		u.cols.fail("%d vectors, but only %d are used", seen.count, seen.next)
	}
	if u.cols.err != nil {
		return
	}

	// Of each vector its kind, 0 for one that is stated and 1 + the index of its generator for others, and its number
	// of elements. So many values are stated, and so many vectors has each generator.
	n := int(seen.count)
	kinds, counts := u.cols.table(nil, n, 1), u.cols.table(nil, n, 1)
	u.digest.number(n)
	u.digest.table(kinds)
	u.digest.table(counts)
	if u.cols.err != nil {
		return
	}
	stated, total := 0, int64(0)
	used, generated := firstUse{count: int64(len(names))}, make([]int, len(names))
	for i, kind := range kinds {
		count := counts[i]
		switch {
		case count < 0 || count > MaxElements-total:
			u.cols.fail("vector %d: %d elements after %d, at most %d in all", i, count, total, MaxElements)
			return
		case kind == 0:
			stated += int(count)
		case used.see(kind - 1):
			generated[kind-1]++
		default:
			u.cols.fail("vector %d: generator %d of the chunk's, %d seen so far of %d", i, kind-1, used.next, used.count)
			return
		}
		total += count
	}
	if used.next != used.count {
		u.cols.fail("%d generators, but only %d are used", used.count, used.next)
	}

	// The values, and by generator a table for each argument, with one value per vector.
	values := u.cols.table(u.values[:0], stated, 1)
	u.digest.table(values)
	args := make([][][]int64, len(names))
	for i, name := range names {
		// A generator must be one that this program knows, and that the file's features name.
		switch kind := vectors.Find(name); {
		case kind == nil || u.known.lack(1<<generatorFeature(name)) != nil:
			u.cols.fail("generator %q, which the features do not list", name)
		case slices.Contains(names[:i], name):
			u.cols.fail("generator %q is named twice", name)
		default:
			for range kind.Args() {
				table := u.cols.table(nil, generated[i], 1)
				u.digest.table(table)
				args[i] = append(args[i], table)
			}
		}
	}
	u.digest.number(len(names))
	for _, name := range names {
		u.digest.text(name)
	}
	if u.cols.err != nil {
		return
	}

	// The running sums of each.
	w.vectors = make([]vector, n)
	for i, kind := range kinds {
		v := Vector{}
		if count := counts[i]; kind == 0 {
			v.Values, values = values[:count], values[count:]
		} else {
			v.Generated = &vectors.Generated{Kind: vectors.Find(names[kind-1]), Count: count}
			for j, table := range args[kind-1] {
				v.Generated.Args = append(v.Generated.Args, table[0])
				args[kind-1][j] = table[1:]
			}
		}
		if err := v.check(); err != nil {
			u.cols.fail("vector %d: %v", i, err)
			return
		}
		w.vectors[i] = newVector(&v)
	}
}
