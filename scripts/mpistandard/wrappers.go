package main

import (
	"fmt"
	"slices"
	"strings"
)

const notice = "Written by scripts/mpistandard from the standard's data (mpi-forum/pympistandard); do not change."

// numbers returns the C code of the procedures' numbers in records.
func numbers(calls []call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\nenum {\n", notice)
	for _, c := range calls {
		fmt.Fprintf(&b, "\tP_%s,\n", c.name)
	}
	b.WriteString("\tP_PROCEDURES,\n};\n")
	return b.String()
}

// wrappers returns the C code of the wrappers.
func wrappers(calls []call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n", notice)
	for _, c := range calls {
		if c.class != handWritten {
			c.wrapper(&b)
		}
	}
	return b.String()
}

// wrapper writes one.
func (c *call) wrapper(b *strings.Builder) {
	var list []string
	for _, p := range c.params {
		if p.Name == "register" || p.Name == "info" {
			p.Name += "_"
		}
		list = append(list, p.Name)
	}
	names, typed := strings.Join(list, ", "), "void"
	if names != "" {
		typed = "W " + strings.Join(list, ", W ")
	}
	fmt.Fprintf(b, "\nEXPORT int PMPI_%s(%s)\n{\n\tFIND(%s)\n\tif (PASSES) {\n\t\treturn real(%s);\n\t}\n\tenter();\n", c.name, typed, c.name, names)
	// Before the call: a status of our own, and the message, whose handle may be another one's after it.
	if c.class == recorded && c.has("status") {
		b.WriteString("\tchar own[STATUS_BYTES];\n\tif (status == abi.status_ignore) {\n\t\tstatus = (W)own;\n\t}\n")
	}
	if strings.HasSuffix(strings.ToLower(strings.TrimSuffix(c.name, "_c")), "mrecv") {
		b.WriteString("\tlock();\n\tstruct message m = take_message(message ? handle_at(message, 0) : abi.message_no_proc);\n\tunlock();\n")
	}
	fmt.Fprintf(b, "\tint err = real(%s);\n", names)
	if c.class == refused {
		fmt.Fprintf(b, "\tbegin(P_%s, err);\n", c.name)
	} else {
		fmt.Fprintf(b, "\tif (begin(P_%s, err)) {\n", c.name)
		for _, f := range c.fields() {
			c.put(b, f)
		}
		b.WriteString("\t}\n")
	}
	fmt.Fprintf(b, "\treturn leave(err);\n}\nBOTH(%s)\n", c.name)
}

// puts has what puts fields down of which their argument says all.
var puts = map[string]string{
	"tag": "put_tag(%s);", "operator": "put_operator(%s);", "flag": "put(int_at(%s, 0) != 0);", "partitions": "put((uint32_t)%s);",
	"file": "put_file(%s);", "window": "put_window(%s);", "newWindow": "add_window(%s, c->number == STRANGER);",
	"assert": "put_assertions(%s);", "lock": "put((int)%s == abi.lock_shared);", "group": "put_members(%s);",
	"noOp": "put(handle_of(%s) == abi.no_op);",
}

// put writes what puts a field down.
func (c *call) put(b *strings.Builder, f field) {
	indent, name, wide := "\t\t", f.Name, map[bool]int{true: 1}[c.large]
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+"\n", args...) }
	var conditions []string
	if f.RootOnly {
		conditions = append(conditions, "mine")
	}
	if f.side != "" && slices.ContainsFunc(c.fields(), func(f field) bool { return f.role == "inPlace" }) {
		conditions = append(conditions, fmt.Sprintf("%sbuf != abi.in_place", f.side))
	}
	if len(conditions) > 0 {
		line("if (%s) {", strings.Join(conditions, " && "))
		indent += "\t"
		defer fmt.Fprintf(b, "\t\t}\n")
	}
	switch f.role {
	case "comm":
		line("struct comm *c = comm_of(%s);", name)
		line("put_comm(c);")
	case "rank":
		line("put_rank(%s);", name)
		if c.rooted() {
			line("int mine = (int)%s == (c->remote ? abi.root : c->rank);", name)
		}
	case "inPlace":
		line("put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);")
	case "count":
		line("put(%s%s);", c.unlessIdle(f), c.number(name))
	case "counts":
		line("put_counts(%s, %s, %d);", name, c.peers(f), wide)
	case "size":
		line("put(%stype_size(%s));", c.unlessIdle(f), name)
	case "sizes":
		line("put_sizes(%s, %s);", name, c.peers(f))
	case "span":
		line("put_span(recvcounts, %s, c->remote ? c->remote : c->size, %d);", name, wide)
	case "status":
		c.putStatus(line)
	case "new":
		if strings.HasPrefix(c.name, "Comm_idup") {
			line("put_copy(%s, c);", name)
			return
		}
		line("put_new(%s, %d);", name, map[bool]int{true: 1}[c.name == "Comm_create_group" || c.name == "Comm_create_from_group"])
	case "request":
		bytes, tag := c.received()
		make := "new_request"
		if strings.HasSuffix(strings.TrimSuffix(c.name, "_c"), "_init") {
			make = "new_persistent"
		}
		switch {
		case c.has("partitions"): // a receive has the size of the send; MPICH's statuses have no bytes of it
			line("%s(%s);", make, name)
		case c.has("source"):
			line("receives(%s(%s), %s, source, %s);", make, name, bytes, tag)
		case c.has("message"):
			line("receives(%s(%s), %s, m.source, m.tag);", make, name, bytes)
		default:
			line("%s(%s);", make, name)
		}
	case "message":
		if c.has("count") { // that of a probe comes with its status
			line("put_message(&m);")
		}
	default:
		line(puts[f.role], name)
	}
}

