package trace

// This file reads a trace as a stream, once from front to back: Trace.advance reads up to the next chunk,
// nextChunk decodes it, finish compares the end of the stream with what has been read.

// nextChunk decodes the next chunk of a stream, nil at its end.
func (t *Trace) nextChunk() (*Chunk, error) {
	if t.pending == nil {
		return nil, t.ended
	}
	if err := t.admit(); err != nil {
		return nil, err
	}
	f := *t.pending
	plain, err := t.frames.content(&f)
	if err != nil {
		return nil, t.stop(err)
	}
	// Totals are added up on the way, to be compared with the index at the end.
	w, counts, err := t.decode(plain, &f)
	if err != nil {
		return nil, t.stop(err)
	}
	t.totals.Calls += counts.Calls
	t.totals.Items += counts.Items
	t.passed(&f)
	t.advance()
	// A cursor at the end of the last chunk ends without reading on. If reading has failed, after
	// returns the error instead.
	w.last = t.pending == nil && t.ended == nil
	return w, nil
}

// passed notes a chunk of a stream.
func (t *Trace) passed(f *frame) {
	t.chunks = append(t.chunks, len(t.entries))
	t.entries = append(t.entries, *f)
	t.totals.Chunks++
	t.totals.Units += int64(f.count)
}

// stop ends a stream with an error.
func (t *Trace) stop(err error) error {
	t.pending, t.ended = nil, err
	return err
}

// advance reads a stream up to the content of the next chunk: then pending is
// its header; or to the end: then pending is nil, and ended says what is wrong.
func (t *Trace) advance() {
	t.pending, t.ended = nil, nil
	for t.pending == nil {
		f, err := t.frames.next()
		switch {
		case err != nil:
		case f.kind == kindDefs:
			var plain []byte
			if plain, err = t.frames.content(&f); err == nil {
				err = t.define(plain, &f)
			}
			t.entries = append(t.entries, f)
		case f.kind == kindChunk:
			if err = t.checkOrder(&f); err == nil {
				t.pending = &f
			}
		case f.kind == kindIndex:
			t.stop(t.finish(&f))
			return
		default:
			err = t.frames.corrupt(&f, "%s where a chunk or definitions may be", f.describe())
		}
		if err != nil {
			t.stop(err)
			return
		}
	}
}

// checkOrder checks a chunk's header against those of the chunks before.
func (t *Trace) checkOrder(f *frame) error {
	if int(f.number) != len(t.chunks) {
		return t.frames.corrupt(f, "chunk %d after %d chunks", f.number, len(t.chunks))
	}
	if n := len(t.chunks); n > 0 && t.entries[t.chunks[n-1]].last > f.first {
		return t.frames.corrupt(f, "chunk %d begins with step %d, after step %d", f.number, f.first,
			t.entries[t.chunks[n-1]].last)
	}
	return nil
}

// finish reads the index and the end record of a stream and compares them with what has been read. A stream has no
// other way to notice that a record in its middle is missing than to compare all of them.
func (t *Trace) finish(f *frame) error {
	entries, totals, err := t.indexContent(f)
	if err != nil {
		return err
	}
	if len(entries) != len(t.entries) {
		return t.frames.corrupt(f, "index of %d records, there are %d", len(entries), len(t.entries))
	}
	for i := range entries {
		read := t.entries[i]
		read.prev, read.sum = 0, 0 // which the index does not repeat
		if entries[i] != read {
			return t.frames.corrupt(f, "index: entry %d is not %s at offset %d", i, read.describe(), read.offset)
		}
	}
	if t.skipped { // of chunks that were passed over nothing else is known
		t.totals.Calls, t.totals.Items = totals.Calls, totals.Items
	}
	if totals != t.totals {
		return t.frames.corrupt(f, "index: totals %+v, there are %+v", totals, t.totals)
	}
	end, err := t.frames.next()
	if err != nil {
		return err
	}
	if err := t.checkEnd(&end); err != nil {
		return err
	}
	return t.frames.end()
}
