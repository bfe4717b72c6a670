package trace

import (
	"fmt"
	"weak"
)

// This file reads a trace as a stream: front to back, once.

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
	w, counts, err := t.unpack.unpack(plain, &f)
	if err != nil {
		return nil, t.stop(t.frames.errorAt(int64(f.offset), fmt.Errorf("chunk %d: %w", f.number, err)))
	}
	t.totals.Calls += counts.Calls
	t.totals.Items += counts.Items
	t.open = append(t.open, weak.Make(w))
	t.passed(&f)
	t.advance()
	w.last = t.pending == nil && t.ended == nil
	return w, nil
}

// skipPending passes over a chunk of a stream.
func (t *Trace) skipPending() error {
	if err := t.frames.skip(t.pending); err != nil {
		return t.stop(err)
	}
	t.skipped = true
	t.passed(t.pending)
	t.advance()
	return t.ended
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
		if err != nil {
			t.stop(err)
			return
		}
		switch f.kind {
		case kindDefs:
			err = t.readDefs(&f)
		case kindChunk:
			if err = t.checkOrder(&f); err == nil {
				t.pending = &f
			}
		case kindIndex:
			t.stop(t.finish(&f))
			return
		default:
			err = t.frames.errorAt(int64(f.offset), corruptf("%s where a chunk or definitions may be", f.describe()))
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
		return t.frames.errorAt(int64(f.offset), corruptf("chunk %d after %d chunks", f.number, len(t.chunks)))
	}
	if n := len(t.chunks); n > 0 && t.entries[t.chunks[n-1]].last > f.first {
		return t.frames.errorAt(int64(f.offset),
			corruptf("chunk %d begins with step %d, after step %d", f.number, f.first, t.entries[t.chunks[n-1]].last))
	}
	return nil
}

// readDefs reads a definitions record of a stream.
func (t *Trace) readDefs(f *frame) error {
	plain, err := t.frames.content(f)
	if err != nil {
		return err
	}
	if err := t.define(plain, f); err != nil {
		return t.frames.errorAt(int64(f.offset), fmt.Errorf("%s: %w", f.describe(), err))
	}
	t.entries = append(t.entries, *f)
	return nil
}

// finish reads the index and the end record of a stream and compares them with
// what has been read.
func (t *Trace) finish(f *frame) error {
	entries, totals, err := t.indexContent(f)
	if err != nil {
		return err
	}
	if len(entries) != len(t.entries) {
		return t.frames.errorAt(int64(f.offset), corruptf("index of %d records, there are %d", len(entries), len(t.entries)))
	}
	for i := range entries {
		read := t.entries[i]
		read.prev, read.sum = 0, 0
		if entries[i] != read {
			return t.frames.errorAt(int64(f.offset),
				corruptf("index: entry %d is not %s at offset %d", i, read.describe(), read.offset))
		}
	}
	if t.skipped {
		t.totals.Calls, t.totals.Items = totals.Calls, totals.Items
	}
	if totals != t.totals {
		return t.frames.errorAt(int64(f.offset), corruptf("index: totals %+v, there are %+v", totals, t.totals))
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
