package foreign

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads the traces of liballprof, LogGOPSim's tracer: a text for each rank, with a line for each call of MPI,
//
//	MPI_NAME:BEGIN:ARGUMENT:...:END
//
// with times in microseconds, and arguments in the order of MPI's C binding: requests and buffers are addresses, a
// datatype is NUMBER,SIZE,EXTENT, a communicator HANDLE,RANK,SIZE.

// allprof reads the text of one rank.
type allprof struct {
	k      *rank
	name   string
	line   int
	fields []string // of the line, that are left
	comms  map[[3]uint64]int64
	stride int64 // bytes from a request to the next one in an array
}

// liballprof reads the texts of all ranks.
func liballprof(name string) *recording {
	files := rankFiles(name)
	r := newRecording(name, len(files))
	for i, file := range files {
		a := &allprof{k: r.ranks[i], name: file, comms: map[[3]uint64]int64{}, stride: 8}
		a.read()
	}
	return r
}

// read reads the text.
func (a *allprof) read() {
	f := textutil.Must(regular.Open(a.name))
	defer f.Close()
	defer placed(func() string { return fmt.Sprintf("%s:%d", a.name, a.line) })
	calls := int64(0)
	lines(f, &a.line, func(line []byte) {
		if text, _, _ := strings.Cut(string(line), "#"); strings.TrimSpace(text) != "" {
			a.call(strings.TrimSpace(text))
			calls++
		}
	})
	if calls == 0 {
		textutil.Stop(errors.New("no call of MPI"))
	}
}

// call reads a line.
func (a *allprof) call(text string) {
	a.fields = strings.Split(text, ":")
	name, ok := strings.CutPrefix(strings.TrimPrefix(a.next("name"), "P"), "MPI_")
	if !ok {
		textutil.Stop(fmt.Errorf("%s, want MPI_NAME:BEGIN:ARGUMENT:...:END", textutil.Quote(text)))
	}
	c := &mpiCall{name: name}
	begin := a.time(a.next("begin of the call"))
	if len(a.fields) == 0 {
		textutil.Stop(errors.New("the end of the call is missing"))
	}
	last := len(a.fields) - 1
	end := a.time(a.fields[last])
	a.fields = a.fields[:last]
	a.k.took(name, begin, end, a.name, a.line)
	letters, ok := argumentsOf(name)
	if !ok || strings.HasPrefix(name, "Init") || name == "Finalize" {
		return
	}
	count := int64(0)
	mpich := a.isMPICH()
	for _, letter := range letters {
		a.argument(c, letter, &count, mpich)
	}
	if len(a.fields) > 0 {
		textutil.Stop(fmt.Errorf("MPI_%s has more arguments than MPI gives it", name))
	}
	if name == "Reduce_scatter_block" { // as many elements for each
		for range a.k.of.ranks {
			c.lists[receives] = append(c.lists[receives], c.counts[receives])
		}
	}
	a.k.mpi(c, a.name, a.line)
}

