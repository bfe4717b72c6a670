package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/wording"
)

// Timing is one operation that was timed.
type Timing struct {
	Operation string
	Between   Between // Cores or Nodes
	Pairs     int     // at the same time
	Bytes     int64
	Seconds   float64
}

// Rank is where a rank ran.
type Rank struct {
	Host      string `json:"host"`
	Processor string `json:"processor"`
	CPUs      string `json:"cpus_allowed"`
	Load      string `json:"load"`
}

// Result is what was timed.
type Result struct {
	Library     string // the MPI
	Compiler    string
	Ranks       []Rank
	Planned     int
	Timings     []Timing // in the order of their ends, about
	Ended       string   // Complete, OverBudget, or empty: the ranks did not end by themselves
	Interrupted bool     // by the context
	Busy        Busy

	refused string // what the program says it cannot do
}

// How a measurement ends.
const (
	Complete   = "complete"
	OverBudget = "budget"
)

// Busy is how much of its processor the rank had that had the smallest part.
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

// Limits of what is read, so that a file cannot make us hold more.
const (
	maxRanks   = 1 << 20
	maxTimings = 1 << 24
)

func readFile(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

// read reads what the program writes (helper/bench.c). A last line without its end was cut off
// when the program was killed; it does not count.
func read(r io.Reader) (*Result, error) {
	in, result := bufio.NewReader(r), &Result{}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return result, nil
		case err != nil:
			return nil, fmt.Errorf("timings:%d: %w", n, err)
		}
		if err := result.line(strings.TrimSuffix(string(line), "\n")); err != nil {
			return nil, fmt.Errorf("timings:%d: %w", n, err)
		}
	}
}

func (r *Result) line(text string) error {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "mpi":
		r.Library = strings.TrimSpace(rest)
	case "rank":
		return r.rank(rest)
	case "planned":
		return count(rest, &r.Planned)
	case "t":
		return r.timing(rest)
	case "busy":
		return r.busy(rest)
	case "end":
		r.Ended = rest
	case "error":
		r.refused = rest
	default:
		return fmt.Errorf("found %s", wording.Quote(text))
	}
	return nil
}

func count(text string, n *int) error {
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return fmt.Errorf("found %s, want a whole number", wording.Quote(text))
	}
	*n = number
	return nil
}

// rank reads NUMBER|HOST|PROCESSOR|CPUS|LOAD.
func (r *Result) rank(text string) error {
	fields := strings.Split(text, "|")
	if len(fields) != 5 || fields[0] != strconv.Itoa(len(r.Ranks)) || len(r.Ranks) == maxRanks {
		return fmt.Errorf("found %s, want rank %d with host, processor, cores and load", wording.Quote(text), len(r.Ranks))
	}
	r.Ranks = append(r.Ranks, Rank{fields[1], fields[2], fields[3], fields[4]})
	return nil
}

// operations are those that helper/bench.c times.
var operations = []string{"send", "send-late", "isend", "recv", "pingpong", "exchange", "iprobe-miss", "iprobe-hit", "test-miss", "test-hit", "iprobe-first-hit", "iprobe-first-miss"}

// timing reads OPERATION BETWEEN PAIRS BYTES SECONDS.
func (r *Result) timing(text string) error {
	fields := strings.Fields(text)
	if len(fields) != 5 || len(r.Timings) == maxTimings {
		return fmt.Errorf("found %s, want operation, between, pairs, bytes and seconds", wording.Quote(text))
	}
	t := Timing{Operation: fields[0], Between: Between(fields[1])}
	bytes, err1 := strconv.ParseInt(fields[3], 10, 64)
	seconds, err2 := strconv.ParseFloat(fields[4], 64)
	t.Bytes, t.Seconds = bytes, seconds
	if err := errors.Join(count(fields[2], &t.Pairs), err1, err2); err != nil {
		return err
	}
	if !slices.Contains(operations, t.Operation) || t.Between != Cores && t.Between != Nodes || t.Pairs < 1 || bytes < 0 || !(seconds > 0) || math.IsInf(seconds, 1) {
		return fmt.Errorf("found %s, which is no timing", wording.Quote(text))
	}
	r.Timings = append(r.Timings, t)
	return nil
}

// busy reads RANK CPU WALL.
func (r *Result) busy(text string) error {
	var b Busy
	if n, err := fmt.Sscanf(text, "%d %g %g", &b.Rank, &b.CPU, &b.Wall); n != 3 || err != nil || !(b.CPU >= 0 && b.Wall > 0) || math.IsInf(b.CPU, 1) || b.Rank < 0 {
		return fmt.Errorf("found %s, want rank, processor time and time", wording.Quote(text))
	}
	r.Busy = b
	return nil
}
