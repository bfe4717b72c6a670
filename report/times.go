package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// times is where the time of the mean rank went, in the JSON of a result.
type times struct {
	StoppedAt *float64 `json:"stopped_at_s"`
	Kinds     []share  `json:"time_by_kind"`
	Phases    []share  `json:"time_by_phase"`
	Kernels   []share  `json:"time_by_kernel"`
	Estimate  bool     `json:"estimate"`
}

// share is a row of where the time went, in seconds of the mean rank. Of an estimate the least
// and the most of all ranks are not known, and 0.
type share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"`
	Min  float64 `json:"min_s"`
	Max  float64 `json:"max_s"`
}

// timesOf returns what data tells of where the time went: by its tables, if it has any.
func timesOf(d *Data) *times {
	t := &times{}
	if err := json.Unmarshal(d.Result, t); err != nil {
		t = &times{}
	}
	if len(d.Tables) == 0 {
		return t
	}
	by := map[string][]share{}
	for _, table := range d.Tables {
		for _, r := range table.Rows {
			by[table.By] = append(by[table.By], share{Name: r.Name, Mean: r.Mean})
		}
	}
	return &times{Kinds: by["kind"], Phases: by["phase"], Kernels: by["kernel"], Estimate: t.Estimate}
}

// total returns the end of the mean rank, in seconds.
func (t *times) total() float64 {
	sum := 0.0
	for _, k := range t.Kinds {
		sum += k.Mean
	}
	return sum
}

// named returns the row with a name, one of nothing if there is none.
func named(shares []share, name string) share {
	for _, s := range shares {
		if s.Name == name {
			return s
		}
	}
	return share{Name: name}
}

// routines adds up the kernels that differ in their attributes only.
func routines(kernels []share) []share {
	var list []share
	for _, k := range kernels {
		name, _, _ := strings.Cut(k.Name, " ")
		i := slices.IndexFunc(list, func(s share) bool { return s.Name == name })
		if i < 0 {
			list, i = append(list, share{Name: name}), len(list)
		}
		list[i].Mean += k.Mean
	}
	return list
}

// seconds writes a time with the unit that leaves it between 1 and 1000, as page/units.js does, with at most
// so many digits, and all of a whole number.
func seconds(v float64, digits int) string {
	if v == 0 {
		return "0 s"
	}
	of, name := 1.0, ""
	for _, unit := range []struct {
		of   float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}} {
		if of, name = unit.of, unit.name; v >= 0.9995*of {
			break
		}
	}
	whole := len(strconv.FormatFloat(math.Floor(v/of), 'f', 0, 64))
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v/of, 'g', max(digits, whole), 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " " + name
}

// percent writes a share of 1 with as many digits as one reads.
func percent(share float64) string {
	switch {
	case share < 0.001 && share > 0:
		return "under 0.1 %"
	case share < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// enumerated joins texts as a sentence does.
func enumerated(texts []string) string {
	if n := len(texts) - 1; n > 0 {
		return strings.Join(texts[:n], ", ") + " and " + texts[n]
	}
	return strings.Join(texts, "")
}
