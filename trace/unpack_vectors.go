package trace

import (
	"slices"

	"reprise/trace/vectors"
)

// vectorTables are the tables of a chunk that state its vectors.
type vectorTables struct {
	kinds  []int64 // 0: stated; 1 + index of the generator
	counts []int64
	values []int64      // of all stated ones
	args   []generators // by generator
}

// generators are the vectors of a chunk that a kind makes.
type generators struct {
	kind *vectors.Kind
	args [][]int64 // by argument, one value per vector
	next int
}

// vectors decodes the chunk's vectors; names are the kinds of those that are generated.
func (u *unpacker) vectors(w *Chunk, seen *firstUse, names []string) {
	if u.cols.err != nil {
		return
	}
	if seen.next != seen.count {
		u.cols.fail("%d vectors, but only %d are used", seen.count, seen.next)
		return
	}
	n := int(seen.count)
	t := vectorTables{kinds: u.cols.table(nil, n, 1), counts: u.cols.table(nil, n, 1)}
	u.digest.number(n)
	u.digest.table(t.kinds)
	u.digest.table(t.counts)
	stated, generated := u.vectorSizes(&t, len(names))
	t.values = u.cols.table(u.values[:0], stated, 1)
	u.digest.table(t.values)
	for i, name := range names {
		t.args = append(t.args, u.generator(name, names[:i], generated[i]))
	}
	u.digest.number(len(names))
	for _, name := range names {
		u.digest.text(name)
	}
	if u.cols.err == nil {
		u.buildVectors(w, &t)
	}
}

// vectorSizes returns the number of values that are stated, and how many vectors each
// generator makes.
func (u *unpacker) vectorSizes(t *vectorTables, names int) (stated int, generated []int) {
	if u.cols.err != nil {
		return 0, make([]int, names)
	}
	total := int64(0)
	seen := firstUse{count: int64(names)}
	generated = make([]int, names)
	for i, kind := range t.kinds {
		count := t.counts[i]
		switch {
		case count < 0 || count > MaxElements-total:
			u.cols.fail("vector %d: %d elements after %d, at most %d in all", i, count, total, MaxElements)
			return 0, generated
		case kind == 0:
			stated += int(count)
		case seen.see(kind - 1):
			generated[kind-1]++
		default:
			u.cols.fail("vector %d: generator %d of the chunk's, %d seen so far of %d", i, kind-1, seen.next, seen.count)
			return 0, generated
		}
		total += count
	}
	if seen.next != seen.count {
		u.cols.fail("%d generators, but only %d are used", seen.count, seen.next)
	}
	return stated, generated
}

// generator decodes the arguments of n vectors of a kind.
func (u *unpacker) generator(name string, before []string, n int) generators {
	g := generators{kind: vectors.Find(name)}
	switch {
	case u.cols.err != nil:
		return g
	case g.kind == nil || u.known.lack(1<<generatorFeature(name)) != nil:
		u.cols.fail("generator %q, which the features do not list", name)
		return g
	case slices.Contains(before, name):
		u.cols.fail("generator %q is named twice", name)
		return g
	}
	for range g.kind.Args() {
		table := u.cols.table(nil, n, 1)
		u.digest.table(table)
		g.args = append(g.args, table)
	}
	return g
}

// take returns the next of the vectors.
func (g *generators) take(count int64) *vectors.Generated {
	v := &vectors.Generated{Kind: g.kind, Args: make([]int64, len(g.args)), Count: count}
	for i, table := range g.args {
		v.Args[i] = table[g.next]
	}
	g.next++
	return v
}

// buildVectors computes the running sums of the chunk's vectors.
func (u *unpacker) buildVectors(w *Chunk, t *vectorTables) {
	w.vectors = make([]vector, len(t.kinds))
	for i, kind := range t.kinds {
		v := Vector{}
		if count := t.counts[i]; kind == 0 {
			v.Values, t.values = t.values[:count], t.values[count:]
		} else {
			v.Generated = t.args[kind-1].take(count)
		}
		if err := v.check(); err != nil {
			u.cols.fail("vector %d: %v", i, err)
			return
		}
		w.vectors[i] = newVector(&v)
	}
}
