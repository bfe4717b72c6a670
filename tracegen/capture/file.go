package capture

import (
	"strings"

	"reprise/trace"
)

// file adds an access to a file. One that is not blocking takes its time where it begins: its
// request is complete.
func (t *translator) file(e *event) error {
	name := e.proc.String()
	s := step{form: form{kind: trace.KindFile, file: trace.FileRead}}
	if strings.Contains(name, "write") {
		s.file = trace.FileWrite
	}
	s.together = strings.Contains(name, "_all") || strings.Contains(name, "_ordered")
	switch id := t.own.of[e.comm]; {
	case id == alone:
		s.family = t.families.alone()
	case id >= 0:
		s.family = t.families.of(id)
	}
	s.args[argBytes] = e.of[anySide].count * e.of[anySide].size
	if e.status.found && e.status.bytes >= 0 {
		s.args[argBytes] = e.status.bytes
	}
	t.add(s)
	t.nothing(e.request)
	return nil
}
