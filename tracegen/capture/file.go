package capture

import (
	"strings"

	"reprise/trace"
)

// file reports whether a procedure reads or writes a file.
func (p *procedure) file() bool {
	return len(p.fields) > 0 && p.fields[0].role == roleFile
}

// quiet reports whether a procedure leaves nothing in a trace.
func (p *procedure) quiet() bool {
	return p.fields != nil && (len(p.fields) == 0 || p.fields[0].role == roleRequest)
}

// file adds an access to a file. One that is not blocking takes its time where it begins: its
// request is complete.
func (t *translator) file(e *event) error {
	name := procedures[e.proc].name
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
