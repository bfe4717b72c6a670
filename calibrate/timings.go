package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/calibrate/table"
	"reprise/internal/textutil"
)

// This file reads and keeps timings of kernels (Timings.Read), by kernel, host, CPU and size.

// MaxDims is the largest number of dimensions of a kernel.
const MaxDims = 4

// maxPoints bounds the number of different (kernel, host, CPU, size).
const maxPoints = 1 << 20

// noCPU stands for timings that say nothing about the CPU.
const noCPU = -1

// maxCPUs is the largest number of CPUs of a host, as in kernel files.
const maxCPUs = 1 << 16

// Timings holds the measured times of kernels: by function, host, CPU and size, and by
// day where that is asked for, the moments of the timings.
type Timings struct {
	origin
	functions []*function // in order of first appearance
	byName    map[string]*function
	points    int
	operands  []string // where they were, if timings are kept: the different texts of the column

	// alone holds those of a rank that had the host to itself, in a table of ranks at once; nil: there are none.
	alone *Timings
}

// origin is the timings that are held, or that a report is of.
type origin struct {
	Timings   int64  `json:"timings"`
	FirstDate string `json:"first_date,omitempty"` // as texts
	LastDate  string `json:"last_date,omitempty"`
}

// line returns the line with which reports begin, but for its end.
func (o origin) line() string {
	text := fmt.Sprintf("timings      %d", o.Timings)
	if o.FirstDate != "" {
		text += fmt.Sprintf(", %s to %s", o.FirstDate, o.LastDate)
	}
	return text
}

// Rows returns the number of timings.
func (t *Timings) Rows() int64 { return t.Timings }

// Functions returns the kernels that were timed, in order of first appearance.
func (t *Timings) Functions() []string {
	return textutil.Texts(t.functions, func(f *function) string { return f.name })
}

