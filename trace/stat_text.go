package trace

import (
	"fmt"
	"io"
	"strings"
)

// WriteText prints the tables for people. Integers are exact; flop of 1e15 and more
// are rounded.
func (s *Stat) WriteText(w io.Writer) error {
	if _, err := io.WriteString(w, s.head()); err != nil {
		return err
	}
	for _, t := range []*table{s.kindTable(), s.kernelTable(), s.phaseTable()} {
		if len(t.rows) == 1 {
			continue
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := t.writeTo(w); err != nil {
			return err
		}
	}
	return nil
}

// head returns the lines above the tables.
func (s *Stat) head() string {
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
	line("ranks", "%s", countText(int64(s.Ranks)))
	line("steps", "%s of %s", countText(int64(s.Steps)), countText(int64(s.AllSteps)))
	line("polls", "%s", pollsText[s.Polls])
	f := &s.File
	line("file", "%s, %.6f per message; %s before compression (%.1f x); %s, %s, %s", counted(f.Bytes, "byte"), f.BytesPerMessage,
		countText(f.ContentBytes), f.Compression, counted(int64(f.Blocks), "block"), counted(int64(f.Windows), "window"), counted(f.Units, "unit"))
	line("totals", "%s, %s, %s, %s, %s flop", counted(s.Totals.Actions, "action"), counted(s.Totals.Messages, "message"),
		counted(s.Totals.Bytes, "byte"), counted(s.Totals.KernelCalls, "kernel call"), flopText(s.Totals.Flops))
	return b.String()
}

var pollsText = map[string]string{
	"hit":  "hit: each finds its message, the fewest actions",
	"late": "late: they find it when there is nothing else to do, the most actions",
}

func (s *Stat) kindTable() *table {
	t := &table{}
	t.row("kind", "actions", "bytes", "flop")
	for _, k := range s.Kinds {
		t.row(k.Kind, countText(k.Actions), countText(k.Bytes), flopText(k.Flops))
	}
	return t
}

func (s *Stat) kernelTable() *table {
	t := &table{}
	t.row("kernel", "calls", "flop")
	for _, k := range s.Kernels {
		t.row(k.Kernel, countText(k.Calls), flopText(k.Flops))
	}
	return t
}

func (s *Stat) phaseTable() *table {
	t := &table{}
	t.row("phase", "actions", "messages", "bytes", "kernel calls", "flop")
	for i := range s.Phases {
		p := &s.Phases[i]
		t.row(p.Phase, countText(p.Totals.Actions), countText(p.Totals.Messages), countText(p.Totals.Bytes),
			countText(p.Totals.KernelCalls), flopText(p.Totals.Flops))
	}
	return t
}
