package text

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes the structure of a trace: header, blocks, calls (WriteStructure).

// WriteStructure writes what a trace says in its own terms: header, blocks and, for the steps [from, to) (to = 0: to
// the end), the calls of each unit with their columns. Blocks appear before the chunk that first may use them.
func WriteStructure(w io.Writer, t *trace.Trace, from, to int) error {
	// A stream defines blocks and features as it is read, so that both are looked for before each chunk.
	s := &structureWriter{w: bufio.NewWriter(w), h: t.Header(), p: t.Program()}
	s.header()
	s.features(t)
	for chunk, err := range t.Chunks(from, to) {
		if err != nil {
			return err
		}
		s.features(t)
		s.blocks()
		for _, u := range chunk.Units() {
			if u.Step < from || to > 0 && u.Step >= to {
				continue
			}
			s.printf("\nstep %d\n", u.Step)
			for i := range u.Calls {
				// Columns in the order of the file, the elements of vectors in brackets.
				c := &u.Calls[i]
				site := &s.h.CallSites[c.Site]
				s.printf("    %s: blocks %s", site.Name,
					columnText(len(c.Blocks), func(i int) int64 { return int64(c.Blocks[i]) }))
				for i, mask := range c.Masks {
					s.printf("; mask by %s %s", s.axis(site.Masks[i]), valuesText(mask))
				}
				if site.Counts != trace.NoAxis {
					s.printf("; counts %s",
						columnText(len(c.Starts)-1, func(i int) int64 { return int64(c.Starts[i+1] - c.Starts[i]) }))
				}
				for i, column := range c.Args {
					s.printf("; %s", site.Params[i].Name)
					if !site.Params[i].Vector {
						s.printf(" %s", valuesText(column))
						continue
					}
					if len(column) == 0 {
						s.printf(" ")
					}
					for _, v := range column {
						sums := chunk.Sums(v)
						if sums == nil { // of a chunk that is not there
							s.printf(" [%d?]", v)
							continue
						}
						s.printf(" [%s]", columnText(len(sums)-1, func(i int) int64 { return sums[i+1] - sums[i] }))
					}
				}
				s.printf("\n")
			}
		}
	}
	s.blocks()
	return s.w.Flush()
}

// structureWriter is the state of a structure under way.
type structureWriter struct {
	// Where the text goes, and what calls and definitions refer to.
	w    *bufio.Writer // keeps the first error, which Flush returns
	h    *trace.Header
	p    *trace.Program
	next int      // first block not written yet
	seen []string // features written
}

// printf writes formatted text. The buffered writer keeps an error until it is flushed.
func (s *structureWriter) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// header writes what the header holds, a line for each entry.
// Symbols have their number in front, as records refer to them by it.
func (s *structureWriter) header() {
	h := s.h
	s.printf("program %s\n", h.Program)
	if h.Tool != "" {
		s.printf("tool %s\n", h.Tool)
	}
	if h.Command != "" {
		s.printf("command %s\n", h.Command)
	}
	for _, p := range h.Params {
		s.printf("param %s = %s\n", p.Name, p.Value)
	}
	s.printf("ranks %d\nsteps %d\n", h.Ranks, h.Steps)
	if h.Flops > 0 {
		s.printf("flops %g\n", h.Flops)
	}
	for i := range h.CommFamilies {
		f := &h.CommFamilies[i]
		s.printf("family %d %s: %s", i, f.Name, textutil.Count(len(f.Groups), "group"))
		// Groups mostly resemble each other: some of them show the pattern.
		const shown = 4
		for g := range f.Groups[:min(shown, len(f.Groups))] {
			group := &f.Groups[g]
			s.printf(", %s", columnText(group.Len(), func(m int) int64 { return int64(group.Member(m)) }))
		}
		if len(f.Groups) > shown {
			s.printf(", ...")
		}
		s.printf("\n")
	}
	for i, a := range h.Axes {
		s.printf("axis %d %s: %s\n", i, a.Name, textutil.Count(h.Classes(i), "class"))
	}
	for i, p := range h.Phases {
		s.printf("phase %d %s\n", i, p)
	}
	for i := range h.Kernels { // as in: dgemm N T (M, N, K) flop 2*M*N*K
		k := &h.Kernels[i]
		names := make([]string, len(k.Dims))
		for d, dim := range k.Dims {
			names[d] = dim.Name
			switch {
			case dim.Enum != nil:
				names[d] += ": " + strings.Join(dim.Enum, "|")
			case dim.Label:
				names[d] += ": label"
			}
		}
		s.printf("kernel %d %s (%s)", i, k.FullName(), strings.Join(names, ", "))
		sep := " flop "
		for _, term := range k.Flops {
			factors := []string{strconv.FormatFloat(term.Coef, 'g', -1, 64)}
			for d := range k.Dims {
				for range term.Pow[d] {
					factors = append(factors, k.Dims[d].Name)
				}
			}
			if term.Coef == 1 && len(factors) > 1 {
				factors = factors[1:]
			}
			s.printf("%s%s", sep, strings.Join(factors, "*"))
			sep = " + "
		}
		s.printf("\n")
	}
	for i := range h.Markers {
		s.printf("marker %d %s\n", i, h.Markers[i].Text)
	}
	for i := range h.CallSites { // by which axis each column is
		site := &h.CallSites[i]
		s.printf("call site %d %s: block by %s", i, site.Name, s.axis(site.Block))
		for _, g := range site.Masks {
			s.printf(", mask by %s", s.axis(g))
		}
		if site.Counts != trace.NoAxis {
			s.printf(", count by %s", s.axis(site.Counts))
		}
		for _, p := range site.Params {
			s.printf(", %s by %s", p.Name, s.axis(p.Axis))
			if p.Vector {
				s.printf(" (vector)")
			}
		}
		s.printf("\n")
	}
}

