package foreign

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads the binary traces of DUMPI, SST's tracer: a file for each rank, big endian, with a record for each
// call of MPI,
//
//	number of the procedure (2 bytes), mask (1), [thread (2)], [times by the processor's clock, and by the wall's:
//	begin and end, each seconds (2) and nanoseconds (4)], [counters: their number (1), and two words each], arguments
//
// The mask tells what is there: bits 0 and 1 statuses, 2 and 3 times, 6 the thread, 7 counters.

// dumpiProcedures are the procedures by their numbers, from 0, each with its arguments: letters as in procedures, or
//
//	1 2 4 8  number of so many bytes        @ #  array of numbers of 4 or 2 bytes, behind its length
//	R        rank in the communicator       $ %  text, and an array of texts
//	V        array of 4 bytes that matters  ?    the next argument is there at the root only
//
// Those without arguments here have no counterpart in a trace, or end a recording.
var dumpiProcedures = strings.Fields(`Send:ntdgc Recv:mushcS Get_count:A24 Bsend:ntdgc Ssend:ntdgc Rsend:ntdgc Buffer_attach:4
	Buffer_detach:4 Isend:ntdgcq Ibsend:ntdgcq Issend:ntdgcq Irsend:ntdgcq Irecv:mushcq Wait:qS Test:qfS Request_free:q Waitany:4QiS
	Testany:4QifS Waitall:4QS Testall:4QfS Waitsome:4Q4IS Testsome:4Q4IS Iprobe:shcfS Probe:shcS Cancel Test_cancelled:A4
	Send_init:ntdgcq Bsend_init:ntdgcq Ssend_init:ntdgcq Rsend_init:ntdgcq Recv_init:mushcq Start:q Startall:4Q
	Sendrecv:ntdgmushcS Sendrecv_replace:ntdgshcS Type_contiguous:422 Type_vector:44422 Type_hvector:44422 Type_indexed:4@@22
	Type_hindexed:4@@22 Type_struct:4@@#2 Address:4 Type_extent:24 Type_size:24 Type_lb:24 Type_ub:24 Type_commit:2 Type_free:2
	Get_elements:A24 Pack:424442 Unpack:444422 Pack_size:4224 Barrier:c Bcast:ntrc Gather:Rntrc?m?u Gatherv:R4ntrc?M?Du
	Scatter:Rmurc?n?t Scatterv:R4tmurc?N?D Allgather:ntmuc Allgatherv:4ntMDuc Alltoall:ntmuc Alltoallv:4NDtMDuc Reduce:ntorc
	Op_create:41 Op_free:1 Allreduce:ntoc Reduce_scatter:4Muoc Scan:ntoc Group_size:24 Group_rank:24 Group_translate_ranks:24@2@
	Group_compare:221 Comm_group:22 Group_union:222 Group_intersection:222 Group_difference:222 Group_incl:24@2 Group_excl:24@2
	Group_range_incl Group_range_excl Group_free:2 Comm_size:24 Comm_rank:24 Comm_compare:221 Comm_dup:cC Comm_create Comm_split:cxyC
	Comm_free:c Comm_test_inter:24 Comm_remote_size:24 Comm_remote_group:22 Intercomm_create Intercomm_merge Keyval_create:2
	Keyval_free:2 Attr_put:24 Attr_get:244 Attr_delete:24 Topo_test:21 Cart_create:c4V@4C Dims_create:44@@ Graph_create
	Graphdims_get:244 Graph_get:44244@@ Cartdim_get:24 Cart_get:424@@@ Cart_rank:42@4 Cart_coords:4244@ Graph_neighbors_count:244
	Graph_neighbors:4244@ Cart_shift:24444 Cart_sub:4cVC Cart_map:24@@4 Graph_map:424@@4 Get_processor_name:$4 Get_version:44
	Errhandler_create:2 Errhandler_set:22 Errhandler_get:22 Errhandler_free:2 Error_string:4$4 Error_class:44 Wtime: Wtick: Init:%
	Finalize: Initialized:4 Abort:24 Pcontrol Close_port Comm_accept Comm_connect Comm_disconnect Comm_get_parent:2 Comm_join
	Comm_spawn Comm_spawn_multiple Lookup_name Open_port Publish_name Unpublish_name Accumulate Get Put Win_complete Win_create
	Win_fence Win_free Win_get_group Win_lock Win_post Win_start Win_test Win_unlock Win_wait Alltoallw Exscan:ntoc
	Add_error_class:4 Add_error_code:44 Add_error_string:4$ Comm_call_errhandler:24 Comm_create_keyval:2 Comm_delete_attr:22
	Comm_free_keyval:2 Comm_get_attr:224 Comm_get_name:2$4 Comm_set_attr:22 Comm_set_name:2$ File_call_errhandler
	Grequest_complete Grequest_start Init_thread:%11 Is_thread_main:4 Query_thread:1 Status_set_cancelled:A4 Status_set_elements:A24
	Type_create_keyval:2 Type_delete_attr:22 Type_dup:22 Type_free_keyval:2 Type_get_attr:224 Type_get_contents:4442444@@#
	Type_get_envelope:24441 Type_get_name:2$4 Type_set_attr:22 Type_set_name:2$ Type_match_size:142 Win_call_errhandler
	Win_create_keyval:2 Win_delete_attr Win_free_keyval:2 Win_get_attr Win_get_name Win_set_attr Win_set_name Alloc_mem:42
	Comm_create_errhandler:2 Comm_get_errhandler:22 Comm_set_errhandler:22 File_create_errhandler File_get_errhandler
	File_set_errhandler Finalized:4 Free_mem: Get_address:4 Info_create:2 Info_delete:2$ Info_dup:22 Info_free:2 Info_get:2$4$4
	Info_get_nkeys:24 Info_get_nthkey:24$ Info_get_valuelen:2$44 Info_set:2$$ Pack_external:$42444 Pack_external_size:$424
	Request_get_status:4fA Type_create_darray Type_create_hindexed:4@@22 Type_create_hvector:44422 Type_create_indexed_block:44@22
	Type_create_resized:2442 Type_create_struct:4@@#2 Type_create_subarray:4@@@122 Type_get_extent:244 Type_get_true_extent:244
	Unpack_external:$44442 Win_create_errhandler:2 Win_get_errhandler:22 Win_set_errhandler:22`)

