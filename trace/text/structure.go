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

// WriteStructure writes what a trace says in its own terms: header, blocks and,
// for the steps [from, to) (to = 0: to the end), the calls of each unit with
// their columns. Blocks appear before the chunk that first may use them.
func WriteStructure(w io.Writer, t *trace.Trace, from, to int) error {
	s := &structureWriter{w: bufio.NewWriter(w), h: t.Header(), p: t.Program()}
	s.header()
	s.features(t)
	for chunk, err := range t.Chunks(from, to) {
		if err != nil {
			return err
		}
		s.features(t)
		s.blocks()
		s.chunk(chunk, from, to)
	}
	s.blocks()
	return s.w.Flush()
}

type structureWriter struct {
	w    *bufio.Writer
	h    *trace.Header
	p    *trace.Program
	next int      // first block not written yet
	seen []string // features written
}

func (s *structureWriter) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

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
		s.family(i)
	}
	for i, a := range h.Axes {
		s.printf("axis %d %s: %s\n", i, a.Name, textutil.Count(h.Classes(i), "class"))
	}
	for i, p := range h.Phases {
		s.printf("phase %d %s\n", i, p)
	}
	for i := range h.Kernels {
		s.printf("kernel %d %s\n", i, kernelSignature(&h.Kernels[i]))
	}
	for i := range h.Markers {
		s.printf("marker %d %s\n", i, h.Markers[i].Text)
	}
	for i := range h.CallSites {
		s.printf("call site %d %s\n", i, s.callSite(&h.CallSites[i]))
	}
}

func (s *structureWriter) family(i int) {
	f := &s.h.CommFamilies[i]
	s.printf("family %d %s: %s", i, f.Name, textutil.Count(len(f.Groups), "group"))
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

// kernelSignature returns "dgemm N T (M, N, K) flop 2*M*N*K".
func kernelSignature(k *trace.Kernel) string {
	var b strings.Builder
	b.WriteString(k.FullName())
	names := make([]string, len(k.Dims))
	for i, d := range k.Dims {
		names[i] = d.Name
		switch {
		case d.Enum != nil:
			names[i] += ": " + strings.Join(d.Enum, "|")
		case d.Label:
			names[i] += ": label"
		}
	}
	b.WriteString(" (" + strings.Join(names, ", ") + ")")
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
		b.WriteString(sep + strings.Join(factors, "*"))
		sep = " + "
	}
	return b.String()
}

func (s *structureWriter) callSite(t *trace.CallSite) string {
	parts := []string{"block by " + s.axis(t.Block)}
	for _, g := range t.Masks {
		parts = append(parts, "mask by "+s.axis(g))
	}
	if t.Counts != trace.NoAxis {
		parts = append(parts, "count by "+s.axis(t.Counts))
	}
	for _, p := range t.Params {
		text := p.Name + " by " + s.axis(p.Axis)
		if p.Vector {
			text += " (vector)"
		}
		parts = append(parts, text)
	}
	return t.Name + ": " + strings.Join(parts, ", ")
}

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

// blocks writes the definitions that are new.
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

func (s *structureWriter) blockName(i int) string {
	if name := s.p.Block(i).Name; name != "" {
		return fmt.Sprintf("%d %s", i, name)
	}
	return strconv.Itoa(i)
}

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

func register(r trace.Reg) string { return "r" + strconv.Itoa(int(r)) }

func operand(o trace.Operand) string {
	switch {
	case o.Reg == 0:
		return strconv.FormatInt(o.Const, 10)
	case o.Const == 0:
		return register(o.Reg)
	}
	return fmt.Sprintf("%s%+d", register(o.Reg), o.Const)
}

func operands(args []trace.Operand) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = operand(a)
	}
	return strings.Join(texts, ", ")
}

// item returns the text of an item, without its body.
func (s *structureWriter) item(it *trace.Item) string {
	if it.Op.Lets() {
		return register(it.Dst) + " = " + s.let(it)
	}
	arg := func(i int) string { return operand(it.Args[i]) }
	switch it.Op {
	case trace.OpCompute:
		return s.h.Kernels[it.Sym].FullName() + "(" + operands(it.Args) + ")"
	case trace.OpMark:
		return strconv.Quote(s.h.Markers[it.Sym].Text) + "(" + operands(it.Args) + ")"
	case trace.OpWait, trace.OpTest, trace.OpFree:
		return fmt.Sprintf("%v request %d", it.Op, it.Req)
	case trace.OpComplete:
		return fmt.Sprintf("%v requests %s", trace.Completion(it.Sym), strings.Trim(fmt.Sprint(it.Coefs), "[]"))
	case trace.OpIsend, trace.OpIssend, trace.OpIrecv, trace.OpStart:
		return fmt.Sprintf("%v request %d peer %s tag %s bytes %s%s", it.Op, it.Req, arg(0), arg(1), arg(2), s.comm(it.Sym))
	case trace.OpSend, trace.OpSsend, trace.OpRecv:
		return fmt.Sprintf("%v peer %s tag %s bytes %s%s", it.Op, arg(0), arg(1), arg(2), s.comm(it.Sym))
	case trace.OpExchange, trace.OpSyncExchange:
		return fmt.Sprintf("%v peer %s tag %s out %s in %s%s", it.Op, arg(0), arg(1), arg(2), arg(3), s.comm(it.Sym))
	case trace.OpSendrecv:
		return fmt.Sprintf("sendrecv peer %s tag %s bytes %s from %s tag %s bytes %s%s",
			arg(0), arg(1), arg(2), arg(3), arg(4), arg(5), s.comm(it.Sym))
	case trace.OpIprobe, trace.OpProbed, trace.OpProbe:
		return fmt.Sprintf("%v peer %s tag %s%s", it.Op, arg(0), arg(1), s.comm(it.Sym))
	}
	return s.control(it)
}

