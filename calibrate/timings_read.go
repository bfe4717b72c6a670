package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"reprise/calibrate/table"
)

// ReadOptions says how to read a table of timings.
type ReadOptions struct {
	// Function is the kernel of tables without a column for it.
	Function string
	// Dims are the names of the columns with dimensions, in the order of the
	// kernel's; without any, those of HPL's and HPCG's kernels that the table has.
	Dims []string
	// Keep keeps all timings, not their moments alone, and kernels with other attributes apart,
	// which are the columns side, uplo, trans, diag, transa and transb.
	Keep bool
	// Days keeps the days apart on which there were timings, in UTC.
	Days bool
	// Where keeps only the rows whose columns (names in lower case) have these values.
	Where []Condition
}

// Validate reports names that kernel files cannot have. Dimensions are the same
// whatever their case, as columns are.
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

// columns is where a table of timings has what.
type columns struct {
	function, host, cpu, seconds, date int // -1: nowhere
	processor, operands                int
	dims                               []int
	attrs                              []int       // that there are
	asked                              func() bool // whether the current row has what is asked for
}

// Read adds the rows of a table. The columns are docs/calibrate.md's; others are
// not looked at.
func (t *Timings) Read(r *table.Reader, o ReadOptions) error {
	c, err := findColumns(r, o)
	if err != nil {
		return err
	}
	return r.Each(c.asked, func() error { return t.readRow(r, c, o) })
}

func findColumns(r *table.Reader, o ReadOptions) (c columns, err error) {
	if err := o.Validate(); err != nil {
		return c, err
	}
	if err := r.CheckSeparator(); err != nil {
		return c, err
	}
	rank := -1
	for _, f := range []struct {
		index *int
		names []string
	}{
		{&c.function, []string{"function", "kernel"}},
		{&c.host, []string{"host", "node", "hostname"}},
		{&c.cpu, []string{"cpu"}},
		{&rank, []string{"rank"}},
		{&c.processor, []string{"processor"}},
		{&c.operands, []string{"operands"}},
		{&c.seconds, []string{"seconds", "duration", "time"}},
		{&c.date, []string{"date", "start_time", "timestamp"}},
	} {
		if *f.index, err = r.Column(f.names...); err != nil {
			return c, err
		}
	}
	switch {
	case c.seconds < 0:
		return c, r.Errorf("no column seconds (or duration, time)")
	case c.function < 0 && o.Function == "":
		return c, r.Errorf("no column function (or kernel), and no name given for all rows")
	case c.function >= 0 && o.Function != "":
		return c, r.Errorf("%w: it has a column %s: leave out --function %s, or keep rows of it by --where", ErrContradiction, r.Header()[c.function], o.Function)
	}
	if o.Days && c.date < 0 {
		return c, r.Errorf("no column date (or start_time, timestamp), by which to keep days apart")
	}
	if rank >= 0 { // the slot on the host, by which replays count CPUs, not the core's number
		c.cpu = rank
	}
	for _, name := range attrNames {
		i, err := r.Column(name)
		if err != nil {
			return c, err
		}
		if i >= 0 && o.Keep {
			c.attrs = append(c.attrs, i)
		}
	}
	if c.asked, err = Filter(r, o.Where); err != nil {
		return c, err
	}
	c.dims, err = findDims(r, o.Dims)
	return c, err
}

// defaultDims are the columns of dimensions of HPL's and HPCG's kernels.
var defaultDims = []string{"m", "n", "k", "m0", "m1", "jb", "role", "level", "rows", "nnz", "cols", "vectors", "branch", "alias"}

func findDims(r *table.Reader, names []string) ([]int, error) {
	given := len(names) > 0
	if !given {
		names = defaultDims
	}
	var list []int
	for _, name := range names {
		i, err := r.Column(strings.ToLower(name))
		if err != nil {
			return nil, err
		}
		switch {
		case i >= 0:
			list = append(list, i)
		case given:
			return nil, r.Errorf("no column %q for this dimension", name)
		}
	}
	if len(list) == 0 {
		return nil, r.Errorf("no columns of dimensions: want m, n, k, or named ones")
	}
	return list, nil
}

