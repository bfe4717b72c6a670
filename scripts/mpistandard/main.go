// Command mpistandard writes what the recorder knows of MPI's procedures, from the standard's own
// data: apis.json of https://github.com/mpi-forum/pympistandard.
//
//	go run ./scripts/mpistandard apis.json tracegen/capture
package main

import (
	"encoding/json"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// procedure is one of the standard's, as its data has it.
type procedure struct {
	Name       string
	Parameters []parameter
	Attributes struct {
		Expressible bool `json:"c_expressible"`
		Callback    bool
	}
}

type parameter struct {
	Name, Kind, Suppress string
	Direction            string `json:"param_direction"`
	Length               any
	RootOnly             bool `json:"root_only"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: mpistandard apis.json DIRECTORY")
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var all map[string]procedure
	if err := json.Unmarshal(data, &all); err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	calls := calls(all)
	source, err := format.Source([]byte(table(calls)))
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"shim/numbers.h": numbers(calls), "shim/procedures.h": wrappers(calls), "procedures.go": string(source)} {
		if err := os.WriteFile(filepath.Join(os.Args[2], name), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// call is a procedure that the recorder interposes.
type call struct {
	name   string // without MPI_
	large  bool   // with counts of 64 bits, MPI_x_c
	class  class
	params []parameter
}

type class int

const (
	local       class = iota // concerns one process alone: not interposed
	recorded                 // by a generated wrapper
	handWritten              // in completions.h and life.h
	refused                  // only counted
)

// calls returns the procedures to interpose: those that are called most first, so that their
// numbers take one byte.
func calls(all map[string]procedure) (list []call) {
	for _, p := range all {
		name, ok := strings.CutPrefix(p.Name, "MPI_")
		if !ok || !p.Attributes.Expressible || p.Attributes.Callback {
			continue
		}
		c := call{name: name, class: classOf(name)}
		large := false
		for _, par := range p.Parameters {
			if !strings.Contains(par.Suppress, "c_parameter") {
				c.params = append(c.params, par)
				large = large || strings.HasPrefix(par.Kind, "POLY")
			}
		}
		if c.class == local {
			continue
		}
		list = append(list, c)
		if large {
			c.name, c.large = c.name+"_c", true
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b call) int {
		if a.rank() != b.rank() {
			return a.rank() - b.rank()
		}
		return strings.Compare(a.name, b.name)
	})
	return list
}

func (c *call) rank() int {
	switch {
	case c.class == refused:
		return 3
	case c.large, strings.HasSuffix(c.name, "_init"), windows.MatchString(c.name), strings.HasPrefix(c.name, "File_"), strings.HasPrefix(c.name, "P"), quiet(strings.TrimSuffix(c.name, "_c")):
		return 2
	}
	return 1
}

// roles say what a record holds of a parameter, in the order of a record: roles that others depend on come first.
// message is communicator, source and tag of a received one; request and newWindow take no bytes.
var roles = strings.Fields(`comm file window rank tag message inPlace flag count counts size sizes span operator
	noOp partitions assert lock group status new newWindow request`)

// roleOfKind has the roles of parameters that depend on their kind alone.
var roleOfKind = map[string]string{
	"ASSERT": "assert", "LOCK_TYPE": "lock", "PARTITION": "partitions", "TAG": "tag", "STATUS": "status", "REQUEST": "request", "MESSAGE": "message",
}

// field is a part of a record.
type field struct {
	role     string
	par      parameter
	rootOnly bool // the root alone says it
	side     string
}

func (c *call) roleOf(p *parameter) string {
	array, plural := p.Length != nil, ""
	if array {
		plural = "s"
	}
	switch kind := strings.TrimPrefix(p.Kind, "POLY"); {
	case strings.HasPrefix(p.Name, "target_") && p.Name != "target_rank":
		return "" // of an access the origin's side says all
	case kind == "WINDOW" && p.Direction == "out":
		return "newWindow"
	case kind == "WINDOW":
		return "window"
	case kind == "FILE" && transfers.MatchString(strings.TrimSuffix(c.name, "_c")):
		return "file"
	case kind == "GROUP" && c.has("win"):
		return "group"
	case kind == "OPERATION" && c.has("win"):
		return "noOp"
	case kind == "XFER_NUM_ELEM_NNI" || kind == "XFER_NUM_ELEM":
		return "count" + plural
	case kind == "DATATYPE":
		return "size" + plural
	case kind == "DISPLACEMENT" && strings.Contains(strings.ToLower(c.name), "allgatherv") && !strings.Contains(c.name, "eighbor"):
		return "span"
	case kind == "RANK_NNI" && c.has("win"):
		return "rank"
	case kind == "RANK" && !array && p.Direction == "in" && !c.makes():
		return "rank"
	case kind == "COMMUNICATOR" && p.Direction == "in":
		return "comm"
	case kind == "COMMUNICATOR":
		return "new"
	case kind == "OPERATION":
		return "operator"
	case kind == "LOGICAL" && p.Direction == "out":
		return "flag"
	case p.Name == "sendbuf" && c.has("recvbuf") && c.collective():
		return "inPlace"
	default:
		return roleOfKind[kind]
	}
}

// makes reports whether a procedure makes a communicator.
func (c *call) makes() bool {
	return slices.ContainsFunc(c.params, func(p parameter) bool { return p.Kind == "COMMUNICATOR" && p.Direction == "out" })
}

func (c *call) has(name string) bool {
	return slices.ContainsFunc(c.params, func(p parameter) bool { return p.Name == name })
}

// collective reports whether all processes of a communicator make the call.
func (c *call) collective() bool { return c.has("comm") && !c.has("dest") && !c.has("source") }

// sides of a collective operation, of a sendrecv, or of an access that says both.
func (c *call) sideOf(name string) string {
	switch {
	case strings.HasPrefix(name, "send"), strings.HasPrefix(name, "origin") && c.has("result_count"):
		return "send"
	case strings.HasPrefix(name, "recv"), strings.HasPrefix(name, "result"):
		return "recv"
	}
	return ""
}

// fields returns the record of a call.
func (c *call) fields() (list []field) {
	if quiet(strings.TrimSuffix(c.name, "_c")) && !c.has("request") {
		return nil
	}
	for i := range c.params {
		p := &c.params[i]
		r := c.roleOf(p)
		if r == "" {
			continue
		}
		if r == "comm" && slices.ContainsFunc(list, func(f field) bool { return f.role == "comm" }) {
			continue // the peer communicator of an intercommunicator
		}
		f := field{role: r, par: *p, rootOnly: p.RootOnly}
		if strings.HasPrefix(r, "count") || strings.HasPrefix(r, "size") {
			f.side = c.sideOf(p.Name)
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b field) int { return slices.Index(roles, a.role) - slices.Index(roles, b.role) })
	return list
}

// table returns the Go code.
func table(calls []call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage capture\n\n// The procedures, by their numbers in records.\nconst (\n", "Code generated by scripts/mpistandard from the standard's data (mpi-forum/pympistandard); DO NOT EDIT.")
	for i := range calls {
		kind := ""
		if i == 0 {
			kind = " procedureNumber = iota"
		}
		fmt.Fprintf(&b, "\tproc%s%s\n", goName(calls[i].name), kind)
	}
	b.WriteString(")\n\nvar procedures = [...]procedure{\n")
	for i := range calls {
		c := &calls[i]
		fmt.Fprintf(&b, "\tproc%s: {name: %q", goName(c.name), "MPI_"+c.name)
		switch c.class {
		case refused:
			b.WriteString(", refused: true")
		case recorded:
			fmt.Fprintf(&b, ", as: proc%s", goName(strings.TrimSuffix(c.name, "_c")))
			if strings.Contains(strings.TrimSuffix(c.name, "_c"), "_init") {
				b.WriteString(", persistent: true")
			}
			if strings.Contains(c.name, "eighbor_") {
				b.WriteString(", neighbourhood: true")
			}
			fmt.Fprintf(&b, ", fields: []field{%s}", strings.Join(c.goFields(), ", "))
		case handWritten:
			fmt.Fprintf(&b, ", as: proc%s", goName(c.name))
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	return b.String()
}

func goName(name string) string { return strings.ReplaceAll(name, "_", "") }

func (c *call) goFields() (list []string) {
	for _, f := range c.fields() {
		text := fmt.Sprintf("{role: role%s", strings.ToUpper(f.role[:1])+f.role[1:])
		if f.rootOnly {
			text += ", rootOnly: true"
		}
		if f.side != "" {
			text += ", side: " + map[string]string{"send": "sends", "recv": "receives"}[f.side]
		}
		list = append(list, text+"}")
	}
	return list
}
