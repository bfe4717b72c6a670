package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file has MPI's procedures: which arguments of a call matter (procedures), and what the calls do (rank.mpi).
// liballprof and DUMPI record the same calls, each in its own form.

// procedures has the arguments of MPI's procedures in their order, a letter each:
//
//	b  address, or another argument that does not matter      c  communicator
//	n  m  elements that are sent, received                    q  request
//	t  u  their datatypes                                     k  number of requests
//	N  M  elements by rank, with their displacements D        Q  requests
//	d  s  destination, source                                 r  root
//	g  h  tags of both                                        o  operator
//	x  y  color and key of a new communicator C               S  A  status, and a list of them
//	i  f  place of a request, and whether something is so     I  list of places
//
// Nonblocking collective operations are those without I, with a request in the end.
var procedures = map[string]string{
	"Send": "bntdgc", "Bsend": "bntdgc", "Ssend": "bntdgc", "Rsend": "bntdgc", "Recv": "bmushcS",
	"Isend": "bntdgcq", "Ibsend": "bntdgcq", "Issend": "bntdgcq", "Irsend": "bntdgcq", "Irecv": "bmushcq",
	"Send_init": "bntdgcq", "Bsend_init": "bntdgcq", "Ssend_init": "bntdgcq", "Rsend_init": "bntdgcq", "Recv_init": "bmushcq",
	"Sendrecv": "bntdgbmushcS", "Sendrecv_replace": "bntdgshcS", "Probe": "shcS", "Iprobe": "shcfS",
	"Start": "q", "Startall": "kQ", "Request_free": "q", "Wait": "qS", "Waitall": "kQA", "Waitany": "kQiS", "Waitsome": "kQiIA",
	"Test": "qfS", "Testall": "kQfA", "Testany": "kQifS", "Testsome": "kQiIA",
	"Barrier": "c", "Bcast": "bntrc", "Reduce": "bbntorc", "Allreduce": "bbntoc", "Scan": "bbntoc", "Exscan": "bbntoc",
	"Gather": "bntbmurc", "Gatherv": "bntbMDurc", "Scatter": "bntbmurc", "Scatterv": "bNDtbmurc",
	"Allgather": "bntbmuc", "Allgatherv": "bntbMDuc", "Alltoall": "bntbmuc", "Alltoallv": "bNDtbMDuc",
	"Reduce_scatter": "bbMuoc", "Reduce_scatter_block": "bbmuoc",
	"Comm_dup": "cC", "Comm_split": "cxyC", "Init": "bb", "Init_thread": "bbib", "Finalize": "",
}

// localCalls are beginnings of the names of procedures that have no part in a trace: they neither communicate
// nor change a communicator or a request.
var localCalls = []string{"Init", "Finalize", "Comm_rank", "Comm_size", "Comm_get", "Comm_set", "Comm_group", "Comm_compare",
	"Comm_test", "Comm_remote", "Comm_create_errhandler", "Comm_create_keyval", "Comm_free_keyval", "Comm_delete", "Comm_free",
	"Comm_call", "Type_", "Get_", "Wtime", "Wtick", "Attr_", "Errhandler", "Error_", "Info_", "Op_", "Group_", "Cart_coords",
	"Cart_rank", "Cart_shift", "Cart_get", "Cartdim_get", "Graph_get", "Graph_neighbors", "Graphdims", "Topo_test", "Dims_create",
	"Keyval_", "Buffer_", "Alloc_mem", "Free_mem", "Address", "Pack", "Unpack", "Status_", "Query_thread", "Is_thread", "Is_initialized",
	"Pcontrol", "Add_error", "Request_get_status", "Request_c2f", "Request_f2c", "Iprobe", "Aint_"}

// mpiCall is a call of MPI with its arguments, by the letters of procedures.
type mpiCall struct {
	name            string // without MPI_
	counts, sizes   [2]int64
	lists           [2][]int64
	spans           []int64 // displacements of what is received
	peers, tags     [2]int64
	comm            int64
	root            int64
	operator        trace.Operator
	color, key      int64
	requests, ended []int64 // those of the call, and those of them that are known to have ended
	id              int64   // the new communicator
}

