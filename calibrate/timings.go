package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxDims is the largest number of dimensions of a kernel.
const MaxDims = 4

// maxPoints bounds the number of different (kernel, host, CPU, size).
const maxPoints = 1 << 20

// noCPU stands for timings that say nothing about the CPU.
const noCPU = -1

// maxCPUs is the largest number of CPUs of a host, as in kernel files.
const maxCPUs = 1 << 16

// Timings holds what was measured of kernels: by function, host, CPU and
// size, and by day where that is asked for, the moments of the timings.
type Timings struct {
	rows        int64
	functions   []*function // in order of first appearance
	byName      map[string]*function
	points      int
	first, last string   // dates, as texts
	operands    []string // where they were, if timings are kept: the different texts of the column
}

// Rows returns the number of timings.
func (t *Timings) Rows() int64 { return t.rows }

// Functions returns the kernels that were timed, in order of first appearance.
func (t *Timings) Functions() []string {
	var names []string
	for _, f := range t.functions {
		names = append(names, f.name)
	}
	return names
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

// function is what is known of one kernel.
type function struct {
	name   string
	attrs  []Attr // in the order of the columns; none unless timings are kept
	dims   []string
	index  map[pointKey]int
	points []point
}

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

func (t *Timings) addDate(date string) {
	if date == "" {
		return
	}
	if t.first == "" || isBefore(date, t.first) {
		t.first = date
	}
	if t.last == "" || isBefore(t.last, date) {
		t.last = date
	}
}

func (t *Timings) add(name string, attrs []Attr, dims []string, key pointKey, seconds float64, keep keeping) error {
	full := fullName(name, attrs)
	f := t.byName[full]
	if f == nil {
		if !isName(name) {
			return fmt.Errorf("function %q, want %s", name, wantedName)
		}
		if len(dims) == 0 {
			return fmt.Errorf("%s: no dimensions", name)
		}
		f = &function{name: strings.Clone(name), attrs: attrs, dims: dims, index: map[pointKey]int{}}
		t.byName[strings.Clone(full)] = f
		t.functions = append(t.functions, f)
	}
	if !slices.Equal(f.dims, dims) {
		return fmt.Errorf("%s: dimensions %s, but %s in rows before", name, strings.Join(dims, " "), strings.Join(f.dims, " "))
	}
	i, ok := f.index[key]
	if !ok {
		if t.points++; t.points > maxPoints {
			return fmt.Errorf("more than %d different sizes", maxPoints)
		}
		i = len(f.points)
		key.host, key.day = strings.Clone(key.host), strings.Clone(key.day) // not the whole line
		f.index[key] = i
		f.points = append(f.points, point{pointKey: key})
	}
	f.points[i].seconds.add(seconds)
	if keep != inMoments && t.rows == maxKept {
		return fmt.Errorf("more than %d timings", maxKept)
	}
	switch p := &f.points[i]; keep {
	case inTimes:
		p.times = append(p.times, seconds)
	case inDisturbed:
		p.disturbed = append(p.disturbed, seconds)
	}
	t.rows++
	return nil
}

// wantedName is what isName wants.
const wantedName = "a letter, then letters, digits and _, 64 in all at most, but not null"

// isName reports whether s can be the name of a kernel or of a dimension in a kernel
// file, where null is nothing.
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

// sorted returns the points by host (numbers by value), CPU, day and size; where
// there is one model for each host, the day comes before the CPU.
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
