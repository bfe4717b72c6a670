package main

import (
	"regexp"
	"strings"
)

var handWrittenNames = words(`Init Init_thread Finalize Abort Pcontrol Comm_free Comm_disconnect Type_free Request_free Cancel
	Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_get_status Start Startall`)

var messageNames = words(`Send Bsend Ssend Rsend Isend Ibsend Issend Irsend Send_init Bsend_init Ssend_init Rsend_init
	Recv Irecv Recv_init Sendrecv Sendrecv_replace Probe Iprobe Mprobe Improbe Mrecv Imrecv`)

var makingNames = words(`Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_create Comm_create_group Comm_split
	Comm_split_type Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_create Intercomm_merge`)

var collectives = regexp.MustCompile(`^I?(neighbor_)?(barrier|bcast|reduce|allreduce|alltoall[vw]?|gatherv?|allgatherv?|scatterv?|reduce_scatter|reduce_scatter_block|scan|exscan)(_init)?$`)

// What goes beyond messages and collectives: one-sided communication, files, processes that
// come later, sessions, partitioned messages, requests of the program's own.
var refusedNames = regexp.MustCompile(`^(R?(Put|Get|Accumulate|Get_accumulate|accumulate|put|get|get_accumulate)|Fetch_and_op|Compare_and_swap|` +
	`Win_(allocate|allocate_shared|create|create_dynamic|free|fence|start|complete|post|wait|test|lock|lock_all|unlock|unlock_all|flush|flush_all|flush_local|flush_local_all|sync)|` +
	`File_(open|close|delete|set_size|preallocate|set_view|sync|i?(read|write).*|seek|seek_shared|get_position_shared|set_atomicity)|` +
	`Comm_(spawn|spawn_multiple|accept|connect|join|create_from_group)|Intercomm_create_from_groups|Session_(init|finalize)|` +
	`P(send|recv)_init|Pready.*|Parrived|Isendrecv.*|Grequest_(start|complete))$`)

func words(text string) map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(text) {
		names[name] = true
	}
	return names
}

func classOf(name string) class {
	lower := strings.ToLower(name[:1]) + name[1:]
	if strings.HasPrefix(name, "I") {
		lower = "I" + name[1:]
	}
	switch {
	case handWrittenNames[name]:
		return handWritten
	case messageNames[name], makingNames[name], collectives.MatchString(lower):
		return recorded
	case refusedNames.MatchString(name):
		return refused
	}
	return local
}
