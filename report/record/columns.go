package record

import "reprise/report/typedarray"

// columns are the sums over ranks of what they have spent their time on, in each column.
type columns struct {
	width int // rows
	list  []*column
}

// column is one of them. Times are in seconds.
type column struct {
	begun   int     // ranks that have begun it
	begins  float64 // sum of the times at which they have
	ended   int     // ranks that have ended it
	longest float64 // that a rank was in it
	rows    []spread
}

// spread is a sum over ranks, with the least and the most of one.
type spread struct{ sum, least, most float64 }

// at returns a column.
func (c *columns) at(i int32) *column {
	for int(i) >= len(c.list) {
		c.list = append(c.list, &column{rows: make([]spread, c.width)})
	}
	return c.list[i]
}

// begin notes that a rank begins a column at a time.
func (c *columns) begin(i int32, at float64) {
	column := c.at(i)
	column.begun++
	column.begins += at
}

// add adds what a rank has spent its time on in a column, in which it was so long.
func (c *columns) add(i int32, now []float64, length float64) {
	column := c.at(i)
	first := column.ended == 0
	column.ended++
	column.longest = max(column.longest, length)
	rows := column.rows[:len(now)]
	for row, v := range now {
		s := &rows[row]
		s.sum += v
		if v < s.least || first {
			s.least = v
		}
		if v > s.most {
			s.most = v
		}
	}
}

// span returns the columns from the first in which a rank was on, that of a cell of several
// columns, to the last.
func (c *columns) span(perCell int) (first, count int) {
	for first < len(c.list) && c.list[first].ended == 0 {
		first++
	}
	first -= first % perCell
	return first, len(c.list) - first
}

// columnData describes columns.
func (r *Recorder) columnData(first, count int) Columns {
	d := Columns{Kind: "time", Count: count, Seconds: r.slices.width}
	if r.steps {
		d = Columns{Kind: "step", First: r.first + first*r.perColumn, Count: count, Steps: r.perColumn}
	}
	longest := make([]float32, count)
	for i, c := range r.columns.list[first:] {
		longest[i] = float32(c.longest)
	}
	d.Starts, d.Longest = typedarray.Float64s(r.starts(first, count)), typedarray.Float32s(longest)
	return d
}

// starts returns when the mean of those ranks that begin it begins each column, and the end.
func (r *Recorder) starts(first, count int) []float64 {
	starts := make([]float64, count+1)
	if !r.steps {
		for i := range count {
			starts[i] = float64(first+i) * r.slices.width
		}
		starts[count] = r.lastEnd()
		return starts
	}
	at := 0.0
	for i, c := range r.columns.list[first:] {
		if c.begun > 0 {
			at = max(at, c.begins/float64(c.begun))
		}
		starts[i] = at
	}
	sum, ranks := 0.0, 0
	for i := range r.ranks {
		if rk := &r.ranks[i]; rk.until != notYet {
			sum += rk.clock
			ranks++
		}
	}
	starts[count] = max(at, sum/float64(max(ranks, 1)))
	return starts
}

// seriesData describes the rows that are not 0 everywhere.
func (r *Recorder) seriesData(first, count int) Series {
	var d Series
	var values []float32
	list := r.columns.list[first:]
	for row, name := range r.sums.names(r.header) {
		if r.columns.isZero(row) {
			continue
		}
		switch {
		case row < numKinds:
			d.Kinds = append(d.Kinds, name)
		case row < numKinds+r.sums.kernels:
			d.Kernels = append(d.Kernels, name)
		default:
			d.Phases = append(d.Phases, name)
		}
		values = appendSpread(values, list, row, len(r.ranks))
	}
	d.Values = typedarray.Float32s(values)
	return d
}

// isZero reports whether no rank has spent time on a row.
func (c *columns) isZero(row int) bool {
	for _, column := range c.list {
		if column.rows[row].most > 0 {
			return false
		}
	}
	return true
}

// appendSpread appends means, least and most of a row.
func appendSpread(values []float32, list []*column, row, ranks int) []float32 {
	for _, c := range list {
		values = append(values, float32(c.rows[row].sum/float64(ranks)))
	}
	for _, c := range list {
		least := c.rows[row].least
		if c.ended < ranks {
			least = 0
		}
		values = append(values, float32(least))
	}
	for _, c := range list {
		values = append(values, float32(c.rows[row].most))
	}
	return values
}
