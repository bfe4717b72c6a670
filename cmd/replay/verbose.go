package main

import (
	"cmp"
	"fmt"
	"io"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/smpi"
	"reprise/trace"
)

// describe says what is replayed on what, and which options are not the defaults of smpirun: by the
// platform's file, or by the command line.
func (m *loaded) describe(h *trace.Header, stderr io.Writer) {
	tell := func(format string, args ...any) { command.Tell(stderr, "replay", fmt.Sprintf(format, args...)) }
	used := map[int32]bool{}
	for _, host := range m.Hosts {
		used[host] = true
	}
	tell("%s of %s on %d of the %s of %s", textutil.Count(h.Ranks, "rank"), h.Program, len(used),
		textutil.Count(m.Platform.NumHosts(), "host"), m.Source.Platform)
	if m.Source.Kernels != "" {
		tell("kernel models %s", m.Source.Kernels)
	}
	usual := smpi.DefaultOptions()
	defaults := usual.Settings()
	for i, o := range m.options.Network.Settings() {
		if o.Value != defaults[i].Value {
			tell("%s:%s, not %s", o.Name, o.Value, cmp.Or(defaults[i].Value, "empty"))
		}
	}
}
