package trace

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// This file decodes definitions field by field, into the memory where they stay: a recorded
// trace is mostly definitions, and protobuf's own decoder, by reflection and with an object for
// each item, takes several times as long. FuzzDefinitions holds the two to the same.

// Fields of Definitions, Block and Item, as proto/trace.proto numbers them.
const (
	defBlocks   = 1<<tagShift | tagBytes
	defFeatures = 2<<tagShift | tagBytes

	blockName   = 1<<tagShift | tagBytes
	blockParams = 2<<tagShift | tagNumber
	blockItems  = 3<<tagShift | tagBytes

	itemOp          = 1<<tagShift | tagNumber
	itemDst         = 2<<tagShift | tagNumber
	itemSlot        = 3<<tagShift | tagNumber
	itemReq         = 4<<tagShift | tagNumber
	itemSym         = 5<<tagShift | tagNumber
	itemGuardSym    = 6<<tagShift | tagNumber
	itemArgRegs     = 7<<tagShift | tagBytes
	itemArgConsts   = 8<<tagShift | tagBytes
	itemArgConst    = 8<<tagShift | tagNumber
	itemCoefs       = 9<<tagShift | tagBytes
	itemCoef        = 9<<tagShift | tagNumber
	itemGuardRegs   = 10<<tagShift | tagBytes
	itemGuardConsts = 11<<tagShift | tagBytes
	itemGuardConst  = 11<<tagShift | tagNumber
	itemBody        = 12<<tagShift | tagBytes
	itemComm        = 13<<tagShift | tagNumber
)

// decodeDefinitions reads the content of a definitions record: blocks, and features
// that are new.
func decodeDefinitions(b []byte) (blocks []Block, features []string, err error) {
	var d definitionReader
	blocks = make([]Block, 0, count(b, defBlocks))
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case defBlocks:
			block, err := d.block(f.bytes)
			if err != nil {
				return nil, nil, fmt.Errorf("block %d %q: %w", len(blocks), block.Name, err)
			}
			blocks = append(blocks, block)
		case defFeatures:
			name, err := text(f.bytes)
			if err != nil {
				return nil, nil, err
			}
			features = append(features, name)
		}
	}
	return blocks, features, f.err
}

func text(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", corruptf("%q is not UTF-8", b[:min(len(b), 64)])
	}
	return string(b), nil
}

// operandsTogether is how many operands are allocated at a time.
const operandsTogether = 1 << 10

// definitionReader has the memory that definitions are read into.
type definitionReader struct {
	free   []Operand // of those that are allocated together
	consts [2][]int64
	coefs  []int64
}

func (d *definitionReader) block(b []byte) (block Block, err error) {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case blockName:
			if block.Name, err = text(f.bytes); err != nil {
				return block, err
			}
		case blockParams:
			block.Params = fit(uint32(f.value))
		}
	}
	if f.err != nil {
		return block, f.err
	}
	block.Items, err = d.items(b, blockItems, 0)
	return block, err
}

// items reads the fields of a message that have a tag as items: nil if there are none.
func (d *definitionReader) items(message []byte, tag uint64, depth int) ([]Item, error) {
	n := count(message, tag)
	if n == 0 {
		return nil, nil
	}
	if depth > maxNesting {
		return nil, corruptf("nested deeper than %d", maxNesting)
	}
	items := make([]Item, 0, n)
	for f := (fields{rest: message}); f.next(); {
		if f.tag == tag {
			items = append(items, Item{})
			if err := d.item(&items[len(items)-1], f.bytes, depth); err != nil {
				return nil, fmt.Errorf("item %d: %w", len(items)-1, err)
			}
		}
	}
	return items, nil
}

func (d *definitionReader) item(it *Item, b []byte, depth int) error {
	var regs [2][]byte // of arguments and guard
	var op, dst, slot uint32
	d.consts[0], d.consts[1], d.coefs = d.consts[0][:0], d.consts[1][:0], d.coefs[:0]
	nested := false
	f := fields{rest: b}
	for f.next() {
		switch v := f.value; f.tag {
		case itemOp:
			op = uint32(v)
		case itemDst:
			dst = uint32(v)
		case itemSlot:
			slot = uint32(v)
		case itemReq:
			it.Req = int32(unzigzag(v & math.MaxUint32))
		case itemSym:
			it.Sym = fit(v)
		case itemGuardSym:
			it.GuardSym = fit(v)
		case itemComm:
			it.Comm = fit(uint32(v))
		case itemArgRegs:
			regs[0] = f.bytes
		case itemGuardRegs:
			regs[1] = f.bytes
		case itemArgConsts, itemArgConst:
			d.consts[0] = f.appendSigned(d.consts[0])
		case itemGuardConsts, itemGuardConst:
			d.consts[1] = f.appendSigned(d.consts[1])
		case itemCoefs, itemCoef:
			d.coefs = f.appendSigned(d.coefs)
		case itemBody:
			nested = true
		}
	}
	if f.err != nil {
		return f.err
	}
	if max(op, dst, slot) > math.MaxUint8 {
		return corruptf("operation %d, register %d, slot %d: at most 255", op, dst, slot)
	}
	it.Op, it.Dst, it.Slot = Op(op), Reg(dst), uint8(slot)
	if len(d.coefs) > 0 {
		it.Coefs = slices.Clone(d.coefs)
	}
	var err error
	if it.Args, err = d.operands(regs[0], d.consts[0]); err != nil {
		return err
	}
	if it.Guard, err = d.operands(regs[1], d.consts[1]); err != nil || !nested {
		return err
	}
	it.Body, err = d.items(b, itemBody, depth+1)
	return err
}

// operands are allocated many together.
func (d *definitionReader) operands(regs []byte, consts []int64) ([]Operand, error) {
	n := len(regs)
	if n != len(consts) {
		return nil, corruptf("%d registers, %d constants", n, len(consts))
	}
	if n == 0 {
		return nil, nil
	}
	if n > len(d.free) {
		d.free = make([]Operand, max(n, operandsTogether))
	}
	args := d.free[:n:n]
	d.free = d.free[n:]
	for i := range args {
		args[i] = Operand{Reg(regs[i]), consts[i]}
	}
	return args, nil
}
