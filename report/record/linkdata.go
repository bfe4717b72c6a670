package record

import (
	"cmp"
	"math"
	"slices"

	"reprise/platforms"
	"reprise/report/typedarray"
)

// maxHottest is how many links are named.
const maxHottest = 20

// data describes how links were used up to the end of the run, in seconds.
func (l *links) data(end float64) Links {
	end = max(end, l.told) // ranks wait when a replay is stopped, and transfers go on
	l.advance(end)
	count := int(math.Ceil(end / l.width))
	d := Links{Slices: count, Seconds: l.width}
	order := make([]int32, len(l.levels))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.levels[a], l.levels[b]) })
	var use, bound []float32
	for _, level := range order {
		d.Levels = append(d.Levels, l.names[l.levels[level]])
		d.Number = append(d.Number, l.number(level))
		d.Shared = append(d.Shared, l.shared(level))
		use = l.appendUse(use, level, count, end)
		for i := range count {
			bound = append(bound, float32(l.lostAt(int32(i))[level]))
		}
	}
	d.Use, d.Bound = typedarray.Float32s(use), typedarray.Float32s(bound)
	d.Hottest = l.hottest(order, count, end)
	return d
}

// number returns how many links of a level have carried something.
func (l *links) number(level int32) (n int) {
	for i := range l.rows {
		if l.rows[i].level == level {
			n++
		}
	}
	return n
}

// shared reports whether messages share a link of a level.
func (l *links) shared(level int32) bool {
	return slices.ContainsFunc(l.rows, func(row link) bool {
		_, _, policy := l.platform.LinkCapacity(row.number)
		return row.level == level && policy == platforms.Shared
	})
}

// secondsOf returns how long a slice is, of which the last may end with the run.
func (l *links) secondsOf(slice int, end float64) float64 {
	return min(l.width, end-float64(slice)*l.width)
}

// appendUse appends the mean and the greatest use of the links of a level in each slice.
func (l *links) appendUse(use []float32, level int32, count int, end float64) []float32 {
	capacity := 0.0
	for i := range l.rows {
		if l.rows[i].level == level {
			capacity += l.rows[i].capacity
		}
	}
	most := make([]float32, count)
	for slice := range count {
		load, seconds := 0.0, l.secondsOf(slice, end)
		for i, v := range l.pastAt(int32(slice)) {
			if row := &l.rows[i]; row.level == level {
				load += float64(v)
				most[slice] = max(most[slice], float32(float64(v)/(row.capacity*seconds)))
			}
		}
		use = append(use, float32(load/(capacity*seconds)))
	}
	return append(use, most...)
}

// hottest describes the links where most time was lost; of others those that are used most.
func (l *links) hottest(order []int32, count int, end float64) []HotLink {
	rows := make([]int, len(l.rows))
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, func(i, k int) int {
		a, b := &l.rows[i], &l.rows[k]
		return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(b.load/b.capacity, a.load/a.capacity),
			cmp.Compare(a.number, b.number))
	})
	list := []HotLink{}
	for _, i := range rows[:min(len(rows), maxHottest)] {
		row := &l.rows[i]
		over := make([]float32, count)
		for slice := range count {
			over[slice] = float32(float64(l.pastAt(int32(slice))[i]) / (row.capacity * l.secondsOf(slice, end)))
		}
		list = append(list, HotLink{
			Name: l.platform.Link(row.number).Name, Level: slices.Index(order, row.level),
			Bytes: row.bytes, Use: row.load / (row.capacity * end), Lost: row.lost, Over: typedarray.Float32s(over),
		})
	}
	return list
}
