package extrapolate

import (
	"fmt"
	"slices"
)

// This file fits numbers that change with the turns of loops (family.byTurns): tables, sequences, and faces of cells.

// byTurns fits numbers that change from turn to turn of a loop.
func (f *family) byTurns(data [][][]int64, turns func(of, rank int) [][]int) (value, error) {
	var depth int
	type list = [][]int
	all := make([][]list, len(data))
	for of := range data {
		all[of] = make([]list, len(data[of]))
		for rank := range data[of] {
			if len(data[of][rank]) > 0 {
				if all[of][rank] = turns(of, rank); all[of][rank] == nil {
					return nil, fmt.Errorf("they change from turn to turn of the loop around it")
				}
				depth = len(all[of][rank][0])
			}
		}
	}
	for level := depth - 1; level >= 0; level-- {
		f.late = false
		// By turn of this loop alone.
		columns, same := map[int][]row{}, true
		most := 0
		least := 1 << 30
		for of := range data {
			for rank, values := range data[of] {
				if len(values) == 0 {
					continue
				}
				byTurn := map[int]int64{}
				for i, v := range values {
					turn := all[of][rank][i][level]
					if before, ok := byTurn[turn]; ok && before != v {
						same = false
					}
					byTurn[turn] = v
				}
				for turn, v := range byTurn {
					columns[turn] = append(columns[turn], row{of, rank, v})
				}
				most, least = max(most, len(byTurn)), min(least, len(byTurn))
			}
		}
		if !same {
			continue
		}
		if most == least && most <= 4096 { // a table
			table := make([]value, most)
			var runs []int
			for turn := range table {
				if turn > 0 && slices.Equal(columns[turn], columns[turn-1]) {
					table[turn] = table[turn-1]
					continue
				}
				v, ok := f.held(columns[turn], f.scalar)
				if !ok {
					v, ok = f.alone(columns[turn])
				}
				if !ok {
					return nil, f.odd(columns[turn])
				}
				table[turn], runs = v, append(runs, turn)
			}
			f.runs[level] = append(f.runs[level], runs...)
			return func(g grid, rank int, turns []int) (int64, bool) {
				if turns[level] >= len(table) {
					return 0, false
				}
				return table[turns[level]](g, rank, turns)
			}, nil
		}
		// A sequence from its first number on, by steps of one size, or doubled or halved.
		firsts, steps := columns[0], []row(nil)
		for _, w := range firsts {
			if i := slices.IndexFunc(columns[1], func(v row) bool { return v.of == w.of && v.rank == w.rank }); i >= 0 {
				steps = append(steps, row{w.of, w.rank, columns[1][i].v - w.v})
			}
		}
		first, ok := f.held(firsts, f.scalar)
		if !ok {
			continue
		}
		step, linear := f.held(steps, f.scalar)
		for _, kind := range []change{steady, doubled, halved} {
			if kind == steady && !linear {
				continue
			}
			next := func(g grid, rank int, turns []int) (int64, bool) {
				v, ok := first(g, rank, turns)
				switch kind {
				case doubled:
					return v << turns[level], ok
				case halved:
					return v >> turns[level], ok
				}
				by, fine := step(g, rank, turns)
				return v + by*int64(turns[level]), ok && fine
			}
			right := true
			for turn, rows := range columns {
				at := make([]int, depth)
				at[level] = turn
				right = right && !slices.ContainsFunc(rows, func(w row) bool {
					v, ok := next(f.list[w.of].grid, w.rank, at)
					return !ok || v != w.v
				})
			}
			if right {
				f.changes |= 1 << level
				return next, nil
			}
		}
	}
	// A cell of each turn of the innermost loop.
	var cells []row
	var at []int
	for of := range data {
		for rank, values := range data[of] {
			for i, v := range values {
				cells, at = append(cells, row{of, rank, v}), append(at, all[of][rank][i][depth-1])
			}
		}
	}
	if depth > 0 {
		v, ok := f.faces(cells, at, depth-1)
		if !ok {
			v, ok = f.labels(cells, at, depth-1)
		}
		if ok {
			f.late = true
			f.changes |= 1 << (depth - 1)
			return v, nil
		}
	}
	return nil, fmt.Errorf("it changes from turn to turn by no rule")
}