// readRow adds the current row. Dimensions with empty fields are none of the
// kernel's.
func (t *Timings) readRow(r *table.Reader, c columns, o ReadOptions) (err error) {
	name, key := o.Function, pointKey{cpu: noCPU}
	var dims []string
	for _, column := range c.dims {
		if r.Text(column) == "" {
			continue
		}
		if len(dims) == MaxDims {
			return r.Errorf("more than %d dimensions in a row", MaxDims)
		}
		if key.size[len(dims)], err = r.Count(column); err != nil {
			return err
		}
		dims = append(dims, strings.ToUpper(r.Header()[column]))
	}
	seconds, err := r.Number(c.seconds)
	if err != nil {
		return err
	}
	if err := checkSeconds(seconds); err != nil {
		return r.Errorf("%w", err)
	}
	if c.function >= 0 {
		name = r.Text(c.function)
	}
	if c.host >= 0 {
		key.host = r.Text(c.host)
	}
	if c.cpu >= 0 && r.Text(c.cpu) != "" {
		if key.cpu, err = readCPU(r, c.cpu); err != nil {
			return err
		}
	}
	if c.date >= 0 {
		t.addDate(r.Text(c.date))
	}
	if o.Days {
		if key.day, err = DayOf(r.Text(c.date)); err != nil {
			return r.Errorf("%s: %w", r.Header()[c.date], err)
		}
	}
	attrs, err := readAttrs(r, c)
	if err != nil {
		return err
	}
	list := inMoments
	if o.Keep {
		if list, err = listOf(r, c); err != nil {
			return err
		}
		t.addOperands(r, c)
	}
	if err := t.add(name, attrs, dims, key, seconds, list); err != nil {
		return r.Errorf("%w", err)
	}
	return nil
}

// mostOperands bounds what is known of operands.
const mostOperands = 4

func (t *Timings) addOperands(r *table.Reader, c columns) {
	if c.operands < 0 || len(t.operands) == mostOperands {
		return
	}
	if text := r.Text(c.operands); text != "" && !slices.Contains(t.operands, text) {
		t.operands = append(t.operands, strings.Clone(text))
	}
}

// keeping says where a timing is kept.
type keeping int

const (
	inMoments keeping = iota // alone
	inTimes
	inDisturbed
)

// hadProcessor is the part of a call in which a rank had its processor from which on it was not
// disturbed.
const hadProcessor = 0.9

// listOf returns where the timing of the current row is kept.
func listOf(r *table.Reader, c columns) (keeping, error) {
	if c.processor < 0 || r.Text(c.processor) == "" {
		return inTimes, nil
	}
	part, err := r.Number(c.processor)
	switch {
	case err != nil:
		return inTimes, err
	case !(part >= 0 && part <= 1):
		return inTimes, r.Errorf("processor %g, want 0 to 1", part)
	case part < hadProcessor:
		return inDisturbed, nil
	}
	return inTimes, nil
}

// readAttrs returns the attributes of the current row that are not empty.
func readAttrs(r *table.Reader, c columns) (list []Attr, err error) {
	for _, column := range c.attrs {
		value := r.Text(column)
		if value == "" {
			continue
		}
		if !isName(value) {
			return nil, r.Errorf("%s %q, want %s", r.Header()[column], value, wantedName)
		}
		list = append(list, Attr{r.Header()[column], strings.Clone(value)})
	}
	return list, nil
}

// Times that can have been measured, but for 0, are between these, in seconds. It
// also keeps squares of times from overflowing.
const (
	leastSeconds = 1e-15
	mostSeconds  = 1e9
)

// checkSeconds refuses times that nobody measured.
func checkSeconds(s float64) error {
	switch {
	case s < 0:
		return fmt.Errorf("%w: a time below zero, %g s", ErrMeaningless, s)
	case s > 0 && s < leastSeconds || s > mostSeconds:
		return fmt.Errorf("%w: a time of %g s, want 0, or %g to %g: is the unit seconds?", ErrMeaningless, s, leastSeconds, mostSeconds)
	}
	return nil
}

func readCPU(r *table.Reader, column int) (int, error) {
	cpu, err := r.Count(column)
	if err == nil && cpu >= maxCPUs {
		err = r.Errorf("cpu %d, want less than %d", cpu, maxCPUs)
	}
	return int(cpu), err
}
