package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/calibrate/measure"
	"reprise/internal/textutil"
)

// This file reads the timings that helper/bench.c writes into a Result (read), and checks and writes the Result.

// Timing is one operation that was timed.
type Timing struct {
	Operation string
	Between   Between // Cores or Nodes
	Pairs     int     // at the same time
	Bytes     int64
	Seconds   float64
}

// Rank tells where a rank ran.
type Rank struct {
	Host      string `json:"host"`
	Processor string `json:"processor"`
	CPUs      string `json:"cpus_allowed"`
	Load      string `json:"load"`
}

// Result holds the timings of an MPI program, and how they were made.
type Result struct {
	Library     string // the MPI, as it names itself
	Compiler    string
	Ranks       []Rank
	Planned     int
	Timings     []Timing // in the order of their ends, about
	Ended       string   // Complete, OverBudget, or empty: the ranks did not end by themselves
	Interrupted bool     // by the context
	Busy        Busy

	refused string // the program's reason not to run, a key of advice
}

// How a measurement ends.
const (
	Complete   = "complete"
	OverBudget = "budget"
)

// Busy tells how much of its processor a rank had, of the rank that had the smallest part.
type Busy struct {
	Rank      int
	CPU, Wall float64 // seconds of loops that do nothing else
}

// Part returns the part of the time that the rank had a processor, 1 if that is unknown.
func (b Busy) Part() float64 {
	if b.Wall == 0 {
		return 1
	}
	return b.CPU / b.Wall
}

// Limits of a file, which bound the memory that reading it takes.
const (
	maxRanks   = 1 << 20
	maxTimings = 1 << 24
)

// operations are those that helper/bench.c times.
var operations = []string{"send", "send-late", "isend", "recv", "pingpong", "exchange", "iprobe-miss", "iprobe-hit",
	"test-miss", "test-hit", "iprobe-first-hit", "iprobe-first-miss"}

// read reads the file that the program writes (helper/bench.c): lines of a word and its values. A
// last line without its end was cut off when the program was killed; it does not count.
func read(in io.Reader) (*Result, error) {
	// ReadSlice bounds the length of a line by the buffer.
	lines, r := bufio.NewReader(in), &Result{}
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		text := strings.TrimSuffix(string(line), "\n")
		kind, rest, _ := strings.Cut(text, " ")
		switch {
		case err != nil:
		case kind == "mpi":
			r.Library = strings.TrimSpace(rest)
		case kind == "end":
			r.Ended = rest
		case kind == "error":
			r.refused = rest
		case kind == "planned":
			err = count(rest, &r.Planned)
		case kind == "rank": // NUMBER|HOST|PROCESSOR|CPUS|LOAD
			fields := strings.Split(rest, "|")
			if len(fields) == 5 && fields[0] == strconv.Itoa(len(r.Ranks)) && len(r.Ranks) < maxRanks {
				r.Ranks = append(r.Ranks, Rank{fields[1], fields[2], fields[3], fields[4]})
			} else {
				err = fmt.Errorf("found %s, want rank %d with host, processor, cores and load", textutil.Quote(rest),
					len(r.Ranks))
			}
		case kind == "t": // OPERATION BETWEEN PAIRS BYTES SECONDS
			fields := strings.Fields(rest)
			if len(fields) != 5 || len(r.Timings) == maxTimings {
				err = fmt.Errorf("found %s, want operation, between, pairs, bytes and seconds", textutil.Quote(rest))
				break
			}
			t := Timing{Operation: fields[0], Between: Between(fields[1])}
			var err1, err2 error
			t.Bytes, err1 = strconv.ParseInt(fields[3], 10, 64)
			t.Seconds, err2 = strconv.ParseFloat(fields[4], 64)
			err = errors.Join(count(fields[2], &t.Pairs), err1, err2)
			if err == nil && (!slices.Contains(operations, t.Operation) || t.Between != Cores && t.Between != Nodes ||
				t.Pairs < 1 || t.Bytes < 0 || !(t.Seconds > 0) || math.IsInf(t.Seconds, 1)) {
				err = fmt.Errorf("found %s, which is no timing", textutil.Quote(rest))
			}
			r.Timings = append(r.Timings, t)
		case kind == "busy": // RANK CPU WALL
			b := &r.Busy
			if n, wrong := fmt.Sscanf(rest, "%d %g %g", &b.Rank, &b.CPU, &b.Wall); n != 3 || wrong != nil ||
				!(b.CPU >= 0 && b.Wall > 0) || math.IsInf(b.CPU, 1) || b.Rank < 0 {
				err = fmt.Errorf("found %s, want rank, processor time and time", textutil.Quote(rest))
			}
		default:
			err = fmt.Errorf("found %s", textutil.Quote(text))
		}
		if err != nil {
			return nil, fmt.Errorf("timings:%d: %w", n, err)
		}
	}
}

// count reads a number that is not below zero.
func count(text string, n *int) error {
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return fmt.Errorf("found %s, want a whole number", textutil.Quote(text))
	}
	*n = number
	return nil
}

// WriteCSV writes the timings as calibrate network reads them, after facts about the measurement as
// comments. Report.WriteCSV calls it with the facts of the report.
func (r *Result) WriteCSV(w io.Writer, facts []measure.Fact) error {
	var b strings.Builder
	b.WriteString(measure.Comments(facts) + "operation,bytes,seconds,between,pairs\n")
	for _, t := range r.Timings {
		fmt.Fprintf(&b, "%s,%d,%.9e,%s,%d\n", t.Operation, t.Bytes, t.Seconds, t.Between, t.Pairs)
	}
	return textutil.Write(w, b.String())
}

// advice tells users how to start the program, by the text with which it refuses to run.
var advice = map[string]string{
	"one rank": "the program has one rank, want at least 2: start more (-np 2), by the launcher of the MPI " +
		"whose compiler is --mpicc, as one of another MPI starts each rank alone",
	"no two ranks on one host": "no two ranks run on one host, as --between cores needs: start more on each, " +
		"as by mpirun --map-by core",
	"all ranks on one host": "all ranks run on one host, and --between nodes needs two: start them on two, " +
		"as by mpirun --map-by node or srun -N 2",
}

// check returns the error of a measurement that differs from the options, or failed.
func (r *Result) check(o *Options, failure error) error {
	// The reason of the program tells more than the exit status of its launcher.
	switch text, known := advice[r.refused]; {
	case known:
		return fmt.Errorf("%s: %s", o.Launcher[0], text)
	case failure != nil:
		return failure
	case r.Ended == "":
		return fmt.Errorf("%s ended without an error, but the ranks did not finish", o.Launcher[0])
	}
	// A launcher that succeeds may still have put all ranks on one host, or one on each.
	if o.Between == Both {
		for _, b := range []Between{Cores, Nodes} {
			if !r.Has(b) {
				return fmt.Errorf("nothing was timed between %s, as --between both asks: start two ranks on each of "+
					"two hosts, as by mpirun -np 4 --map-by ppr:2:node", b)
			}
		}
	}
	return nil
}

// Has reports whether messages between these were timed.
func (r *Result) Has(b Between) bool {
	return slices.ContainsFunc(r.Timings, func(t Timing) bool { return t.Between == b })
}