// Sides of a call.
const (
	sends = iota
	receives
)

// undefined is MPI_UNDEFINED as a color: the rank gets no communicator.
const undefined = -1 << 40

// collectiveNames are the collective operations by their names.
var collectiveNames = func() map[string]trace.CollectiveKind {
	names := map[string]trace.CollectiveKind{"Reduce_scatter": trace.CollReduceScatter, "Reduce_scatter_block": trace.CollReduceScatter}
	for k := range trace.CollectiveKind(trace.NumCollectives) {
		name := k.String()
		names[strings.ToUpper(name[:1])+name[1:]] = k
	}
	return names
}()

// messageKinds are the procedures of single messages by their names.
var messageKinds = map[string]trace.Kind{"Send": trace.KindSend, "Bsend": trace.KindSend, "Rsend": trace.KindSend, "Ssend": trace.KindSsend,
	"Isend": trace.KindIsend, "Ibsend": trace.KindIsend, "Irsend": trace.KindIsend, "Issend": trace.KindIssend, "Recv": trace.KindRecv,
	"Irecv": trace.KindIrecv, "Mrecv": trace.KindRecv, "Imrecv": trace.KindIrecv}

// collectiveOf returns the collective operation of a procedure.
func collectiveOf(name string) (kind trace.CollectiveKind, nonblocking, ok bool) {
	if kind, ok = collectiveNames[name]; !ok && len(name) > 1 && name[0] == 'I' {
		kind, ok = collectiveNames[strings.ToUpper(name[1:2])+name[2:]]
		nonblocking = true
	}
	return kind, nonblocking, ok
}

// definedCalls are procedures that make and free communicators and requests, which formats of events define elsewhere,
// and those of messages that have been probed.
var definedCalls = regexp.MustCompile(`^(Comm_|Cart_|Graph_|Dist_graph_|Intercomm_|Cancel$|Request_free$|\w+_init$|I?m?probe$|Mprobe$|I?mrecv$|Mrecv$)`)

// argumentsOf returns the letters of a procedure; it is false for one that has no part in a trace. Others are refused.
func argumentsOf(name string) (letters string, ok bool) {
	if letters, ok = procedures[name]; ok {
		return letters, true
	}
	if _, _, ok := collectiveOf(name); ok {
		return procedures[strings.ToUpper(name[1:2])+name[2:]] + "q", true
	}
	if slices.ContainsFunc(localCalls, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
		return "", false
	}
	textutil.Stop(fmt.Errorf("MPI_%s has no counterpart in a trace that is converted", name))
	return "", false
}

