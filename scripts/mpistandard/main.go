// Command mpistandard writes what the recorder knows of MPI's procedures, from the standard's own
// data: apis.json of https://github.com/mpi-forum/pympistandard.
//
//	go run ./scripts/mpistandard apis.json tracegen/capture
package main

import (
	"encoding/json"
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

// role is what a record says of a parameter.
type role string

const (
	roleComm     role = "comm"
	roleRank     role = "rank"
	roleTag      role = "tag"
	roleInPlace  role = "inPlace"
	roleCount    role = "count"
	roleCounts   role = "counts"
	roleSize     role = "size"
	roleSizes    role = "sizes"
	roleSpan     role = "span"
	roleOperator role = "operator"
	roleFlag     role = "flag"
	roleStatus   role = "status"
	roleNew      role = "new"
	roleMessage  role = "message" // of a received one: communicator, source, tag
	roleRequest  role = "request" // takes no bytes

	rolePartitions role = "partitions"
	roleFile       role = "file"
	roleWindow     role = "window"
	roleNewWindow  role = "newWindow" // takes no bytes
	roleAssert     role = "assert"
	roleLock       role = "lock"
	roleGroup      role = "group"
	roleNoOp       role = "noOp"
)

// order of the roles in a record: those first that the others depend on.
var order = []role{roleComm, roleFile, roleWindow, roleRank, roleTag, roleMessage, roleInPlace, roleFlag, roleCount, roleCounts, roleSize, roleSizes, roleSpan, roleOperator,
	roleNoOp, rolePartitions, roleAssert, roleLock, roleGroup, roleStatus, roleNew, roleNewWindow, roleRequest}

// field is a part of a record.
type field struct {
	role
	par      parameter
	rootOnly bool // the root alone says it
	side     string
}

func (c *call) roleOf(p *parameter) role {
	array := p.Length != nil
	switch kind := strings.TrimPrefix(p.Kind, "POLY"); {
	case strings.HasPrefix(p.Name, "target_") && p.Name != "target_rank":
		return "" // of an access the origin's side says all
	case kind == "WINDOW" && p.Direction == "out":
		return roleNewWindow
	case kind == "WINDOW":
		return roleWindow
	case kind == "FILE" && transfers.MatchString(strings.TrimSuffix(c.name, "_c")):
		return roleFile
	case kind == "ASSERT":
		return roleAssert
	case kind == "LOCK_TYPE":
		return roleLock
	case kind == "GROUP" && c.has("win"):
		return roleGroup
	case kind == "OPERATION" && c.has("win"):
		return roleNoOp
	case kind == "PARTITION":
		return rolePartitions
	case (kind == "XFER_NUM_ELEM_NNI" || kind == "XFER_NUM_ELEM") && array:
		return roleCounts
	case kind == "XFER_NUM_ELEM_NNI" || kind == "XFER_NUM_ELEM":
		return roleCount
	case kind == "DATATYPE" && array:
		return roleSizes
	case kind == "DATATYPE":
		return roleSize
	case kind == "DISPLACEMENT" && strings.Contains(strings.ToLower(c.name), "allgatherv") && !strings.Contains(c.name, "eighbor"):
		return roleSpan
	case kind == "RANK_NNI" && c.has("win"):
		return roleRank
	case kind == "RANK" && !array && p.Direction == "in" && !c.makes():
		return roleRank
	case kind == "TAG":
		return roleTag
	case kind == "COMMUNICATOR" && p.Direction == "in":
		return roleComm
	case kind == "COMMUNICATOR":
		return roleNew
	case kind == "OPERATION":
		return roleOperator
	case kind == "LOGICAL" && p.Direction == "out":
		return roleFlag
	case kind == "STATUS":
		return roleStatus
	case kind == "REQUEST":
		return roleRequest
	case kind == "MESSAGE":
		return roleMessage
	case p.Name == "sendbuf" && c.has("recvbuf") && c.collective():
		return roleInPlace
	}
	return ""
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
		if r == roleComm && slices.ContainsFunc(list, func(f field) bool { return f.role == roleComm }) {
			continue // the peer communicator of an intercommunicator
		}
		f := field{role: r, par: *p, rootOnly: p.RootOnly, side: c.sideOf(p.Name)}
		if r == roleCounts || r == roleSizes || r == roleCount || r == roleSize {
			list = append(list, f)
			continue
		}
		f.side = ""
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b field) int { return slices.Index(order, a.role) - slices.Index(order, b.role) })
	return list
}