// axis names an axis of a column.
func (s *structureWriter) axis(i int) string {
	if i == trace.PerItem {
		return "item"
	}
	return s.h.Axes[i].Name
}

// features writes those that the records read so far list.
func (s *structureWriter) features(t *trace.Trace) {
	for _, name := range t.Features() {
		if !slices.Contains(s.seen, name) {
			s.seen = append(s.seen, name)
			s.printf("feature %s\n", name)
		}
	}
}

// blocks writes the definitions that are new. Blocks are named by number; the hash, of which the first bytes are
// written, is the same in all traces.
func (s *structureWriter) blocks() {
	for ; s.next < s.p.NumBlocks(); s.next++ {
		b := s.p.Block(s.next)
		hash := s.p.BlockHash(s.next)
		names := make([]string, b.Params)
		for i := range names {
			names[i] = register(trace.Reg(i + 1))
		}
		s.printf("\nblock %s(%s) %x\n", s.blockName(s.next), strings.Join(names, ", "), hash[:8])
		s.items(b.Items, 1)
	}
}

// blockName returns the number of a block, with its name if it has one.
func (s *structureWriter) blockName(i int) string {
	if name := s.p.Block(i).Name; name != "" {
		return fmt.Sprintf("%d %s", i, name)
	}
	return strconv.Itoa(i)
}

// items writes items, and those in their bodies further in.
func (s *structureWriter) items(items []trace.Item, depth int) {
	indent := strings.Repeat("    ", depth)
	for i := range items {
		it := &items[i]
		s.printf("%s%s", indent, s.item(it))
		if it.Body != nil {
			s.printf(" {\n")
			s.items(it.Body, depth+1)
			s.printf("%s}", indent)
		}
		s.printf("\n")
	}
}

// memory returns where the buffer of a message lies, if that is said.
func memory(it *trace.Item) string {
	if m := trace.Memory(it.Slot); m != trace.MemoryUnsaid {
		return " in " + m.String()
	}
	return ""
}

// register returns the name of a register.
func register(r trace.Reg) string { return "r" + strconv.Itoa(int(r)) }

// operand returns a constant, a register, or a register and a constant to be added.
func operand(o trace.Operand) string {
	switch {
	case o.Reg == 0:
		return strconv.FormatInt(o.Const, 10)
	case o.Const == 0:
		return register(o.Reg)
	}
	return fmt.Sprintf("%s%+d", register(o.Reg), o.Const)
}

// operands returns a list with commas.
func operands(args []trace.Operand) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = operand(a)
	}
	return strings.Join(texts, ", ")
}