// mpi adds what a call does. The time since the call before is computation.
func (k *rank) mpi(c *mpiCall, place string, line int) {
	name := c.name
	bytes := func(side int) int64 {
		if c.sizes[side] > 0 && c.counts[side] > maxBytes/c.sizes[side] {
			textutil.Stop(fmt.Errorf("%d elements of %d bytes", c.counts[side], c.sizes[side]))
		}
		return c.counts[side] * c.sizes[side]
	}
	base, persistent := strings.CutSuffix(name, "_init")
	if kind, ok := messageKinds[base]; ok {
		side := sends
		if kind == trace.KindRecv || kind == trace.KindIrecv {
			side = receives
		}
		m := message(kind, c.comm, c.peers[side], c.tags[side], bytes(side))
		if m.room = int64(side); len(c.requests) == 0 {
			k.add(m)
			return
		}
		if k.renew(c.requests[0], place, line); !persistent {
			k.post(c.requests[0], m, side == receives && m.peer == trace.AnySource && c.id != 0)
			return
		}
		started := map[trace.Kind]trace.Kind{trace.KindSend: trace.KindStart, trace.KindSsend: trace.KindIssend,
			trace.KindRecv: trace.KindIrecv}
		m.kind = int64(started[kind])
		k.requests[c.requests[0]] = request{starts: &m}
		return
	}
	switch name {
	case "Start", "Startall":
		for _, h := range c.requests {
			q := k.requests[h]
			if q.starts == nil || q.pending {
				textutil.Stop(fmt.Errorf("MPI_%s of request %d, which is not a persistent one that has ended", name, h))
			}
			k.post(h, *q.starts, q.starts.peer == trace.AnySource && c.id != 0)
		}
	case "Sendrecv", "Sendrecv_replace":
		if name == "Sendrecv_replace" {
			c.counts[receives], c.sizes[receives] = c.counts[sends], c.sizes[sends]
		}
		in := message(trace.KindRecv, c.comm, c.peers[receives], c.tags[receives], bytes(receives))
		m := message(trace.KindSendrecv, c.comm, c.peers[sends], c.tags[sends], bytes(sends))
		m.source, m.sourceTag, m.received, m.room = in.peer, in.tag, in.bytes, 1
		k.add(m)
	case "Probe":
		k.add(message(trace.KindProbe, c.comm, c.peers[receives], c.tags[receives], 0))
	case "Iprobe":
		k.of.odd(place, line, "MPI_Iprobe is left out: what it found is no part of a trace that is converted")
	case "Wait", "Waitall":
		if !slices.ContainsFunc(c.requests, func(h int64) bool { return k.requests[h].pending }) {
			k.of.odd(place, line, "MPI_"+name+" for nothing that is pending: of null requests, or of handles that were copied")
		}
		k.complete(c.requests...)
	case "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome":
		if c.ended == nil {
			k.of.odd(place, line, "MPI_"+name+" is left out: the file does not say what has ended; a request is waited for when its handle is used again, or in the end")
			for _, h := range c.requests {
				if q, ok := k.requests[h]; ok {
					q.tested = true
					k.requests[h] = q
				}
			}
		} else if k.complete(c.ended...); len(c.ended) == 0 {
			k.of.odd(place, line, "MPI_"+name+" that found nothing is left out")
		}
	case "Request_free":
		k.release(c.requests[0])
	case "Comm_dup":
		c.id = k.create(c.comm, fmt.Sprintf("%s:%d", place, line), func(int, int) (int64, int64, bool) { return 0, 0, true })
	case "Comm_split":
		color, key := c.color, c.key
		c.id = k.create(c.comm, fmt.Sprintf("%s:%d", place, line), func(int, int) (int64, int64, bool) { return color, key, color != undefined })
	default:
		kind, nonblocking, ok := collectiveOf(name)
		if !ok { // Init and its like
			return
		}
		m := call{kind: int64(trace.KindCollective), comm: c.comm, collective: int64(kind), operator: int64(c.operator)}
		if kind.Rooted() {
			m.peer = c.root
		}
		if kind.Sends() {
			m.bytes, m.sendSize, m.sends = c.counts[sends], c.sizes[sends], c.lists[sends]
		}
		if kind.Receives() {
			m.received, m.recvSize, m.receives = c.counts[receives], c.sizes[receives], c.lists[receives]
		}
		if kind.Spans() { // up to the end of the last part
			for i, n := range m.receives {
				m.span += n
				if len(c.spans) == len(m.receives) {
					m.span = max(m.span-n, c.spans[i]+n)
				}
			}
		}
		if !nonblocking {
			k.add(m)
			break
		}
		m.kind = int64(trace.KindIcollective)
		k.renew(c.requests[0], place, line)
		k.post(c.requests[0], m, false)
	}
}

// renew makes room for a request whose handle may be that of a pending one, which no call has ended so far.
func (k *rank) renew(handle int64, place string, line int) {
	q, ok := k.requests[handle]
	if !ok || !q.pending {
		return
	}
	if q.tested {
		k.complete(handle)
		return
	}
	k.of.odd(place, line, "the handle of a pending request is used again: the first request is waited for in the end")
	k.lost++
	k.requests[-k.lost] = q
	delete(k.requests, handle)
}
