package main

import (
	"regexp"
	"slices"
	"strings"
)

// This file says how the recorder treats each call of MPI (classOf), by its name.

// handWrittenNames are calls whose wrappers in the recorder's library are written by hand, as they change what it
// keeps of requests, communicators or files.
var handWrittenNames = strings.Fields(`Init Init_thread Finalize Abort Pcontrol Comm_free Comm_disconnect Type_free Request_free
	Cancel Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_get_status Start Startall
	Pready Pready_range Pready_list Parrived File_open File_close Win_free Session_init Session_finalize`)

// recordedNames are calls for messages, and those that make communicators.
var recordedNames = strings.Fields(`Send Bsend Ssend Rsend Isend Ibsend Issend Irsend Send_init Bsend_init Ssend_init
	Rsend_init Recv Irecv Recv_init Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace Psend_init Precv_init
	Probe Iprobe Mprobe Improbe Mrecv Imrecv
	Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_create Comm_create_group Comm_split
	Comm_split_type Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_create
	Intercomm_merge Comm_create_from_group Intercomm_create_from_groups`)

var collectives = regexp.MustCompile(`^I?(neighbor_)?(barrier|bcast|reduce|allreduce|alltoall[vw]?|gatherv?|allgatherv?|scatterv?|reduce_scatter|reduce_scatter_block|scan|exscan)(_init)?$`)

// windows are one-sided accesses and what synchronises them; what concerns a process alone, as
// MPI_Win_sync, is not among them.
var windows = regexp.MustCompile(`^(R?(Put|Get|Accumulate|Get_accumulate|accumulate|put|get|get_accumulate)|Fetch_and_op|Compare_and_swap|` +
	`Win_(allocate|allocate_shared|create|create_dynamic|fence|start|complete|post|wait|test|lock|lock_all|unlock|unlock_all|flush|flush_all|flush_local|flush_local_all))$`)

// transfers are the reads and writes of files. The second part of a split one says nothing new.
var transfers = regexp.MustCompile(`^File_i?(read|write)(_(at|all|at_all|shared|ordered)(_begin)?)?$`)

// quiet reports whether a call leaves nothing in a trace but takes time that is no computation, and
// may call MPI itself: the processes' own requests, and what files do beside reading and writing.
func quiet(name string) bool {
	return name == "Grequest_start" || strings.HasPrefix(name, "File_") && !transfers.MatchString(name) && !slices.Contains(handWrittenNames, name) && !conversions.MatchString(name)
}

// conversions are of handles, and of error handlers.
var conversions = regexp.MustCompile(`_(c2f|f2c|errhandler)$`)

// refusedNames are calls after which the processes are others than those of the recording.
var refusedNames = strings.Fields(`Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Comm_join`)

// classOf returns the class of a call; name is without MPI_.
func classOf(name string) class {
	lower := strings.ToLower(name[:1]) + name[1:]
	if strings.HasPrefix(name, "I") {
		lower = "I" + name[1:]
	}
	switch {
	case slices.Contains(handWrittenNames, name):
		return handWritten
	case slices.Contains(recordedNames, name), collectives.MatchString(lower), windows.MatchString(name), transfers.MatchString(name), quiet(name):
		return recorded
	case slices.Contains(refusedNames, name):
		return refused
	}
	return local
}