// Handles and numbers that DUMPI gives to MPI's constants.
const (
	dumpiNull  = 1 // a communicator
	dumpiWorld = 2
	dumpiSelf  = 3
	dumpiMagic = "\xff\xaa\xddDUMPI"
)

// dumpiFile reads the file of one rank.
type dumpiFile struct {
	k      *rank
	name   string
	r      *bufio.Reader
	at     int64 // byte
	types  []int64
	comms  map[int64]int64
	grids  map[int64][]int64 // the extents of Cartesian communicators
	thread int64

	// Of the call.
	own      int64 // rank in the communicator
	statuses [][3]int64
	known    bool // there are statuses
	vector   []int64
	flag     bool
	index    int64
	places   []int64
}

// dumpi reads the files of all ranks, by that of one, or by their description (.meta).
func dumpi(name string) *recording {
	if base, ok := strings.CutSuffix(name, ".meta"); ok {
		if found := textutil.Must(filepath.Glob(strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`).Replace(base) + "-*.bin")); len(found) > 0 {
			name = found[0]
		}
	}
	files := rankFiles(name)
	r := newRecording(name, len(files))
	for i, file := range files {
		d := &dumpiFile{k: r.ranks[i], name: file, comms: map[int64]int64{dumpiWorld: world, dumpiSelf: self},
			grids: map[int64][]int64{}, thread: -1}
		d.read()
	}
	return r
}

// read reads the file: first the index in the end, the sizes of datatypes that it leads to, and then the calls.
func (d *dumpiFile) read() {
	f := textutil.Must(regular.Open(d.name))
	defer f.Close()
	defer placed(func() string { return fmt.Sprintf("%s: byte %d", d.name, d.at) })
	size := textutil.Must(f.Stat()).Size()
	if size < 16 {
		textutil.Stop(fmt.Errorf("a file of %d bytes", size))
	}
	var index [8 * 8]byte
	if _, err := f.ReadAt(index[:8], 0); err != nil || string(index[:8]) != dumpiMagic {
		textutil.Stop(errors.New("no DUMPI trace: it does not begin with ff aa dd DUMPI"))
	}
	if d.at = size - int64(len(index)); d.at < 0 {
		textutil.Stop(errors.New("the index is cut"))
	}
	textutil.Must(f.ReadAt(index[:], d.at))
	if string(index[:8]) != dumpiMagic {
		textutil.Stop(errors.New("no index: the file is cut, or of a DUMPI before 0.6.6, which wrote no sizes of datatypes"))
	}
	word := func(i int) int64 { return int64(binary.BigEndian.Uint64(index[8*i:])) }
	sizes, body, footer := word(1), word(5), word(6)
	for i := 1; i < 8; i++ {
		if word(i) < 0 || word(i) > size-8 {
			textutil.Stop(fmt.Errorf("a part begins at byte %d of %d", word(i), size))
		}
	}
	d.seek(f, sizes, size)
	n := d.uint(4)
	if n > (size-sizes)/4 {
		textutil.Stop(fmt.Errorf("%d sizes of datatypes", n))
	}
	for range n {
		d.types = append(d.types, d.uint(4))
	}
	// The calls end where the part behind them begins.
	last := footer
	for i := 1; i < 8; i++ {
		if word(i) > body && word(i) < last {
			last = word(i)
		}
	}
	d.seek(f, body, last)
	d.uint(4)
	d.uint(4)
	for d.at < last {
		if number := d.uint(2); number < int64(len(dumpiProcedures)) {
			d.call(dumpiProcedures[number])
		} else if rest := last - d.at; rest > 0 {
			textutil.Stop(fmt.Errorf("procedure %d: files, and calls of functions that are no part of MPI, have no counterpart in a trace that is converted", number))
		}
	}
}

// seek goes to a part of the file.
func (d *dumpiFile) seek(f *os.File, from, to int64) {
	d.at = from
	d.r = bufio.NewReaderSize(io.NewSectionReader(f, from, max(0, to-from)), 1<<16)
}

// uint reads a number of some bytes.
func (d *dumpiFile) uint(bytes int64) int64 {
	var b [8]byte
	if _, err := io.ReadFull(d.r, b[8-bytes:]); err != nil {
		textutil.Stop(errors.New("the record is cut"))
	}
	d.at += bytes
	return int64(binary.BigEndian.Uint64(b[:]))
}

// int reads a number of 32 bits with a sign.
func (d *dumpiFile) int() int64 { return int64(int32(d.uint(4))) }

// list reads an array of numbers of some bytes.
func (d *dumpiFile) list(bytes int64) (list []int64) {
	for range d.uint(4) {
		n := d.uint(bytes)
		if bytes == 4 {
			n = int64(int32(n))
		}
		list = append(list, n)
	}
	return list
}

// skip passes over bytes.
func (d *dumpiFile) skip(n int64) {
	if _, err := d.r.Discard(int(n)); err != nil {
		textutil.Stop(errors.New("the record is cut"))
	}
	d.at += n
}

// call reads a record.
func (d *dumpiFile) call(procedure string) {
	begun := d.at - 2
	name, letters, ok := strings.Cut(procedure, ":")
	if !ok {
		d.at = begun
		textutil.Stop(fmt.Errorf("MPI_%s has no counterpart in a trace that is converted", name))
	}
	mask := d.uint(1)
	if mask>>6&1 != 0 {
		if t := d.uint(2); d.thread >= 0 && t != d.thread {
			textutil.Stop(fmt.Errorf("MPI_%s by thread %d, after calls by thread %d: a trace has one order of a rank's calls", name, t, d.thread))
		} else {
			d.thread = t
		}
	}
	begin, end := int64(-1), int64(-1)
	for bit := 2; bit < 4; bit++ { // the wall's clock is the one that counts
		if mask>>bit&1 != 0 {
			begin = d.uint(2)*1e9 + d.uint(4)
			end = d.uint(2)*1e9 + d.uint(4)
		}
	}
	if mask>>7&1 != 0 {
		d.skip(16 * d.uint(1))
	}
	if begin < 0 {
		d.k.of.odd(d.name, 0, "calls without times: no computation between them")
	}
	d.k.took(name, begin, end, d.name, 0)
	c := &mpiCall{name: name}
	d.own, d.statuses, d.known, d.flag, d.index, d.places, d.vector = -1, nil, mask&3 != 0, false, -1, nil, nil
	made, freed := int64(dumpiNull), int64(-1)
	for i := 0; i < len(letters); i++ {
		letter := letters[i]
		if letter == '?' {
			if i++; d.own != c.root {
				continue
			}
			letter = letters[i]
		}
		switch letter {
		case 'C':
			made = d.uint(2)
		case 'c':
			freed = d.uint(2)
			comm, ok := d.comms[freed]
			if !ok {
				textutil.Stop(fmt.Errorf("MPI_%s with communicator %d, which no call has made", name, freed))
			}
			c.comm = comm
		default:
			d.argument(c, letter)
		}
	}
	d.act(c, made, freed)
}

// argument reads what a letter stands for.
func (d *dumpiFile) argument(c *mpiCall, letter byte) {
	side := sends
	if strings.IndexByte("muMsh", letter) >= 0 {
		side = receives
	}
	switch letter {
	case '1', '2', '4', '8':
		d.uint(int64(letter - '0'))
	case '@':
		d.list(4)
	case '#':
		d.list(2)
	case '$':
		d.skip(d.uint(4))
	case '%':
		for range d.uint(4) {
			d.skip(d.uint(4))
		}
	case 'R':
		d.own = d.int()
	case 'V':
		d.vector = d.list(4)
	case 'n', 'm':
		if c.counts[side] = d.int(); c.counts[side] < 0 {
			textutil.Stop(fmt.Errorf("MPI_%s of %d elements", c.name, c.counts[side]))
		}
	case 't', 'u':
		n := d.uint(2)
		if n >= int64(len(d.types)) {
			textutil.Stop(fmt.Errorf("MPI_%s of datatype %d, and the file has the sizes of %d", c.name, n, len(d.types)))
		}
		c.sizes[side] = d.types[n]
	case 'N', 'M':
		c.lists[side] = d.list(4)
	case 'D':
		c.spans = d.list(4)
	case 'd', 's':
		if c.peers[side] = d.int(); c.peers[side] == -1 && side == receives {
			c.peers[side] = trace.AnySource
		} else if c.peers[side] < 0 { // MPI_PROC_NULL is as the tracer's MPI has it
			c.peers[side] = trace.ProcNull
		}
	case 'g', 'h':
		if c.tags[side] = d.int(); c.tags[side] == -1 && side == receives {
			c.tags[side] = trace.AnyTag
		}
	case 'r':
		c.root = d.int()
	case 'o':
		operators := []trace.Operator{0, trace.OperatorMax, trace.OperatorMin, trace.OperatorSum, trace.OperatorProd, trace.OperatorLand,
			trace.OperatorBand, trace.OperatorLor, trace.OperatorBor, trace.OperatorLxor, trace.OperatorBxor, trace.OperatorMinloc,
			trace.OperatorMaxloc}
		if n := d.uint(1); n < int64(len(operators)) {
			c.operator = operators[n]
		}
	case 'x':
		if c.color = d.int(); c.color < 0 {
			c.color = undefined
		}
	case 'y':
		c.key = d.int()
	case 'q':
		c.requests = []int64{d.int()}
	case 'Q':
		c.requests = d.list(4)
	case 'i':
		d.index = d.int()
	case 'f':
		d.flag = d.int() != 0
	case 'I':
		d.places = d.list(4)
	case 'S', 'A':
		if !d.known {
			break
		}
		for range d.uint(4) { // bytes, source, cancelled, error, tag
			bytes, source := d.int(), d.int()
			d.skip(2)
			d.statuses = append(d.statuses, [3]int64{bytes, source, d.int()})
		}
	}
}

// act hands a call on.
func (d *dumpiFile) act(c *mpiCall, made, comm int64) {
	switch c.name {
	case "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome":
		c.ended = []int64{}
		places := d.places
		switch {
		case c.name == "Waitany" || c.name == "Testany" && d.flag:
			places = []int64{d.index}
		case d.flag:
			c.ended = c.requests
		}
		for _, i := range places {
			if i >= 0 && i < int64(len(c.requests)) {
				c.ended = append(c.ended, c.requests[i])
			}
		}
	case "Wait", "Waitall":
		c.ended = c.requests
	case "Recv", "Irecv", "Start", "Startall": // of any source the status says which it was
		if c.id = 1; c.name == "Recv" && len(d.statuses) == 1 {
			if c.peers[receives] == trace.AnySource {
				c.peers[receives] = d.statuses[0][1]
			}
			if c.tags[receives] == trace.AnyTag {
				c.tags[receives] = d.statuses[0][2]
			}
		}
	}
	if len(d.statuses) == len(c.ended) {
		for i, h := range c.ended {
			d.k.learn(h, func(m *call) {
				m.peer = d.statuses[i][1]
				if m.tag == trace.AnyTag {
					m.tag = d.statuses[i][2]
				}
			})
		}
	}
	place := fmt.Sprintf("%s: byte %d", d.name, d.at)
	switch c.name {
	case "Cart_create":
		ranks := int64(1)
		for _, n := range d.vector {
			if n < 1 || ranks > maxRanks/n {
				textutil.Stop(fmt.Errorf("MPI_Cart_create of %d ranks in a direction", n))
			}
			ranks *= n
		}
		c.id = d.k.create(c.comm, place, func(rank, _ int) (int64, int64, bool) { return 0, 0, int64(rank) < ranks })
		d.grids[made] = d.vector
	case "Cart_sub": // ranks go row by row through the grid
		extents, keep := d.grids[comm], d.vector
		if len(extents) == 0 || len(keep) != len(extents) {
			textutil.Stop(fmt.Errorf("MPI_Cart_sub of communicator %d, whose grid is not known", comm))
		}
		d.grids[made] = nil
		for i, n := range extents {
			if keep[i] != 0 {
				d.grids[made] = append(d.grids[made], n)
			}
		}
		c.id = d.k.create(c.comm, place, func(rank, _ int) (color, key int64, _ bool) {
			rest, color, key, ofColor, ofKey := int64(rank), 0, 0, int64(1), int64(1)
			for i := len(extents) - 1; i >= 0; i-- {
				at := rest % extents[i]
				rest /= extents[i]
				if keep[i] != 0 {
					key += at * ofKey
					ofKey *= extents[i]
				} else {
					color += at * ofColor
					ofColor *= extents[i]
				}
			}
			return color, key, true
		})
	case "Comm_free":
		d.k.freeComm(d.comms[comm])
		delete(d.comms, comm)
		return
	default:
		if _, ok := argumentsOf(c.name); !ok {
			return
		}
		if d.k.mpi(c, d.name, 0); c.name == "Comm_dup" {
			d.grids[made] = d.grids[comm]
		}
	}
	if made != dumpiNull {
		d.comms[made] = c.id
	}
}