// argument reads what a letter of procedures stands for.
func (a *allprof) argument(c *mpiCall, letter rune, count *int64, mpich bool) {
	side := sends
	if strings.ContainsRune("muMsh", letter) {
		side = receives
	}
	switch letter {
	case 'n', 'm':
		c.counts[side] = a.number("count", 0, math.MaxInt32)
	case 't', 'u':
		field := a.next("datatype")
		_, rest, ok := strings.Cut(field, ",")
		if !ok {
			textutil.Stop(fmt.Errorf("datatype %s without a size, which liballprof2 does not write: liballprof's files have NUMBER,SIZE,EXTENT",
				textutil.Quote(field)))
		}
		size, _, _ := strings.Cut(rest, ",")
		a.fields = append([]string{size}, a.fields...)
		c.sizes[side] = a.number("size of the datatype", 0, 1<<40)
	case 'N', 'M', 'D':
		a.next("address of the counts")
		var list []int64
		for field := range strings.SplitSeq(a.next("counts"), ",") {
			list = append(list, number("count", field, "", 0, math.MaxInt32))
		}
		if letter == 'D' {
			c.spans = list
		} else {
			c.lists[side] = list
		}
	case 'd', 's', 'g', 'h':
		n := a.number("rank or tag", math.MinInt32+2, math.MaxInt32)
		anySource, procNull := int64(-1), int64(-2)
		if mpich {
			anySource, procNull = -2, -1
		}
		switch {
		case letter == 'h' && n == -1:
			n = trace.AnyTag
		case letter == 'g' || letter == 'h':
		case n == procNull:
			n = trace.ProcNull
		case n == anySource && letter == 's':
			n = trace.AnySource
		case n < 0:
			textutil.Stop(fmt.Errorf("rank %d", n))
		}
		if letter == 'g' || letter == 'h' {
			c.tags[side] = n
		} else {
			c.peers[side] = n
		}
	case 'c':
		c.comm = a.comm()
	case 'C':
		a.next("communicator")
	case 'r':
		c.root = a.number("root", 0, math.MaxInt32)
	case 'o':
		operators := []trace.Operator{0, trace.OperatorMin, trace.OperatorMax, trace.OperatorSum, trace.OperatorProd, trace.OperatorLand,
			trace.OperatorBand, trace.OperatorLor, trace.OperatorBor, trace.OperatorLxor, trace.OperatorBxor, trace.OperatorMinloc,
			trace.OperatorMaxloc}
		// The numbers are liballprof's; those of other operators are handles.
		if n, err := strconv.Atoi(a.next("operator")); err == nil && n > 0 && n < len(operators) {
			c.operator = operators[n]
		}
	case 'x', 'y':
		n := a.number("color or key", math.MinInt32, math.MaxInt32)
		if c.key = n; letter == 'x' {
			if c.color = n; n < 0 {
				c.color = undefined
			}
		}
	case 'k':
		*count = a.number("number of requests", 0, trace.MaxRequests)
	case 'q':
		address := a.number("address of a request", 0, math.MaxInt64)
		if address%8 != 0 { // handles of 4 bytes
			a.stride = 4
		}
		c.requests = append(c.requests, address)
	case 'Q':
		address := a.number("address of requests", 0, math.MaxInt64>>1)
		for h := range a.k.requests { // others in the array are null
			if at := h - address; at >= 0 && at%a.stride == 0 && at/a.stride < *count {
				c.requests = append(c.requests, h)
			}
		}
		slices.Sort(c.requests)
	default:
		a.next("argument")
	}
}

// next takes the next field.
func (a *allprof) next(what string) string {
	if len(a.fields) == 0 {
		textutil.Stop(fmt.Errorf("%s is missing", what))
	}
	field := a.fields[0]
	a.fields = a.fields[1:]
	return field
}

// number takes a number.
func (a *allprof) number(what string, least, most int64) int64 {
	return number(what, a.next(what), "", least, most)
}

// time returns a time in nanoseconds, or -1 for one that is not known, "-".
func (a *allprof) time(field string) int64 {
	if field == "-" {
		return -1
	}
	whole, part, _ := strings.Cut(field, ".")
	us, err := strconv.ParseInt(whole, 10, 64)
	fraction, err2 := strconv.ParseFloat("0."+part+"0", 64)
	if err != nil || err2 != nil || us < 0 || us > 1<<52 {
		textutil.Stop(fmt.Errorf("time %s, want microseconds", textutil.Quote(field)))
	}
	return us*1000 + int64(math.Round(fraction*1000)) // more digits than a float64 has
}

// isMPICH reports whether the communicator of the line is a handle of MPICH: a number of 32 bits, of which four say
// that it is one. In Open MPI it is an address, or a small number in Fortran. The two give other numbers to any source
// and to nobody.
func (a *allprof) isMPICH() bool {
	for _, field := range a.fields {
		if parts := strings.Split(field, ","); len(parts) == 3 {
			n, err := strconv.ParseUint(parts[0], 10, 64)
			if high := n >> 32; err == nil && (high == 0 || high == math.MaxUint32) && uint32(n)>>30 != 0 && uint32(n)>>26&15 == 1 {
				return true
			}
		}
	}
	return false
}

// comm takes a communicator.
func (a *allprof) comm() int64 {
	field := a.next("communicator")
	parts := strings.Split(field, ",")
	var key [3]uint64
	ok := len(parts) == len(key)
	for i := range key {
		if ok {
			n, err := strconv.ParseUint(parts[i], 10, 64)
			key[i], ok = n, err == nil
		}
	}
	rank, size := key[1], key[2]
	ranks := uint64(len(a.k.of.ranks))
	switch {
	case !ok || size < 1 || rank >= size:
		textutil.Stop(fmt.Errorf("communicator %s, want HANDLE,RANK,SIZE", textutil.Quote(field)))
	case size > ranks:
		textutil.Stop(fmt.Errorf("communicator of %d ranks, and files of %d", size, ranks))
	case size == ranks && rank == uint64(a.k.number):
		return world // or a duplicate
	case size == 1:
		return self
	}
	n, known := a.comms[key]
	if !known {
		n = a.k.name(fmt.Sprintf("%s:%d", a.name, a.line), int(rank), int(size))
		a.comms[key] = n
	}
	return n
}