// item returns the text of an item, without its body. Items without a form of their own are their operation and its
// operands. Operands are in the order of Item.Args; opcodes in trace/builder.go say what each one is.
func (s *structureWriter) item(it *trace.Item) string {
	arg := func(i int) string { return operand(it.Args[i]) }
	text := it.Op.String()
	switch it.Op {
	// Values.
	case trace.OpLetAffine:
		terms := make([]string, len(it.Args))
		for i, a := range it.Args {
			terms[i] = fmt.Sprintf("%d*(%s)", it.Coefs[i], operand(a))
			if a.Const == 0 {
				terms[i] = fmt.Sprintf("%d*%s", it.Coefs[i], operand(a))
			}
		}
		return register(it.Dst) + " = " + strings.Join(terms, " + ")
	case trace.OpLetMember:
		return fmt.Sprintf("%s = member %s of %s", register(it.Dst), operands(it.Args), s.h.CommFamilies[it.Sym].Name)
	case trace.OpLetSum:
		return fmt.Sprintf("%s = sum of %s[%s, %s)", register(it.Dst), arg(0), arg(1), arg(2))

	// Computations and messages.
	case trace.OpCompute:
		return s.h.Kernels[it.Sym].FullName() + "(" + operands(it.Args) + ")"
	case trace.OpLaunch:
		queue, flags := it.LaunchQueue()
		text = fmt.Sprintf("launch %s %s(%s)", s.h.Queues[queue], s.h.Kernels[it.Sym].FullName(), operands(it.Args))
		switch flags {
		case trace.FlagBlocking:
			return text + " blocking"
		case trace.FlagParts:
			return text + " in parts"
		}
		return text
	case trace.OpRelay, trace.OpRing:
		return fmt.Sprintf("%s %d request %d bytes %s root %s chunks %v%s", text, it.Slot, it.Req, arg(0), arg(1),
			it.Coefs, s.comm(it.Sym))
	case trace.OpAdvance:
		return fmt.Sprintf("%s %#x", text, it.Slot)
	case trace.OpUntil:
		return fmt.Sprintf("%s = until %#x %v: rows %s by %s: %s(., %s)", register(it.Dst), it.Slot, it.Coefs, arg(0), arg(1),
			s.blockName(it.Sym), operands(it.Args[2:]))
	case trace.OpQueue:
		v, queue := it.QueueVerb()
		text = fmt.Sprintf("%v %s", v, s.h.Queues[queue])
		if v.Named() {
			text += " event " + s.h.Events[it.Sym]
		}
		return text
	case trace.OpAfter:
		return fmt.Sprintf("%s %s", afterVerbs[it.Slot], arg(0))
	case trace.OpBeside:
		if it.Slot > 0 {
			text += fmt.Sprintf(" processor %d", it.Slot)
		}
		return text
	case trace.OpMark:
		return strconv.Quote(s.h.Markers[it.Sym].Text) + "(" + operands(it.Args) + ")"
	case trace.OpWait, trace.OpTest, trace.OpFree:
		return fmt.Sprintf("%s request %d", text, it.Req)
	case trace.OpComplete:
		return fmt.Sprintf("%v requests %s", trace.Completion(it.Sym), strings.Trim(fmt.Sprint(it.Coefs), "[]"))
	case trace.OpIsend, trace.OpIssend, trace.OpIrecv, trace.OpStart:
		return fmt.Sprintf("%s request %d peer %s tag %s bytes %s%s", text, it.Req, arg(0), arg(1), arg(2), s.comm(it.Sym)+memory(it))
	case trace.OpSend, trace.OpSsend, trace.OpRecv:
		return fmt.Sprintf("%s peer %s tag %s bytes %s%s", text, arg(0), arg(1), arg(2), s.comm(it.Sym)+memory(it))
	case trace.OpExchange, trace.OpSyncExchange:
		return fmt.Sprintf("%s peer %s tag %s out %s in %s%s", text, arg(0), arg(1), arg(2), arg(3), s.comm(it.Sym)+memory(it))
	case trace.OpSendrecv:
		return fmt.Sprintf("sendrecv peer %s tag %s bytes %s from %s tag %s bytes %s%s",
			arg(0), arg(1), arg(2), arg(3), arg(4), arg(5), s.comm(it.Sym)+memory(it))
	case trace.OpIprobe, trace.OpProbed, trace.OpProbe:
		return fmt.Sprintf("%s peer %s tag %s%s", text, arg(0), arg(1), s.comm(it.Sym))

	// Control: calls, and what polls let run.
	case trace.OpCall:
		return fmt.Sprintf("call %s(%s)", s.blockName(it.Sym), operands(it.Args))
	case trace.OpDefine:
		text = fmt.Sprintf("define %d: %s(%s)", it.Slot, s.blockName(it.Sym), operands(it.Args))
		if it.Guard != nil {
			text += fmt.Sprintf(" when peer %s tag %s%s", operand(it.Guard[0]), operand(it.Guard[1]), s.comm(it.GuardSym))
		}
		return text
	case trace.OpPoll, trace.OpPollWait:
		return fmt.Sprintf("%s %d", text, it.Slot)
	case trace.OpWork:
		return fmt.Sprintf("work %d: columns %s by %s: %s(., %s)", it.Slot, arg(0), arg(1), s.blockName(it.Sym),
			operands(it.Args[2:]))

	// Operations on communicators, windows and files.
	case trace.OpCollective, trace.OpIcollective:
		text = fmt.Sprintf("%v(%s)", trace.CollectiveKind(it.Sym), operands(it.Args))
		if it.Op == trace.OpIcollective {
			text = fmt.Sprintf("i%s request %d", text, it.Req)
		}
		if it.Comm > 0 {
			text += fmt.Sprintf(" family %d%s", it.Comm-1, s.comm(it.Comm-1))
		}
		if o := trace.Operator(it.Slot); o != trace.NoOperator {
			text += " " + o.String()
		}
		return text
	case trace.OpAccess, trace.OpIaccess:
		text = trace.AccessKind(it.Slot).String()
		if it.Op == trace.OpIaccess {
			text = fmt.Sprintf("r%s request %d", text, it.Req)
		}
		return fmt.Sprintf("%s peer %s window %s out %s in %s%s", text, arg(0), arg(1), arg(2), arg(3), s.comm(it.Sym))
	case trace.OpSync:
		return fmt.Sprintf("win_%v peer %s window %s assert %s%s", trace.SyncKind(it.Slot), arg(0), arg(1), arg(2),
			s.comm(it.Sym))
	case trace.OpFile:
		kind, collective := it.FileKind()
		text = kind.String()
		if collective {
			text += "_all"
		}
		return fmt.Sprintf("%s bytes %s%s", text, arg(0), s.comm(it.Sym))
	}
	if it.Op.Lets() {
		return fmt.Sprintf("%s = %s(%s)", register(it.Dst), text, operands(it.Args))
	}
	return strings.TrimSpace(text + " " + operands(it.Args))
}

