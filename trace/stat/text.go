package stat

import (
	"fmt"
	"io"
	"strings"

	"reprise/internal/texttable"
	"reprise/internal/wording"
)

// WriteText prints the tables for people. Integers are exact; flop of 1e15 and more
// are rounded.
func (s *Report) WriteText(w io.Writer) error {
	if _, err := io.WriteString(w, s.head()); err != nil {
		return err
	}
	for _, t := range []*texttable.Table{s.kindTable(), s.kernelTable(), s.phaseTable()} {
		if t.Len() == 1 {
			continue
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// head returns the lines above the tables.
func (s *Report) head() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("program", "%s", s.Program)
	if s.Command != "" {
		line("command", "%s", s.Command)
	}
	if s.Tool != "" {
		line("written by", "%s", s.Tool)
	}
	line("hash", "%s", s.Hash)
	params := make([]string, len(s.Parameters))
	for i, p := range s.Parameters {
		params[i] = p.Name + "=" + p.Value
	}
	if len(params) > 0 {
		line("parameters", "%s", strings.Join(params, " "))
	}
	line("ranks", "%s", wording.Thousands(int64(s.Ranks)))
	line("steps", "%s of %s", wording.Thousands(int64(s.Steps)), wording.Thousands(int64(s.AllSteps)))
	line("polls", "%s", pollsText[s.Polls])
	f, each := &s.File, ""
	if s.Totals.Messages > 0 {
		each = fmt.Sprintf(", %.6f per message", f.BytesPerMessage)
	}
	line("file", "%s%s; %s before compression (%.1f x); %s, %s, %s", texttable.Counted(f.Bytes, "byte"), each,
		wording.Thousands(f.ContentBytes), f.Compression, texttable.Counted(int64(f.Blocks), "block"), texttable.Counted(int64(f.Chunks), "chunk"), texttable.Counted(f.Units, "unit"))
	line("totals", "%s, %s, %s, %s, %s flop", texttable.Counted(s.Totals.Actions, "action"), texttable.Counted(s.Totals.Messages, "message"),
		texttable.Counted(s.Totals.Bytes, "byte"), texttable.Counted(s.Totals.KernelCalls, "kernel call"), texttable.Flop(s.Totals.Flops))
	t := &s.Totals
	if t.Puts+t.Gets+t.Accumulates+t.Syncs > 0 {
		line("windows", "%s of %s, %s of %s, %s of %s, %s", texttable.Counted(t.Puts, "put"), texttable.Counted(t.PutBytes, "byte"), texttable.Counted(t.Gets, "get"),
			texttable.Counted(t.GetBytes, "byte"), texttable.Counted(t.Accumulates, "accumulate"), texttable.Counted(t.AccumulateBytes, "byte"), texttable.Counted(t.Syncs, "synchronisation"))
	}
	if t.FileReads+t.FileWrites > 0 {
		line("files", "%s of %s, %s of %s", texttable.Counted(t.FileReads, "read"), texttable.Counted(t.FileReadBytes, "byte"),
			texttable.Counted(t.FileWrites, "write"), texttable.Counted(t.FileWriteBytes, "byte"))
	}
	if s.Totals.Seconds > 0 {
		line("sleeps", "%g s", s.Totals.Seconds)
	}
	return b.String()
}

var pollsText = map[string]string{
	"hit":  "hit: each finds its message, the fewest actions",
	"late": "late: they find it when there is nothing else to do, the most actions",
}

func (s *Report) kindTable() *texttable.Table {
	t := &texttable.Table{}
	t.Row("kind", "actions", "bytes", "flop")
	for _, k := range s.Kinds {
		t.Row(k.Kind, wording.Thousands(k.Actions), wording.Thousands(k.Bytes), texttable.Flop(k.Flops))
	}
	return t
}

func (s *Report) kernelTable() *texttable.Table {
	t := &texttable.Table{}
	t.Row("kernel", "calls", "flop")
	for _, k := range s.Kernels {
		t.Row(k.Kernel, wording.Thousands(k.Calls), texttable.Flop(k.Flops))
	}
	return t
}

func (s *Report) phaseTable() *texttable.Table {
	t := &texttable.Table{}
	t.Row("phase", "actions", "messages", "bytes", "kernel calls", "flop")
	for i := range s.Phases {
		p := &s.Phases[i]
		t.Row(p.Phase, wording.Thousands(p.Totals.Actions), wording.Thousands(p.Totals.Messages), wording.Thousands(p.Totals.Bytes),
			wording.Thousands(p.Totals.KernelCalls), texttable.Flop(p.Totals.Flops))
	}
	return t
}
