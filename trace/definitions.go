package trace

import (
	"fmt"
	"math"
	"slices"
)

// This file decodes definitions field by field, into the memory where they stay: a recorded
// trace is mostly definitions, and protobuf's own decoder, by reflection and with an object for
// each item, takes several times as long. FuzzDefinitions compares both. The entry is decodeDefinitions.

// Fields of Definitions, Block and Item, as proto/trace.proto numbers them.
const (
	// Each constant is the number that proto/trace.proto gives the field, and how the field is written. Lists of
	// numbers have two constants: a decoder of protobuf must accept them packed into one field, as its encoder
	// writes them, and as one field for each number.
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

// decodeDefinitions reads the content of a definitions record: blocks, and features that are new. The strings and
// slices of the result are copies: b may be used again.
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

// operandsTogether is the number of operands that are allocated at a time. Most lists have one to four operands,
// so that one allocation serves some hundred lists.
const operandsTogether = 1 << 10

// definitionReader has the memory that definitions are read into.
type definitionReader struct {
	// Operands that are allocated and not used yet. Lists are cut from the front.
	free []Operand // of those that are allocated together
	// Constants of the arguments and of the guard of the item at hand, and its coefficients. Items
	// are read before their bodies, so that nested items can use the same memory.
	consts [2][]int64
	coefs  []int64
}

// block reads a definition. Its items are read in passes of their own over the fields: they are counted
// first, so that their list is allocated in one piece.
func (d *definitionReader) block(b []byte) (block Block, err error) {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case blockName:
			if block.Name, err = text(f.bytes); err != nil {
				return block, err
			}
		case blockParams:
			block.Params = fit[int](f.value & math.MaxUint32)
		}
	}
	if f.err != nil {
		return block, f.err
	}
	block.Items, err = d.items(b, blockItems, 0)
	return block, err
}

// items reads the fields of a message that have a tag as items: nil if there are none. depth is the number of items
// around these. It is bounded, as a stack overflow cannot be recovered from.
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

// item reads an item, its body in a second pass. A field that comes again replaces the one before, as in
// protobuf; lists go on.
func (d *definitionReader) item(it *Item, b []byte, depth int) error {
	// First pass: the fields of the item itself. Registers and constants of operands are separate
	// lists, which are put together when both are complete.
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
		// Requests, coefficients and constants are signed: proto/trace.proto declares them sint32 and sint64.
		case itemReq:
			it.Req = int32(unzigzag(v & math.MaxUint32))
		case itemSym:
			it.Sym = fit[int](v)
		case itemGuardSym:
			it.GuardSym = fit[int](v)
		case itemComm:
			it.Comm = fit[int](v & math.MaxUint32)
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
	// These have a byte each in an Item, and any number on the wire.
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
	// Second pass, of items that have a body.
	it.Body, err = d.items(b, itemBody, depth+1)
	return err
}

// operands puts lists of registers and of constants together. The result is cut from a larger allocation, with its
// capacity bounded to its length, so that appending to one list cannot overwrite the next one.
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

// write writes a definition. An operand is split into its register, one byte in a list of bytes, and its constant, so
// that a list of operands takes two fields, however long it is.
func (b *Block) write(m *message) {
	m.text(1, &b.Name)
	m.varint(2, uint64(b.Params))
	list(m, 3, &b.Items, (*Item).write)
}

// write writes an item, with its body.
func (it *Item) write(m *message) {
	operands := func(regs, consts uint64, args []Operand) {
		var bytes []byte
		var numbers []int64
		for _, a := range args {
			bytes, numbers = append(bytes, byte(a.Reg)), append(numbers, a.Const)
		}
		m.append(regs, bytes)
		m.signedList(consts, numbers)
	}
	m.varint(1, uint64(it.Op))
	m.varint(2, uint64(it.Dst))
	m.varint(3, uint64(it.Slot))
	m.varint(4, zigzag(int64(it.Req)))
	m.varint(5, uint64(it.Sym))
	m.varint(6, uint64(it.GuardSym))
	operands(7, 8, it.Args)
	m.signedList(9, it.Coefs)
	operands(10, 11, it.Guard)
	list(m, 12, &it.Body, (*Item).write)
	m.varint(13, uint64(it.Comm))
}
