package trace

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// define adds the features and blocks of a definitions record.
func (t *Trace) define(plain []byte, f *frame) error {
	blocks, features, err := decodeDefinitions(plain)
	if err != nil {
		return err
	}
	if err := t.features.read(features, t.Header().Tool); err != nil {
		return err
	}
	if int(f.number) != t.prog.NumBlocks() || int(f.count) != len(blocks) {
		return corruptf("%d blocks from %d, want %d from %d", len(blocks), f.number, f.count, t.prog.NumBlocks())
	}
	hash := sha256.New()
	for i := range blocks {
		n, err := t.prog.AddBlock(blocks[i])
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if n != int(f.number)+i {
			return corruptf("block %d equals block %d", int(f.number)+i, n)
		}
		if err := t.features.lack(t.prog.infos[n].features); err != nil {
			return fmt.Errorf("block %d: %w", n, err)
		}
		h := t.prog.BlockHash(n)
		hash.Write(h[:])
	}
	hashFeatures(hash, features)
	if [sha256.Size]byte(hash.Sum(nil)) != f.hash {
		return errHash
	}
	return nil
}

// indexContent reads the content of the index.
func (t *Trace) indexContent(f *frame) ([]frame, Totals, error) {
	plain, err := t.frames.content(f)
	if err != nil {
		return nil, Totals{}, err
	}
	entries, totals, err := decodeIndex(plain)
	switch {
	case err != nil:
	case sha256.Sum256(plain) != f.hash:
		err = errHash
	case len(entries) != int(f.count):
		err = corruptf("%d entries, the record names %d", len(entries), f.count)
	}
	if err != nil {
		return nil, Totals{}, t.frames.errorAt(int64(f.offset), fmt.Errorf("index: %w", err))
	}
	return entries, totals, nil
}

// checkEnd compares the end record with the chunks, and sets the trace's hash.
func (t *Trace) checkEnd(end *frame) error {
	chain := sha256.New()
	chain.Write(t.head[:])
	for _, w := range t.chunks {
		chain.Write(t.entries[w].hash[:])
	}
	chain.Sum(t.hash[:0])
	if end.kind != kindEnd {
		return t.frames.errorAt(int64(end.offset), corruptf("%s where the end record must be", end.describe()))
	}
	if int(end.count) != len(t.chunks) || end.hash != t.hash {
		return t.frames.errorAt(int64(end.offset), corruptf("the end record names other chunks"))
	}
	return nil
}

// readIndex reads the end record and the index of a file of size bytes.
func (t *Trace) readIndex(size int64) error {
	var b [frameSize]byte
	at := size - frameSize
	if _, err := t.file.ReadAt(b[:], max(at, 0)); err != nil && err != io.EOF {
		return t.frames.errorAt(max(at, 0), err)
	}
	end, err := parseFrame(b[:])
	if err != nil {
		return t.frames.errorAt(max(at, 0), fmt.Errorf("end record: %w", err))
	}
	if end.kind != kindEnd || end.offset != uint64(at) || int64(end.prev) > at {
		return t.frames.errorAt(max(at, 0), corruptf("no end record"))
	}
	r := t.frames
	begin := r.offset // of the first record after the header
	r.r = io.NewSectionReader(t.file, at-int64(end.prev), size)
	r.offset, r.prev = at-int64(end.prev), unlinked
	index, err := r.next()
	if err != nil {
		return err
	}
	if index.kind != kindIndex || index.size() != int64(end.prev) {
		return r.errorAt(int64(index.offset), corruptf("%s where the index must be", index.describe()))
	}
	entries, totals, err := t.indexContent(&index)
	if err != nil {
		return err
	}
	t.totals = totals
	return t.setEntries(entries, begin, &index, &end)
}

// setEntries checks that the records of the index lie side by side between the
// header and the index, and takes them over.
func (t *Trace) setEntries(entries []frame, begin int64, index, end *frame) error {
	prev := uint32(begin - preambleSize)
	at := uint64(begin)
	units := int64(0)
	for i := range entries {
		f := &entries[i]
		f.prev = prev
		if err := f.check(); err != nil || f.offset != at {
			return t.frames.errorAt(int64(index.offset),
				corruptf("index: entry %d at offset %d, want %d: %v", i, f.offset, at, err))
		}
		if f.kind == kindChunk {
			if err := t.checkOrder(f); err != nil {
				return err
			}
			t.chunks = append(t.chunks, i)
			units += int64(f.count)
		}
		t.entries = entries[:i+1]
		prev, at = uint32(f.size()), at+uint64(f.size())
	}
	if at != index.offset || prev != index.prev {
		return t.frames.errorAt(int64(index.offset), corruptf("index: the last record ends at offset %d", at))
	}
	if units != t.totals.Units {
		return t.frames.errorAt(int64(index.offset), corruptf("index: %d units, its chunks hold %d", t.totals.Units, units))
	}
	return t.checkEnd(end)
}

// readDefinitions reads all definitions of a file.
func (t *Trace) readDefinitions() error {
	for i := range t.entries {
		f := &t.entries[i]
		if f.kind != kindDefs {
			continue
		}
		plain, err := t.contentAt(f)
		if err != nil {
			return err
		}
		if err := t.define(plain, f); err != nil {
			return t.frames.errorAt(int64(f.offset), fmt.Errorf("%s: %w", f.describe(), err))
		}
	}
	return nil
}

// diagnose finds out why a file has no good end: it walks along the records and
// returns the first fault, or else the one at the end.
func (t *Trace) diagnose(r io.ReaderAt, size int64, atEnd error) error {
	frames := &frameReader{r: io.NewSectionReader(r, 0, size), name: t.frames.name}
	if err := frames.preamble(); err != nil {
		return err
	}
	for {
		f, err := frames.next()
		if err != nil {
			return err
		}
		if f.kind == kindHeader && f.offset != preambleSize {
			return frames.errorAt(int64(f.offset), corruptf("a second header"))
		}
		if err := frames.skip(&f); err != nil {
			return err
		}
		if f.kind == kindEnd {
			if err := frames.end(); err != nil {
				return err
			}
			return atEnd
		}
	}
}
