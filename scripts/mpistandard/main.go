// Command mpistandard writes what the recorder knows of MPI's procedures, from the standard's own
// data: apis.json of https://github.com/mpi-forum/pympistandard.
//
//	go run ./scripts/mpistandard apis.json tracegen/capture
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"regexp"
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
	RootOnly             bool `json:"root_only"` // the root alone says it
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
	source, err := constants(calls, os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"shim/numbers.h": numbers(calls), "shim/procedures.h": wrappers(calls),
		"procedures.go": source, "procedures.txt": table(calls)} {
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
		return cmp.Or(a.rank()-b.rank(), strings.Compare(a.name, b.name))
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
	"WINDOW": "window", "COMMUNICATOR": "new", "OPERATION": "operator",
}

// field is a part of a record.
type field struct {
	parameter
	role, side string
}

func (c *call) roleOf(p parameter) string {
	plural := ""
	if p.Length != nil {
		plural = "s"
	}
	switch kind := strings.TrimPrefix(p.Kind, "POLY"); {
	case strings.HasPrefix(p.Name, "target_") && p.Name != "target_rank":
		return "" // of an access the origin's side says all
	case kind == "WINDOW" && p.Direction == "out":
		return "newWindow"
	case kind == "FILE" && transfers.MatchString(strings.TrimSuffix(c.name, "_c")):
		return "file"
	case kind == "GROUP" && c.has("win"):
		return "group"
	case kind == "OPERATION" && c.has("win"):
		return "noOp"
	case kind == "XFER_NUM_ELEM_NNI", kind == "XFER_NUM_ELEM":
		return "count" + plural
	case kind == "DATATYPE":
		return "size" + plural
	case kind == "DISPLACEMENT" && strings.Contains(strings.ToLower(c.name), "allgatherv") && !strings.Contains(c.name, "eighbor"):
		return "span"
	case kind == "RANK_NNI" && c.has("win"), kind == "RANK" && plural == "" && p.Direction == "in" && !c.makes():
		return "rank"
	case kind == "COMMUNICATOR" && p.Direction == "in":
		return "comm"
	case kind == "LOGICAL" && p.Direction == "out":
		return "flag"
	case p.Name == "sendbuf" && c.has("recvbuf") && c.has("comm") && !c.has("dest") && !c.has("source"): // collective
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

// fields returns the record of a call.
func (c *call) fields() (list []field) {
	if quiet(strings.TrimSuffix(c.name, "_c")) && !c.has("request") {
		return nil
	}
	for _, p := range c.params {
		r := c.roleOf(p)
		if r == "" || r == "comm" && slices.ContainsFunc(list, func(f field) bool { return f.role == "comm" }) {
			continue // the peer communicator of an intercommunicator
		}
		f := field{parameter: p, role: r}
		if strings.HasPrefix(r, "count") || strings.HasPrefix(r, "size") {
			// The side of a collective operation, of a sendrecv, or of an access that says both.
			switch {
			case strings.HasPrefix(p.Name, "send"), strings.HasPrefix(p.Name, "origin") && c.has("result_count"):
				f.side = "send"
			case strings.HasPrefix(p.Name, "recv"), strings.HasPrefix(p.Name, "result"):
				f.side = "recv"
			}
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b field) int { return slices.Index(roles, a.role) - slices.Index(roles, b.role) })
	return list
}

// table returns the text that the merge reads: a line for each procedure, in the order of their numbers.
func table(calls []call) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# %s
# Each line is a procedure, in the order of their numbers in records, with the fields of its record:
# of both directions, of what it sends (>) or receives (<), and from the root alone (!). A procedure whose
# wrapper is written by hand has "hand" there, one that is only counted "refused".
`, notice)
	for _, c := range calls {
		b.WriteString("MPI_" + c.name)
		switch c.class {
		case refused:
			b.WriteString(" refused")
		case handWritten:
			b.WriteString(" hand")
		case recorded:
			for _, f := range c.fields() {
				b.WriteString(" " + f.role + map[string]string{"send": ">", "recv": "<"}[f.side])
				if f.RootOnly {
					b.WriteString("!")
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// constants returns the Go code of the numbers of the procedures that code in a directory names procX.
func constants(calls []call, dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	named := map[string]bool{}
	for _, file := range files {
		if filepath.Base(file) == "procedures.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		for _, name := range regexp.MustCompile(`\bproc[A-Z]\w*`).FindAllString(string(text), -1) {
			named[name] = true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated by scripts/mpistandard from the standard's data (mpi-forum/pympistandard); DO NOT EDIT.\n\n"+
		"package capture\n\n// Numbers in records of the procedures that the code names.\nconst (\n")
	for i := range calls {
		if name := "proc" + strings.ReplaceAll(calls[i].name, "_", ""); named[name] {
			fmt.Fprintf(&b, "\t%s procedureNumber = %d\n", name, i)
		}
	}
	b.WriteString(")\n")
	source, err := format.Source([]byte(b.String()))
	return string(source), err
}