// comm returns the name of a family after a space, if it has one.
func (s *structureWriter) comm(family int) string {
	if name := s.h.CommFamilies[family].Name; name != "" && name != "-" {
		return " " + name
	}
	return ""
}

// valuesText abbreviates a list of numbers.
func valuesText(values []int64) string {
	return columnText(len(values), func(i int) int64 { return values[i] })
}

// columnText abbreviates a column: repetitions as value*count, runs of equal
// steps as first..last by step, and after twelve such groups "... (n values)".
func columnText(n int, at func(int) int64) string {
	const groups = 12
	var b strings.Builder
	for i, g := 0, 0; i < n; g++ {
		if g == groups {
			fmt.Fprintf(&b, " ... (%d values)", n)
			break
		}
		if g > 0 {
			b.WriteByte(' ')
		}
		end := i + 1
		// The group goes on as long as the difference between neighbours is that of its first two.
		for end < n && end > i && at(end)-at(end-1) == at(i+1)-at(i) {
			end++
		}
		count, first, last := end-i, at(i), at(end-1)
		switch {
		case count > 1 && first == last:
			fmt.Fprintf(&b, "%d*%d", first, count)
		case count > 3:
			fmt.Fprintf(&b, "%d..%d", first, last)
			if by := (last - first) / int64(count-1); by != 1 {
				fmt.Fprintf(&b, " by %d", by)
			}
		default: // the second may begin a longer group
			count = 1
			fmt.Fprint(&b, first)
		}
		i += count
	}
	return b.String()
}
