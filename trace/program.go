package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// ErrBlock marks a block definition that breaks a rule.
var ErrBlock = errors.New("bad block")

// Program is a header with its blocks: all that a stream of calls refers to.
// Blocks may be added while cursors run, not at the same time.
type Program struct {
	header  *Header
	classes [][]int32 // by axis: class of each rank; nil for AxisAll and AxisRank
	groups  [][]int32 // by family: group of each rank
	symbols symbolHashes
	blocks  []Block
	infos   []blockInfo
	byHash  map[[32]byte]int
	codes   []*code // linked forms
	written []byte  // the block that is hashed, in memory that is used again
}

// blockInfo holds the facts of a block that its callers need. They are computed when the block is
// added, and include those of its callees.
type blockInfo struct {
	hash     [32]byte
	polls    bool // it, or a callee, polls or defines a pollable
	features featureSet
}

// NewProgram checks a header and returns a program without blocks. The header
// must not change any more.
func NewProgram(h *Header) (*Program, error) {
	groups, err := h.check()
	if err != nil {
		return nil, err
	}
	p := &Program{header: h, groups: groups, symbols: hashSymbols(h), byHash: map[[32]byte]int{}}
	for _, a := range h.Axes {
		var of []int32
		if a.Kind == AxisFamily {
			of = p.groups[a.Family]
		}
		p.classes = append(p.classes, of)
	}
	return p, nil
}

// Header returns the program's header; it must not be changed.
func (p *Program) Header() *Header { return p.header }

// NumBlocks returns the number of blocks.
func (p *Program) NumBlocks() int { return len(p.blocks) }

// Block returns a definition; it must not be changed.
func (p *Program) Block(i int) *Block { return &p.blocks[i] }

// BlockHash names a block by its content: equal definitions, with callees,
// kernels and markers that are equal, have equal hashes in all traces.
func (p *Program) BlockHash(i int) [32]byte { return p.infos[i].hash }

// Group returns which group of a family a rank is in.
func (p *Program) Group(family int, rank int32) int32 { return p.groups[family][rank] }

// Class returns the class of a rank on an axis.
func (p *Program) Class(axis int, rank int32) int32 {
	if of := p.classes[axis]; of != nil {
		return of[rank]
	}
	if p.header.Axes[axis].Kind == AxisRank {
		return rank
	}
	return 0
}

// Add adds the block that b built and returns its number. If an equal block is
// there already, its number is returned.
func (p *Program) Add(b *Builder) (int, error) {
	if len(b.errs) > 0 {
		return 0, fmt.Errorf("%w %q: %s", ErrBlock, b.block.Name, b.errs[0])
	}
	return p.AddBlock(b.block)
}

// AddBlock adds a definition after checking it, and returns its number; if an
// equal block is there already, the number of that.
func (p *Program) AddBlock(b Block) (int, error) {
	var err error
	c := checker{program: p, defined: make([]bool, maxRegs)}
	if b.Params < 0 || b.Params > maxRegs-1 {
		err = fmt.Errorf("%d parameters, allowed 0 to %d", b.Params, maxRegs-1)
	} else {
		for r := 0; r <= b.Params; r++ {
			c.defined[r] = true
		}
		err = c.items(b.Items)
	}
	if err != nil {
		return 0, fmt.Errorf("%w %d %q: %w", ErrBlock, len(p.blocks), b.Name, err)
	}
	// The block's name: SHA-256 of the definition with symbols and callees replaced by their hashes.
	p.written = p.appendItems(binary.AppendUvarint(p.written[:0], uint64(b.Params)), b.Items)
	hash := sha256.Sum256(p.written)
	// Blocks that do the same share a number, whoever built them: writers need not remember what they have
	// defined.
	if n, ok := p.byHash[hash]; ok {
		return n, nil
	}
	n := len(p.blocks)
	p.blocks = append(p.blocks, b)
	p.infos = append(p.infos, blockInfo{hash: hash, polls: c.polls, features: c.features})
	p.byHash[hash] = n
	return n, nil
}

// symbolHashes names kernels, markers and families by content. Names are quoted in
// ASCII: which other characters can be printed depends on the version of Unicode.
type symbolHashes struct{ kernels, markers, families [][32]byte }

// hashSymbols names all symbols of a header by what they mean, so that blocks of traces whose tables have
// another order can be compared.
func hashSymbols(h *Header) symbolHashes {
	var s symbolHashes
	for _, k := range h.Kernels {
		var b strings.Builder
		fmt.Fprintf(&b, "kernel %+q", k.Name)
		for _, a := range k.Attrs {
			fmt.Fprintf(&b, " %+q=%+q", a.Name, a.Value)
		}
		for _, d := range k.Dims {
			fmt.Fprintf(&b, " %+q%+q%t", d.Name, d.Enum, d.Label)
		}
		s.kernels = append(s.kernels, sha256.Sum256([]byte(b.String())))
	}
	for _, m := range h.Markers {
		phase := ""
		if m.Phase > 0 {
			phase = h.Phases[m.Phase-1]
		}
		s.markers = append(s.markers, sha256.Sum256(fmt.Appendf(nil, "marker %+q %+q %t", m.Text, phase, m.End)))
	}
	for _, f := range h.CommFamilies {
		s.families = append(s.families, sha256.Sum256(fmt.Appendf(nil, "family %+q %v", f.Name, f.Groups)))
	}
	return s
}

// appendItems appends the items as their block's name has them: with the hash of each symbol in its
// place, and all that has a length behind it.
func (p *Program) appendItems(buf []byte, items []Item) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(items)))
	for i := range items {
		it := &items[i]
		buf = append(buf, byte(it.Op), byte(it.Dst), it.Slot)
		buf = binary.AppendVarint(buf, int64(it.Req))
		var symbol [32]byte
		switch opRules[it.Op].symbol {
		case symbolKernel:
			symbol = p.symbols.kernels[it.Sym]
		case symbolMarker:
			symbol = p.symbols.markers[it.Sym]
		case symbolFamily:
			symbol = p.symbols.families[it.Sym]
		case symbolBlock:
			symbol = p.infos[it.Sym].hash
		case symbolCollective:
			text := fmt.Appendf(nil, "collective %q", CollectiveKind(it.Sym))
			if it.Comm > 0 {
				text = append(text, p.symbols.families[it.Comm-1][:]...)
			}
			symbol = sha256.Sum256(text)
		case symbolCompletion:
			symbol = sha256.Sum256(fmt.Appendf(nil, "completion %q", Completion(it.Sym)))
		}
		if opRules[it.Op].symbol != symbolNone {
			buf = append(buf, symbol[:]...)
		}
		if it.Guard != nil {
			buf = append(buf, p.symbols.families[it.GuardSym][:]...)
		}
		for _, args := range [2][]Operand{it.Args, it.Guard} {
			buf = binary.AppendUvarint(buf, uint64(len(args)))
			for _, a := range args {
				buf = append(buf, byte(a.Reg))
				buf = binary.AppendVarint(buf, a.Const)
			}
		}
		for _, c := range it.Coefs {
			buf = binary.AppendVarint(buf, c)
		}
		buf = p.appendItems(buf, it.Body)
	}
	return buf
}