func (s *structureWriter) control(it *trace.Item) string {
	switch it.Op {
	case trace.OpCall:
		return fmt.Sprintf("call %s(%s)", s.blockName(it.Sym), operands(it.Args))
	case trace.OpDefine:
		text := fmt.Sprintf("define %d: %s(%s)", it.Slot, s.blockName(it.Sym), operands(it.Args))
		if it.Guard != nil {
			text += fmt.Sprintf(" when peer %s tag %s%s", operand(it.Guard[0]), operand(it.Guard[1]), s.comm(it.GuardSym))
		}
		return text
	case trace.OpPoll, trace.OpPollWait:
		return fmt.Sprintf("%v %d", it.Op, it.Slot)
	case trace.OpWork:
		return fmt.Sprintf("work %d: columns %s by %s: %s(., %s)", it.Slot, operand(it.Args[0]), operand(it.Args[1]),
			s.blockName(it.Sym), operands(it.Args[2:]))
	}
	switch it.Op {
	case trace.OpCollective, trace.OpIcollective:
		return s.collective(it)
	case trace.OpAccess, trace.OpIaccess, trace.OpSync, trace.OpFile:
		return s.oneSided(it)
	}
	return strings.TrimSpace(it.Op.String() + " " + operands(it.Args))
}

func (s *structureWriter) collective(it *trace.Item) string {
	text := fmt.Sprintf("%v(%s)", trace.CollectiveKind(it.Sym), operands(it.Args))
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
}

func (s *structureWriter) comm(family int) string {
	if name := s.h.CommFamilies[family].Name; name != "" && name != "-" {
		return " " + name
	}
	return ""
}

// let returns what a Let item computes.
func (s *structureWriter) let(it *trace.Item) string {
	switch it.Op {
	case trace.OpLetAffine:
		terms := make([]string, len(it.Args))
		for i, a := range it.Args {
			terms[i] = fmt.Sprintf("%d*(%s)", it.Coefs[i], operand(a))
			if a.Const == 0 {
				terms[i] = fmt.Sprintf("%d*%s", it.Coefs[i], operand(a))
			}
		}
		return strings.Join(terms, " + ")
	case trace.OpLetMember:
		return fmt.Sprintf("member %s of %s", operands(it.Args), s.h.CommFamilies[it.Sym].Name)
	case trace.OpLetSum:
		return fmt.Sprintf("sum of %s[%s, %s)", operand(it.Args[0]), operand(it.Args[1]), operand(it.Args[2]))
	}
	return fmt.Sprintf("%v(%s)", it.Op, operands(it.Args))
}

// chunk writes the units of a chunk that are of the steps [from, to).
func (s *structureWriter) chunk(chunk *trace.Chunk, from, to int) {
	for _, u := range chunk.Units() {
		if u.Step < from || to > 0 && u.Step >= to {
			continue
		}
		s.printf("\nstep %d\n", u.Step)
		for i := range u.Calls {
			s.call(chunk, &u.Calls[i])
		}
	}
}

func (s *structureWriter) call(chunk *trace.Chunk, c *trace.CallColumns) {
	t := &s.h.CallSites[c.Site]
	s.printf("    %s: blocks %s", t.Name, columnText(len(c.Blocks), func(i int) int64 { return int64(c.Blocks[i]) }))
	for i, mask := range c.Masks {
		s.printf("; mask by %s %s", s.axis(t.Masks[i]), valuesText(mask))
	}
	if t.Counts != trace.NoAxis {
		s.printf("; counts %s", columnText(len(c.Starts)-1, func(i int) int64 { return int64(c.Starts[i+1] - c.Starts[i]) }))
	}
	for i, column := range c.Args {
		s.printf("; %s ", t.Params[i].Name)
		if t.Params[i].Vector {
			s.vectors(chunk, column)
		} else {
			s.printf("%s", valuesText(column))
		}
	}
	s.printf("\n")
}

// vectors writes the elements of the vectors that a column names.
func (s *structureWriter) vectors(chunk *trace.Chunk, column []int64) {
	for i, v := range column {
		if i > 0 {
			s.printf(" ")
		}
		sums := chunk.Sums(v)
		if sums == nil {
			s.printf("[%d?]", v)
			continue
		}
		s.printf("[%s]", columnText(len(sums)-1, func(i int) int64 { return sums[i+1] - sums[i] }))
	}
}

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
		for end < n && end > i && at(end)-at(end-1) == at(i+1)-at(i) {
			end++
		}
		i += writeGroup(&b, end-i, at(i), at(end-1))
	}
	return b.String()
}

// writeGroup writes count values from first to last, which have equal
// distances, and returns how many it wrote: of two values the second may begin a
// longer group.
func writeGroup(b *strings.Builder, count int, first, last int64) int {
	switch {
	case count > 1 && first == last:
		fmt.Fprintf(b, "%d*%d", first, count)
		return count
	case count > 3:
		by := (last - first) / int64(count-1)
		fmt.Fprintf(b, "%d..%d", first, last)
		if by != 1 {
			fmt.Fprintf(b, " by %d", by)
		}
		return count
	}
	fmt.Fprint(b, first)
	return 1
}
