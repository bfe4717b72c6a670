package report

import (
	"slices"

	"reprise/study"
)

// means are means of parts over the runs of each level, by factor and label.
type means struct {
	names []string
	sum   map[[2]string]map[string]float64
	runs  map[[2]string]float64
}

// meansOf takes means of some parts of all runs.
func meansOf(p *study.Plan, r *study.Results, list []study.Configuration,
	parts func(*study.Outcome) []study.Part) *means {
	m := &means{names: []string{}, sum: map[[2]string]map[string]float64{}, runs: map[[2]string]float64{}}
	for _, c := range list {
		for _, row := range c.Rows {
			of := parts(r.Of(p.Runs[row].ID).Outcome)
			for _, part := range of {
				if !slices.Contains(m.names, part.Name) {
					m.names = append(m.names, part.Name)
				}
			}
			for i, level := range c.Levels {
				m.add([2]string{p.Factors[i].Name, p.Factors[i].Levels[level].Label}, of)
			}
		}
	}
	return m
}

func (m *means) add(key [2]string, parts []study.Part) {
	if m.sum[key] == nil {
		m.sum[key] = map[string]float64{}
	}
	m.runs[key]++
	for _, part := range parts {
		m.sum[key][part.Name] += part.Seconds
	}
}

// of returns the means of a level, by name.
func (m *means) of(key [2]string) []float64 {
	list := make([]float64, len(m.names))
	for i, name := range m.names {
		list[i] = m.sum[key][name] / m.runs[key]
	}
	return list
}

// longestFirst puts the parts first that are the longest with any level.
func (m *means) longestFirst() {
	most := map[string]float64{}
	for key, sums := range m.sum {
		for name, v := range sums {
			most[name] = max(most[name], v/m.runs[key])
		}
	}
	slices.SortStableFunc(m.names, func(a, b string) int { return descending(most[a], most[b]) })
}
