package stat

import (
	"fmt"
	"io"
	"strings"

	"reprise/internal/textutil"
)

// WriteText prints the tables for people. Integers are exact; flop of 1e15 and more
// are rounded.
func (s *Report) WriteText(w io.Writer) error {
	// The lines above the tables.
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
	line("ranks", "%s", textutil.Thousands(int64(s.Ranks)))
	line("steps", "%s of %s", textutil.Thousands(int64(s.Steps)), textutil.Thousands(int64(s.AllSteps)))
	line("polls", "%s", pollsText[s.Polls])
	f, each := &s.File, ""
	if s.Totals.Messages > 0 {
		each = fmt.Sprintf(", %.6f per message", f.BytesPerMessage)
	}
	line("file", "%s%s; %s before compression (%.1f x); %s, %s, %s", textutil.Counted(f.Bytes, "byte"), each,
		textutil.Thousands(f.ContentBytes), f.Compression, textutil.Counted(int64(f.Blocks),
			"block"), textutil.Counted(int64(f.Chunks), "chunk"), textutil.Counted(f.Units, "unit"))
	line("totals", "%s, %s, %s, %s, %s flop", textutil.Counted(s.Totals.Actions, "action"),
		textutil.Counted(s.Totals.Messages, "message"),
		textutil.Counted(s.Totals.Bytes, "byte"), textutil.Counted(s.Totals.KernelCalls,
			"kernel call"), textutil.Flop(s.Totals.Flops))
	t := &s.Totals
	if t.Puts+t.Gets+t.Accumulates+t.Syncs > 0 {
		line("windows", "%s of %s, %s of %s, %s of %s, %s", textutil.Counted(t.Puts, "put"),
			textutil.Counted(t.PutBytes, "byte"), textutil.Counted(t.Gets, "get"),
			textutil.Counted(t.GetBytes, "byte"), textutil.Counted(t.Accumulates,
				"accumulate"), textutil.Counted(t.AccumulateBytes, "byte"), textutil.Counted(t.Syncs, "synchronisation"))
	}
	if t.FileReads+t.FileWrites > 0 {
		line("files", "%s of %s, %s of %s", textutil.Counted(t.FileReads, "read"), textutil.Counted(t.FileReadBytes, "byte"),
			textutil.Counted(t.FileWrites, "write"), textutil.Counted(t.FileWriteBytes, "byte"))
	}
	if s.Totals.Seconds > 0 {
		line("sleeps", "%g s", s.Totals.Seconds)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}

	// The tables, of which those without a row are left out.
	var kinds, kernels, phases textutil.Table
	kinds.Row("kind", "actions", "bytes", "flop")
	for _, k := range s.Kinds {
		kinds.Row(k.Kind, textutil.Thousands(k.Actions), textutil.Thousands(k.Bytes), textutil.Flop(k.Flops))
	}
	kernels.Row("kernel", "calls", "flop")
	for _, k := range s.Kernels {
		kernels.Row(k.Kernel, textutil.Thousands(k.Calls), textutil.Flop(k.Flops))
	}
	phases.Row("phase", "actions", "messages", "bytes", "kernel calls", "flop")
	for i := range s.Phases {
		p := &s.Phases[i].Totals
		phases.Row(s.Phases[i].Phase, textutil.Thousands(p.Actions), textutil.Thousands(p.Messages),
			textutil.Thousands(p.Bytes), textutil.Thousands(p.KernelCalls), textutil.Flop(p.Flops))
	}
	for _, t := range []*textutil.Table{&kinds, &kernels, &phases} {
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

var pollsText = map[string]string{
	"hit":  "hit: each finds its message, the fewest actions",
	"late": "late: they find it when there is nothing else to do, the most actions",
}
