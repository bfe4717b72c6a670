package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// This file checks blocks (Program.AddBlock) by the rules of each operation (opRules), and keeps them.

// ErrBlock marks a block definition that breaks a rule.
var ErrBlock = errors.New("bad block")

// Program is a header with its blocks: all that a stream of calls refers to.
// Blocks may be added while cursors run, not at the same time.
type Program struct {
	// The header, and what is derived from it.
	header  *Header
	classes [][]int32 // by axis: class of each rank; nil for AxisAll and AxisRank
	groups  [][]int32 // by family: group of each rank
	symbols symbolHashes
	// Definitions by number, the facts about each, and the number of each hash.
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

// NewProgram checks a header and returns a program without blocks. The header must not change any more.
func NewProgram(h *Header) (*Program, error) {
	groups, err := h.check()
	if err != nil {
		return nil, err
	}
	p := &Program{header: h, groups: groups, byHash: map[[32]byte]int{}}
	for _, a := range h.Axes {
		// Classes of an axis of a family are its groups: the tables are shared.
		var of []int32
		if a.Kind == AxisFamily {
			of = p.groups[a.Family]
		}
		p.classes = append(p.classes, of)
	}

	// Symbols are named by what they mean, so that blocks of traces whose tables have another order can be compared.
	s := &p.symbols
	// The flop of a kernel do not count: they say what a call costs, not which call it is.
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
	s.events = [][32]byte{{}} // for those that name none
	for i, name := range h.Events {
		s.events = append(s.events[:i], sha256.Sum256(fmt.Appendf(nil, "event %+q", name)))
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

// Add adds the block that b built and returns its number. If an equal block is there already, its number is returned.
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
		// Register 0 and the parameters are set from the start.
		err = c.items(b.Items)
	}
	if err != nil {
		return 0, fmt.Errorf("%w %d %q: %w", ErrBlock, len(p.blocks), b.Name, err)
	}
	// The block's name: SHA-256 of the definition with symbols and callees replaced by their hashes.
	p.written = p.appendItems(binary.AppendUvarint(p.written[:0], uint64(b.Params)), b.Items)
	hash := sha256.Sum256(p.written)
	// Blocks that do the same share a number, whoever built them: writers need not remember what they have defined.
	if n, ok := p.byHash[hash]; ok {
		return n, nil
	}
	n := len(p.blocks)
	p.blocks = append(p.blocks, b)
	p.infos = append(p.infos, blockInfo{hash: hash, polls: c.polls, features: c.features})
	p.byHash[hash] = n
	return n, nil
}

// symbolHashes has a hash for each kernel, marker and family, of what it means. The number of a symbol depends on the
// order in which a writer lists symbols; its hash does not, and so neither does the hash of a block that uses it. Names
// are quoted in ASCII before they are hashed, as the characters that can be printed depend on the version of Unicode.
type symbolHashes struct{ kernels, markers, families, events [][32]byte }

// appendItems appends the items as they are hashed for the block's name: with the hash of each symbol in place of
// its number, and each list behind its length.
func (p *Program) appendItems(buf []byte, items []Item) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(items)))
	for i := range items {
		it := &items[i]
		buf = append(buf, byte(it.Op), byte(it.Dst), it.Slot)
		buf = binary.AppendVarint(buf, int64(it.Req))
		var symbol [32]byte
		// The number of a symbol is replaced by the hash of what it names.
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
		case symbolEvent:
			symbol = p.symbols.events[it.Sym]
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

// symbolKind says which table Item.Sym refers to.
type symbolKind uint8

// Tables that Item.Sym may refer to.
const (
	symbolNone symbolKind = iota
	symbolKernel
	symbolMarker
	symbolFamily
	symbolBlock
	symbolCollective
	symbolCompletion
	symbolEvent
)

// opRule says what an item of an operation must look like in a definition.
type opRule struct {
	// The name is for people: it is not part of the file.
	// Shape of the item: arguments, symbol, and the fields that it may set.
	name   string
	args   int // number of arguments, or -1: depends on the symbol
	symbol symbolKind
	let    bool  // sets Dst
	polls  bool  // touches a pollable
	nested bool  // has a body
	req    bool  // has a request
	kinds  uint8 // kinds that its slot may name; 0: it names none
	memory bool  // its slot is a Memory
	// Features that a file with such an item must list.
	needs featureSet
}

// Features that operations need.
const (
	needsRequests    featureSet = 1 << featureRequests
	needsPolls       featureSet = 1 << featurePolls
	needsVectors     featureSet = 1 << featureVectors
	needsCollectives featureSet = 1 << featureCollectives
	needsCompletions featureSet = 1<<featureCompletions | needsRequests
	needsOneSided    featureSet = 1 << featureOneSided
	needsQueues      featureSet = 1 << featureQueues
	needsRelays      featureSet = 1<<featureRelays | needsRequests
	needsBeside      featureSet = 1 << featureBeside
	needsNonblocking featureSet = 1<<featureNonblocking | needsCollectives | needsRequests
)

// The operations and their rules. One that is not in the table would have no name and no arguments.
var opRules = [numOps]opRule{
	OpLetAffine:    {name: "affine", args: -1, let: true},
	OpLetMul:       {name: "mul", args: 2, let: true},
	OpLetMin:       {name: "min", args: 2, let: true},
	OpLetMax:       {name: "max", args: 2, let: true},
	OpLetEq:        {name: "eq", args: 2, let: true},
	OpLetMember:    {name: "member", args: 1, symbol: symbolFamily, let: true},
	OpLetSum:       {name: "sum", args: 3, let: true},
	OpCompute:      {name: "compute", args: -1, symbol: symbolKernel},
	OpFlops:        {name: "flops", args: 1}, // or 2: with a spread
	OpSleep:        {name: "sleep", args: 1},
	OpSend:         {name: "send", args: 3, symbol: symbolFamily, memory: true},
	OpSsend:        {name: "ssend", args: 3, symbol: symbolFamily, memory: true},
	OpIsend:        {name: "isend", args: 3, symbol: symbolFamily, memory: true, req: true, needs: needsRequests},
	OpIssend:       {name: "issend", args: 3, symbol: symbolFamily, memory: true, req: true, needs: needsRequests},
	OpRecv:         {name: "recv", args: 3, symbol: symbolFamily, memory: true},
	OpIrecv:        {name: "irecv", args: 3, symbol: symbolFamily, memory: true, req: true, needs: needsRequests},
	OpWait:         {name: "wait", req: true, needs: needsRequests},
	OpTest:         {name: "test", req: true, needs: needsRequests},
	OpWaitAll:      {name: "waitall", needs: needsRequests},
	OpExchange:     {name: "exchange", args: 4, symbol: symbolFamily, memory: true},
	OpSyncExchange: {name: "syncexchange", args: 4, symbol: symbolFamily},
	OpSendrecv:     {name: "sendrecv", args: 6, symbol: symbolFamily, memory: true},
	OpIprobe:       {name: "iprobe", args: 2, symbol: symbolFamily},
	OpProbed:       {name: "probed", args: 2, symbol: symbolFamily, needs: needsPolls},
	OpDefine:       {name: "define", args: -1, symbol: symbolBlock, polls: true, needs: needsPolls},
	OpPoll:         {name: "poll", polls: true, needs: needsPolls},
	OpPollWait:     {name: "pollwait", polls: true, needs: needsPolls},
	OpWork:         {name: "work", args: -1, symbol: symbolBlock, polls: true, needs: needsPolls},
	OpMark:         {name: "mark", args: -1, symbol: symbolMarker},
	OpIf:           {name: "if", args: 1, nested: true},
	OpLoop:         {name: "loop", args: 1, nested: true},
	OpCall:         {name: "call", args: -1, symbol: symbolBlock},
	OpCollective:   {name: "collective", args: -1, symbol: symbolCollective, needs: needsCollectives},
	OpFree:         {name: "free", req: true, needs: needsRequests},
	OpIcollective:  {name: "icollective", args: -1, symbol: symbolCollective, req: true, needs: needsNonblocking},
	OpComplete:     {name: "complete", symbol: symbolCompletion, needs: needsCompletions},
	OpProbe:        {name: "probe", args: 2, symbol: symbolFamily, needs: 1 << featureCompletions},
	OpStart:        {name: "start", args: 3, symbol: symbolFamily, req: true, needs: needsCompletions},
	OpAccess:       {name: "access", args: 4, symbol: symbolFamily, kinds: uint8(numAccesses), needs: needsOneSided},
	OpIaccess: {name: "iaccess", args: 4, symbol: symbolFamily, req: true, kinds: uint8(numAccesses),
		needs: needsOneSided | needsRequests},
	OpSync: {name: "sync", args: 3, symbol: symbolFamily, kinds: uint8(numSyncs), needs: needsOneSided},
	OpFile: {name: "file", args: 1, symbol: symbolFamily, kinds: collectiveFile * uint8(numFileKinds),
		needs: 1 << featureFiles},
	OpLaunch:  {name: "launch", args: -1, symbol: symbolKernel, kinds: math.MaxUint8, needs: needsQueues},
	OpQueue:   {name: "queue", symbol: symbolEvent, kinds: math.MaxUint8, needs: needsQueues},
	OpRelay:   {name: "relay", args: 2, symbol: symbolFamily, req: true, kinds: MaxRelays, needs: needsRelays},
	OpAdvance: {name: "advance", kinds: math.MaxUint8, needs: needsRelays},
	OpUntil:   {name: "until", args: -1, symbol: symbolBlock, let: true, kinds: math.MaxUint8, needs: needsRelays},
	OpRing:    {name: "ring", args: 2, symbol: symbolFamily, req: true, kinds: ringFlags, needs: needsRelays},
	OpAfter:   {name: "after", args: 1, kinds: 2, needs: needsBeside},
	OpBeside:  {name: "beside", kinds: math.MaxUint8, needs: needsBeside},
}

// Lets reports whether an item of the operation sets a register, its Dst.
func (op Op) Lets() bool { return opRules[op].let }

// Polls reports whether an item of the operation concerns a pollable, its Slot.
func (op Op) Polls() bool { return opRules[op].polls }

// Relays reports whether an item of the operation concerns relays, or what depends on requests.
func (op Op) Relays() bool { return op >= OpRelay && op <= OpRing }

// String returns the name that listings of the structure use.
func (op Op) String() string {
	if op < numOps && op != OpNone {
		return opRules[op].name
	}
	return fmt.Sprintf("op %d", uint8(op))
}

// MaxRequests is the number of request slots that a rank may use.
const MaxRequests = 1 << 20

// Bounds of definitions.
const (
	maxNesting  = 32 // of If and Loop
	maxPollArgs = 16 // arguments of a pollable's body
)

// checker verifies a block against the rules of its program: symbols exist, callees come before callers,
// registers are set once and before use. The linker and the cursors rely on it and do not check symbols,
// registers or numbers of arguments again.
type checker struct {
	program  *Program
	defined  []bool     // by register: 0, the parameters, and results of items before
	polls    bool       // the block, or a callee, concerns a pollable
	features featureSet // that its operations need
	depth    int        // of nesting
}

// items checks the items of a body in their order. Registers that they set are unset behind the body, since the
// body of an If may not run.
func (c *checker) items(items []Item) error {
	if c.depth++; c.depth > maxNesting {
		return fmt.Errorf("nested deeper than %d", maxNesting)
	}
	var own []Reg
	for i := range items {
		it := &items[i]
		if err := c.item(it); err != nil {
			return fmt.Errorf("item %d (%v): %w", i, it.Op, err)
		}
		if opRules[it.Op].let {
			own = append(own, it.Dst)
		}
	}
	for _, r := range own {
		c.defined[r] = false
	}
	c.depth--
	return nil
}

// item checks one item: its symbol, its arguments, what belongs to its operation, and that no field
// is set that the operation does not have, since it would be part of the block's name.
func (c *checker) item(it *Item) error {
	if it.Op == OpNone || it.Op >= numOps {
		return fmt.Errorf("unknown operation")
	}
	h, rule := c.program.header, &opRules[it.Op]
	c.features |= rule.needs

	// The symbol is one of its table. Blocks are those defined before: calls are acyclic.
	symbols := [...]int{symbolKernel: len(h.Kernels), symbolMarker: len(h.Markers), symbolFamily: len(h.CommFamilies),
		symbolBlock: len(c.program.blocks), symbolCollective: int(numCollectives), symbolCompletion: int(numCompletions),
		symbolEvent: max(1, len(h.Events))}
	// An index that is out of its table would be one into nothing when the block is linked.
	if n := symbols[rule.symbol]; rule.symbol != symbolNone && (it.Sym < 0 || it.Sym >= n) {
		return fmt.Errorf("symbol %d out of [0,%d)", it.Sym, n)
	}
	if rule.symbol != symbolNone && it.Guard != nil && (it.GuardSym < 0 || it.GuardSym >= len(h.CommFamilies)) {
		return fmt.Errorf("guard: family %d out of [0,%d)", it.GuardSym, len(h.CommFamilies))
	}
	if err := c.arguments(it, rule); err != nil {
		return err
	}

	// Pollables, communicators, operators, requests.
	if rule.polls {
		c.polls = true
		if int(it.Slot) >= h.Pollables {
			return fmt.Errorf("pollable %d out of [0,%d)", it.Slot, h.Pollables)
		}
	}
	if rule.symbol == symbolCollective {
		if n := len(h.CommFamilies); it.Comm < 0 || it.Comm > n {
			return fmt.Errorf("communicator of family %d out of [0,%d)", it.Comm-1, n)
		}
		if it.Comm > 0 {
			c.features.add(featureCommunicators)
		}
		if it.Slot != 0 {
			c.features.add(featureOperators)
			switch kind := CollectiveKind(it.Sym); {
			case it.Slot >= uint8(numOperators):
				return fmt.Errorf("operator %d out of [0,%d)", it.Slot, uint8(numOperators))
			case !kind.Reduces():
				return fmt.Errorf("%v has an operator", kind)
			}
		}
	}
	if rule.memory && it.Slot != 0 || it.Op == OpLaunch || it.Op == OpQueue {
		if err := c.queue(it); err != nil {
			return err
		}
	}
	if it.Op.Relays() {
		if err := c.relay(it); err != nil {
			return err
		}
	}
	if it.Req < 0 || it.Req >= MaxRequests {
		return fmt.Errorf("request %d out of [0,%d)", it.Req, MaxRequests)
	}

	// Fields that the operation does not have.
	switch {
	case !rule.let && it.Dst != 0:
		return fmt.Errorf("has a result")
	case rule.kinds > 0 && it.Slot >= rule.kinds:
		return fmt.Errorf("kind %d out of [0,%d)", it.Slot, rule.kinds)
	case rule.memory && it.Slot >= uint8(numMemories):
		return fmt.Errorf("memory %d out of [0,%d)", it.Slot, numMemories)
	case !rule.polls && rule.kinds == 0 && !rule.memory && it.Slot != 0 && rule.symbol != symbolCollective:
		return fmt.Errorf("has a pollable")
	case it.Comm != 0 && rule.symbol != symbolCollective:
		return fmt.Errorf("has a communicator")
	case !rule.req && it.Req != 0:
		return fmt.Errorf("has a request")
	case rule.symbol == symbolNone && it.Sym != 0:
		return fmt.Errorf("has a symbol")
	case it.Guard == nil && it.GuardSym != 0:
		return fmt.Errorf("has the family of a guard, and none")
	case rule.nested:
		return c.items(it.Body)
	case it.Body != nil:
		return fmt.Errorf("has a body")
	case !rule.let:
		return nil
	}

	// The result: a register is set once, so that its value never depends on the way to it.
	switch r := it.Dst; {
	case r == 0 || int(r) >= maxRegs:
		return fmt.Errorf("result in register %d, allowed 1 to %d", r, maxRegs-1)
	case c.defined[r]:
		return fmt.Errorf("register %d is set twice", r)
	}
	c.defined[it.Dst] = true
	return nil
}

// arguments checks the number of an item's arguments, its coefficients, its guard, and that each
// register that it reads is set.
func (c *checker) arguments(it *Item, rule *opRule) error {
	// The number of arguments, which may depend on the symbol.
	want := rule.args
	switch it.Op {
	case OpLetAffine:
		if want = len(it.Coefs); want == 0 {
			return fmt.Errorf("no terms")
		}
	case OpCompute:
		want = len(c.program.header.Kernels[it.Sym].Dims)
	case OpLaunch:
		want = len(c.program.header.Kernels[it.Sym].Dims) + int(it.Slot&FlagParts/FlagParts)
	case OpFlops:
		if len(it.Args) == 2 {
			want = 2
			c.features.add(featureSpreads)
		}
	case OpMark:
		want, _ = c.program.header.Markers[it.Sym].VectorArgs()
	case OpCall, OpDefine:
		want = c.program.blocks[it.Sym].Params
	case OpWork, OpUntil:
		want = c.program.blocks[it.Sym].Params + 1
	case OpCollective, OpIcollective:
		want = 0
		new(CollectiveOperands).each(CollectiveKind(it.Sym), func(*Operand) { want++ })
	}
	if len(it.Args) != want {
		return fmt.Errorf("%d arguments, want %d", len(it.Args), want)
	}

	// Coefficients: request slots of a completion, or factors of a sum, whose terms must fit the
	// 32 bits of the instructions that they are linked to.
	switch {
	case it.Op == OpComplete:
		if n := len(it.Coefs); n == 0 || n > maxCompleted {
			return fmt.Errorf("%d requests, allowed 1 to %d", n, maxCompleted)
		}
		seen := map[int64]bool{}
		for _, s := range it.Coefs {
			if s < 0 || s >= MaxRequests {
				return fmt.Errorf("request %d out of [0,%d)", s, MaxRequests)
			}
			if seen[s] {
				return fmt.Errorf("request %d twice", s)
			}
			seen[s] = true
		}
	case it.Op == OpLetAffine:
		for i, a := range it.Args {
			if coef := it.Coefs[i]; !fits(coef) || !fits(coef*a.Const) {
				return fmt.Errorf("term %d: coefficient %d and constant %d do not fit 32 bits", i, coef, a.Const)
			}
		}
	case it.Coefs != nil && !it.Op.Relays():
		return fmt.Errorf("has coefficients")
	}

	// Bodies: that of a pollable must not poll, since a poll would run within a poll.
	switch it.Op {
	case OpDefine:
		if c.program.infos[it.Sym].polls {
			return fmt.Errorf("body block %d polls itself", it.Sym)
		}
		if len(it.Args) > maxPollArgs {
			return fmt.Errorf("%d arguments, at most %d", len(it.Args), maxPollArgs)
		}
		if len(it.Guard) != 0 && len(it.Guard) != 2 {
			return fmt.Errorf("guard of %d operands, want peer and tag", len(it.Guard))
		}
	case OpCall, OpWork, OpUntil:
		c.polls = c.polls || c.program.infos[it.Sym].polls
		if it.Op != OpCall && c.program.blocks[it.Sym].Params == 0 {
			return fmt.Errorf("body block %d takes no columns", it.Sym)
		}
	}
	if it.Op != OpDefine && it.Guard != nil {
		return fmt.Errorf("has a guard")
	}

	// Operands: names of vectors, to which nothing is added, and registers that are set.
	var vectors uint64 // arguments (bit i) that name them
	switch it.Op {
	case OpLetSum:
		vectors = 1
	case OpMark:
		_, vectors = c.program.header.Markers[it.Sym].VectorArgs()
	case OpCollective, OpIcollective:
		// In the order in which CollectiveOperands.each lists the operands.
		args := 0
		for _, form := range []countForm{collectiveRules[it.Sym].send, collectiveRules[it.Sym].recv} {
			if form == countPerRank {
				vectors |= 1 << args
			}
			if form != noCount {
				args += 2
			}
		}
	}
	if vectors != 0 {
		c.features |= needsVectors
		for i, a := range it.Args {
			if vectors>>min(i, 63)&1 != 0 && a.Const != 0 {
				return fmt.Errorf("argument %d is a vector with a constant", i)
			}
		}
	}
	for _, args := range [2][]Operand{it.Args, it.Guard} {
		for _, a := range args {
			if int(a.Reg) >= maxRegs || !c.defined[a.Reg] {
				return fmt.Errorf("register %d is not set", a.Reg)
			}
		}
	}
	return nil
}