// putStatus writes what puts a status down: of a receive what its arguments do not say, of a
// probe what it found.
func (c *call) putStatus(line func(string, ...any)) {
	bytes, tag := c.received()
	switch {
	case c.has("fh"):
		line("put_transferred((char *)status, %s);", bytes)
	case !c.has("count") && !c.has("recvcount"): // a probe
		indent := ""
		if c.has("flag") {
			indent = "\t"
			line("if (int_at(flag, 0)) {")
			defer line("}")
		}
		line(indent + "put_rank(status_source((char *)status));")
		line(indent + "put_tag(status_tag((char *)status));")
		if c.has("message") {
			line(indent + "add_message(message, c, (char *)status);")
		}
	case c.has("message"):
		line("put_status((char *)status, 0, %s);", bytes)
	default:
		line("put_status((char *)status, (int)source == abi.any_source || (int)%s == abi.any_tag, %s);", tag, bytes)
	}
}

// received returns the bytes that a receive has room for, and the argument that is its tag.
func (c *call) received() (bytes, tag string) {
	count, datatype, tag := "count", "datatype", "tag"
	if c.has("recvtag") {
		tag = "recvtag"
	}
	if c.has("recvcount") {
		count, datatype = "recvcount", "recvtype"
	}
	return "(int64_t)" + strings.TrimPrefix(c.number(count), "(uint64_t)") + " * type_size(" + datatype + ")", tag
}

// unlessIdle writes what puts down 0 where an argument means nothing, and may be anything: of two
// groups, in that of the root, what others pass, and what the root itself passes for the other side.
func (c *call) unlessIdle(f field) string {
	switch {
	case !c.has("root"), f.RootOnly:
		return ""
	case c.rooted():
		return "(int)root == abi.proc_null || (int)root == abi.root ? 0 : "
	}
	return "(int)root == abi.proc_null ? 0 : "
}

// rooted reports whether the root alone says something.
func (c *call) rooted() bool {
	return slices.ContainsFunc(c.fields(), func(f field) bool { return f.RootOnly })
}

// peers returns how many counts a call has.
func (c *call) peers(f field) string {
	switch {
	case strings.Contains(c.name, "eighbor"):
		return map[string]string{"send": "c->destinations", "recv": "c->sources"}[f.side]
	case strings.Contains(c.name, "educe_scatter"):
		return "c->size" // of two groups, too
	}
	return "c->remote ? c->remote : c->size"
}

// number returns a count as an unsigned number.
func (c *call) number(name string) string {
	if c.large {
		return "(uint64_t)" + name
	}
	return "(uint32_t)" + name
}