// cpuNumbers returns the numbers of the CPUs that were timed, those of all hosts, ascending.
func (t *Timings) cpuNumbers() []int {
	seen := map[int]bool{}
	for _, f := range t.functions {
		for i := range f.points {
			if n := f.points[i].cpu; n != noCPU {
				seen[n] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// function holds the timings of one kernel.
type function struct {
	name   string
	attrs  []Attr // in the order of the columns; none unless timings are kept
	dims   []string
	index  map[pointKey]int
	points []point
}

// pointKey tells points apart. Texts are not those of the line that was read, which would stay in memory.
type pointKey struct {
	host string
	cpu  int
	day  string // yyyy-mm-dd; empty unless days are kept apart
	size [MaxDims]int64
}

// point is one size on one CPU, of one day if these are kept apart.
type point struct {
	pointKey
	seconds moments
	// Timings, if these are kept: all, or those in which the rank had its processor, and the others.
	times, disturbed []float64
}

// Attr is an attribute of a kernel, as side=L.
type Attr struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// maxKept bounds the number of timings that are kept.
const maxKept = 1 << 26

// attrNames are the columns of attributes.
var attrNames = []string{"side", "uplo", "trans", "diag", "transa", "transb"}

// fullName returns "dtrsm side=L uplo=L".
func fullName(name string, attrs []Attr) string {
	for _, a := range attrs {
		name += " " + a.Name + "=" + a.Value
	}
	return name
}

// NewTimings returns an empty set of timings.
func NewTimings() *Timings { return &Timings{byName: map[string]*function{}} }

// at returns the point of a timing, which may be new. The kernel is known by its name
// and attributes; its dimensions must be the same in all rows.
func (t *Timings) at(name string, attrs []Attr, dims []string, key pointKey) (*point, error) {
	full := fullName(name, attrs)
	f := t.byName[full]
	if f == nil {
		if !isName(name) {
			return nil, fmt.Errorf("function %q, want %s", name, wantedName)
		}
		if len(dims) == 0 {
			return nil, fmt.Errorf("%s: no dimensions", name)
		}
		f = &function{name: strings.Clone(name), attrs: attrs, dims: dims, index: map[pointKey]int{}}
		t.byName[strings.Clone(full)] = f
		t.functions = append(t.functions, f)
	}
	if !slices.Equal(f.dims, dims) {
		return nil, fmt.Errorf("%s: dimensions %s, but %s in rows before", name, strings.Join(dims, " "),
			strings.Join(f.dims, " "))
	}
	i, ok := f.index[key]
	if !ok {
		if t.points++; t.points > maxPoints {
			return nil, fmt.Errorf("more than %d different sizes", maxPoints)
		}
		i = len(f.points)
		key.host, key.day = strings.Clone(key.host), strings.Clone(key.day) // not the whole line
		f.index[key] = i
		f.points = append(f.points, point{pointKey: key})
	}
	return &f.points[i], nil
}

// wantedName describes the names that isName takes.
const wantedName = "a letter, then letters, digits and _, 64 in all at most, but not null"

// isName reports whether s can be the name of a kernel or of a dimension in a kernel file, where null is nothing.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 64 && !strings.EqualFold(s, "null")
}

// sorted returns the points by host (numbers by value), CPU, day and size; where there
// is one model for each host, the day comes before the CPU.
func (f *function) sorted(by Grouping) []point {
	list := slices.Clone(f.points)
	slices.SortFunc(list, func(a, b point) int {
		host, cpu, day := CompareHosts(a.host, b.host), cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.day, b.day)
		if by == ForHost {
			cpu, day = day, cpu
		}
		return cmp.Or(host, cpu, day, slices.Compare(a.size[:], b.size[:]))
	})
	return list
}

// CompareHosts puts whole numbers in order, and before names.
func CompareHosts(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 63)
	y, errB := strconv.ParseUint(b, 10, 63)
	switch {
	case errA == nil && errB == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// ReadOptions says how to read a table of timings.
type ReadOptions struct {
	// Function is the kernel of tables without a column for it.
	Function string
	// Dims are the names of the columns with dimensions, in the order of the kernel's;
	// without any, those of HPL's and HPCG's kernels that the table has.
	Dims []string
	// Keep keeps all timings, not their moments alone, and kernels with other attributes apart,
	// which are the columns side, uplo, trans, diag, transa and transb.
	Keep bool
	// Days keeps the days apart on which there were timings, in UTC.
	Days bool
	// Where keeps only the rows whose columns (names in lower case) have these values.
	Where []Condition
}

// Validate reports names that kernel files cannot have. Dimensions are the same whatever their case, as columns are.
func (o *ReadOptions) Validate() error {
	if len(o.Dims) > MaxDims {
		return fmt.Errorf("%d dimensions, want at most %d", len(o.Dims), MaxDims)
	}
	if o.Function != "" && !isName(o.Function) {
		return fmt.Errorf("function %q, want %s", o.Function, wantedName)
	}
	for i, name := range o.Dims {
		if !isName(name) {
			return fmt.Errorf("dimension %q, want %s: give the column another name", name, wantedName)
		}
		if slices.ContainsFunc(o.Dims[:i], func(other string) bool { return strings.EqualFold(name, other) }) {
			return fmt.Errorf("dimension %s twice", name)
		}
	}
	return nil
}

// timeNames are the names of the column with the times.
var timeNames = []string{"seconds", "duration", "time"}

// Read adds the rows of a table. The columns are docs/calibrate.md's; others are not looked at. A table must have
// times, a kernel's name or one that is given, and a dimension; all others may be missing.
func (t *Timings) Read(r *table.Reader, o ReadOptions) (err error) {
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	// The index of a column is -1 if there is none of its names; where two mean the same, the reading ends.
	column := func(names ...string) int { return textutil.Must(r.Column(names...)) }
	function, host, cpu := column("function", "kernel"), column("host", "node", "hostname"), column("cpu")
	rank, processor, operands, alone := column("rank"), column("processor"), column("operands"), column("alone")
	seconds, date := column(timeNames...), column("date", "start_time", "timestamp")
	switch {
	case seconds < 0:
		return r.Errorf("no column seconds (or duration, time)")
	case function < 0 && o.Function == "":
		return r.Errorf("no column function (or kernel), and no name given for all rows")
	case function >= 0 && o.Function != "":
		return r.Errorf("%w: it has a column %s: leave out --function %s, or keep rows of it by --where", ErrContradiction,
			r.Header()[function], o.Function)
	case o.Days && date < 0:
		return r.Errorf("no column date (or start_time, timestamp), by which to keep days apart")
	}
	if rank >= 0 { // the slot on the host, by which replays count CPUs, not the core's number
		cpu = rank
	}
	asked := textutil.Must(Filter(r, o.Where))
	// Given dimensions must all be there; of the others, and of attributes, those count that the table has.
	columns := func(names []string, all bool) (list []int) {
		for _, name := range names {
			if i := column(strings.ToLower(name)); i >= 0 {
				list = append(list, i)
			} else if all {
				textutil.Stop(r.Errorf("no column %q for this dimension", name))
			}
		}
		return list
	}
	names := o.Dims
	if len(names) == 0 {
		names = defaultDims
	}
	dimColumns := columns(names, len(o.Dims) > 0)
	if len(dimColumns) == 0 {
		return r.Errorf("no columns of dimensions: want m, n, k, or named ones")
	}
	var attrColumns []int
	if o.Keep {
		attrColumns = columns(attrNames, false)
	}
	text := func(column int) string {
		if column < 0 {
			return ""
		}
		return r.Text(column)
	}
	return r.Each(asked, func() error {
		t := t
		if text(alone) != "" {
			if t.alone == nil {
				t.alone = NewTimings()
			}
			t = t.alone
		}
		// Dimensions with empty fields are none of the kernel's; the others take their
		// places in the order of the columns.
		key := pointKey{host: text(host), cpu: noCPU}
		var dims []string
		for _, column := range dimColumns {
			if text(column) == "" {
				continue
			}
			if len(dims) == MaxDims {
				return r.Errorf("more than %d dimensions in a row", MaxDims)
			}
			key.size[len(dims)] = textutil.Must(r.Count(column))
			dims = append(dims, strings.ToUpper(r.Header()[column]))
		}
		x := secondsIn(r, seconds)
		if text(cpu) != "" {
			n := textutil.Must(r.Count(cpu))
			if n >= maxCPUs {
				return r.Errorf("cpu %d, want less than %d", n, maxCPUs)
			}
			key.cpu = int(n)
		}
		if d := text(date); d != "" {
			if t.FirstDate == "" || isBefore(d, t.FirstDate) {
				t.FirstDate = d
			}
			if t.LastDate == "" || isBefore(t.LastDate, d) {
				t.LastDate = d
			}
		}
		if o.Days {
			if key.day, err = DayOf(text(date)); err != nil {
				return r.Errorf("%s: %w", r.Header()[date], err)
			}
		}
		// Attributes and the part in which the rank had its processor matter to models that
		// are learned, which need each timing.
		var attrs []Attr
		for _, column := range attrColumns {
			value := text(column)
			if value == "" {
				continue
			}
			if !isName(value) {
				return r.Errorf("%s %q, want %s", r.Header()[column], value, wantedName)
			}
			attrs = append(attrs, Attr{r.Header()[column], strings.Clone(value)})
		}
		disturbed := false
		if o.Keep && text(processor) != "" {
			part := textutil.Must(r.Number(processor))
			if !(part >= 0 && part <= 1) {
				return r.Errorf("processor %g, want 0 to 1", part)
			}
			disturbed = part < hadProcessor
		}
		if s := text(operands); o.Keep && s != "" && len(t.operands) < mostOperands && !slices.Contains(t.operands, s) {
			t.operands = append(t.operands, strings.Clone(s))
		}
		p, err := t.at(cmp.Or(o.Function, text(function)), attrs, dims, key)
		if err != nil {
			return r.Errorf("%w", err)
		}
		p.seconds.add(x)
		switch {
		case o.Keep && t.Timings == maxKept:
			return r.Errorf("more than %d timings", maxKept)
		case disturbed:
			p.disturbed = append(p.disturbed, x)
		case o.Keep:
			p.times = append(p.times, x)
		}
		t.Timings++
		return nil
	})
}

// defaultDims are the columns of dimensions of HPL's and HPCG's kernels.
var defaultDims = []string{"m", "n", "k", "m0", "m1", "jb", "role", "level", "rows", "nnz", "cols", "vectors", "branch",
	"alias"}

// mostOperands bounds the texts of operands that are kept.
const mostOperands = 4

// hadProcessor is the part of a call for which a rank had its processor, at least, if nothing disturbed the call.
const hadProcessor = 0.9

// Times that can have been measured, but for 0, are between these, in seconds. It also
// keeps squares of times from overflowing.
const (
	leastSeconds = 1e-15
	mostSeconds  = 1e9
)

// secondsIn returns the time of a row, the sum of its columns, and ends the reading at one that nobody measured.
func secondsIn(r *table.Reader, columns ...int) (sum float64) {
	for _, column := range columns {
		sum += textutil.Must(r.Number(column))
	}
	switch {
	case sum < 0:
		textutil.Stop(r.Errorf("%w: a time below zero, %g s", ErrMeaningless, sum))
	case sum > 0 && sum < leastSeconds || sum > mostSeconds:
		textutil.Stop(r.Errorf("%w: a time of %g s, want 0, or %g to %g: is the unit seconds?", ErrMeaningless, sum,
			leastSeconds, mostSeconds))
	}
	return sum
}

// Condition asks for a text in a column.
type Condition struct{ Column, Value string }

// Filter returns a function that reports whether the current row of r meets all the conditions.
func Filter(r *table.Reader, where []Condition) (asked func() bool, err error) {
	defer textutil.Stopped(&err)
	var at []int
	for _, w := range where {
		i := textutil.Must(r.Column(w.Column))
		if i < 0 {
			return nil, r.Errorf("no column %q, of which %q is asked", w.Column, w.Value)
		}
		at = append(at, i)
	}
	return func() bool {
		for i, w := range where {
			if r.Text(at[i]) != w.Value {
				return false
			}
		}
		return true
	}, nil
}

// isBefore reports whether a date is before another one of the same table: both are
// texts that order as the dates do, or seconds, which have more digits from 2001 on.
func isBefore(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return x < y
	}
	return a < b
}

// DayOf returns the day of a date, yyyy-mm-dd: the date begins with it, is yyyymmdd, or
// is a number of seconds since 1970 (and the day that of UTC).
func DayOf(date string) (string, error) {
	if day, err := time.Parse("20060102", date); err == nil {
		return day.Format(time.DateOnly), nil
	}
	if len(date) >= len(time.DateOnly) {
		day := date[:len(time.DateOnly)]
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			return day, nil
		}
	}
	seconds, err := strconv.ParseFloat(date, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e11) {
		return "", fmt.Errorf("date %q, want yyyy-mm-dd, yyyymmdd, or seconds since 1970", date)
	}
	return time.Unix(int64(seconds), 0).UTC().Format(time.DateOnly), nil
}
