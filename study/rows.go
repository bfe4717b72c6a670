package study

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/yamlfile"
	"reprise/study/design"
)

// This file makes the rows of a design from a study's file: parser.makeRows.

// hypercubeSeed orders the points of a Latin hypercube: the same file is the same study.
const hypercubeSeed = 1

// wantDesign says which designs there are.
const wantDesign = "want full, one at a time, {fractional: 1/4}, {latin hypercube: 20}, or {list: [{NB: 64, DEPTH: 0}, ...]}"

// makeRows makes the rows of the design; without one it is full.
//
// The designs are those of package design; the rows of a list stand in the file. All rows have the numbers of levels. A
// design in which a row comes twice is taken as it is: the rows are one run, and rows of the table for both.
func (p *parser) makeRows(root ast.Node) {
	// Errors of the usual design are of the whole file, as no line of it asks for that design.
	n, name := root, "full"
	switch p.design.(type) {
	case nil:
	case *ast.MappingNode, *ast.MappingValueNode:
		// Designs with a number, or with rows, are mappings with one key.
		entries := p.Entries(p.design, "design")
		if len(entries) != 1 {
			p.Stop(p.design, "design: %d entries, %s", len(entries), wantDesign)
		}
		switch e := entries[0]; e.Key {
		case "fractional":
			p.fractional(e)
		case "latin hypercube":
			p.hypercube(e)
		case "list":
			p.list(e)
		default:
			p.Stop(e.Node, "design: %s, %s", yamlfile.Quote(e.Key), wantDesign)
		}
		return
	default:
		n, name = p.design, p.Text(p.design, "design")
	}

	// The others need nothing but the factors.
	p.noRanges(name)
	s := p.study
	var levels []int
	// The numbers of rows are bounded before the rows are made, as a few lines of a file may ask for 2^60.
	all, each := 1, 1 // rows of a full design, as far as there may be so many, and of the other
	for _, f := range s.Factors {
		levels = append(levels, len(f.Levels))
		all, each = min(all*max(1, len(f.Levels)), MaxRuns), each+max(1, len(f.Levels))-1
	}
	p.fits(n, map[string]int{"full": all, "one at a time": each}[name])
	var err error
	switch s.Design = name; name {
	case "full":
		s.Rows, err = design.Full(levels)
	case "one at a time":
		s.Rows, err = design.OneAtATime(levels)
	default:
		p.Stop(n, "design: %s, %s", yamlfile.Quote(name), wantDesign)
	}
	p.Check(err, n, "design: %w")
}

// fits refuses a design, before its rows are allocated, if they have more levels than a design may.
func (p *parser) fits(n ast.Node, rows int) {
	if factors := len(p.study.Factors); factors > 0 && rows > maxCells/factors {
		p.Stop(n, "design: %d rows of %d factors, at most %d levels in all", rows, factors, maxCells)
	}
}

// noRanges refuses ranges in designs that need levels.
func (p *parser) noRanges(name string) {
	for _, f := range p.study.Factors {
		if r, isRange := p.ranges[f.Name]; isRange {
			p.Stop(r.node, "factors: %s: design %s needs levels, not a range: that is for a latin hypercube", f.Name, name)
		}
	}
}

// fractional reads 1/2, 1/4 and so on.
func (p *parser) fractional(e yamlfile.Entry) {
	text := p.Text(e.Value, "fractional")
	p.noRanges("fractional")
	// The fraction is a power of two: each dropped factor halves the design.
	below, ok := strings.CutPrefix(text, "1/")
	part, err := strconv.Atoi(below)
	if !ok || err != nil || part < 2 || bits.OnesCount(uint(part)) != 1 {
		p.Stop(e.Value, "design: fractional %s, want 1/2, 1/4, 1/8 and so on", yamlfile.Quote(text))
	}
	for _, f := range p.study.Factors {
		if len(f.Levels) != 2 {
			p.Stop(e.Node, "design: fractional is for factors with 2 levels, and %s has %d", f.Name, len(f.Levels))
		}
	}
	// The design has the highest resolution that is found; its name tells the generators.
	f, err := design.NewFractional(len(p.study.Factors), bits.Len(uint(part))-1)
	p.Check(err, e.Value, "design: %w")
	p.study.Rows = f.Rows
	p.study.Design = fmt.Sprintf("fractional %s of resolution %d (%s)", text, f.Resolution,
		strings.Join(f.Named(factorNames(p.study.Factors)), ", "))
}

// hypercube makes the levels of ranges, and takes those of lists equally often, as far as that is possible.
func (p *parser) hypercube(e yamlfile.Entry) {
	n := p.Integer(e.Value, "latin hypercube", 2, MaxLevels)
	s := p.study
	if len(s.Factors) == 0 {
		p.Stop(e.Node, "design: a latin hypercube needs factors")
	}
	p.fits(e.Node, n)
	s.Design = fmt.Sprintf("latin hypercube of %d points", n)
	// Each factor has its range, or its list, divided into n equal parts, of which every point takes
	// another one.
	// Coordinates are the middles of n equal parts of (0,1), which lists and ranges map to levels.
	points := design.LatinHypercube(n, len(s.Factors), hypercubeSeed)
	s.Rows = make([][]int, n)
	for i := range s.Rows {
		s.Rows[i] = make([]int, len(s.Factors))
	}
	for f := range s.Factors {
		factor := &s.Factors[f]
		r, isRange := p.ranges[factor.Name]
		factor.Range = isRange
		at := map[string]int{} // levels of a range, by their text: whole numbers may coincide
		for i, row := range s.Rows {
			if !isRange {
				row[f] = int(points[i][f] * float64(len(factor.Levels)))
				continue
			}
			text := r.at(points[i][f])
			level, known := at[text]
			if !known {
				level = len(factor.Levels)
				at[text] = level
				factor.Levels = append(factor.Levels, Level{text, p.set(e.Node, factor.Name, text)})
			}
			row[f] = level
		}
	}
}

// maxWhole bounds whole numbers of a range: below it each is a float64.
const maxWhole = 1 << 53

// span is a range of numbers, of whole ones if both ends are.
type span struct {
	low, high float64
	whole     bool
	node      ast.Node // in the study's file, for errors
}

// parseRange reads the range of a factor, as 1000..4000.
func (p *parser) parseRange(n ast.Node, name, text string) span {
	p.Check(p.study.known(name), n, "factors: %w")
	first, last, _ := strings.Cut(text, "..")
	r := span{node: n}
	var err1, err2 error
	r.low, err1 = strconv.ParseFloat(first, 64)
	r.high, err2 = strconv.ParseFloat(last, 64)
	if err1 != nil || err2 != nil || !(r.low < r.high) || math.IsInf(r.high-r.low, 0) {
		p.Stop(n, "factors: %s: %s, want a range such as 1000..4000", name, yamlfile.Quote(text))
	}
	if r.whole = !strings.ContainsAny(first+last, ".eE"); r.whole && (r.low < -maxWhole || r.high > maxWhole) {
		p.Stop(n, "factors: %s: %s, want whole numbers of at most %d", name, yamlfile.Quote(text), int64(maxWhole))
	}
	return r
}

// at returns the value at a place of (0,1).
func (r *span) at(place float64) string {
	if r.whole {
		return strconv.FormatInt(int64(math.Floor(r.low+float64(place*(r.high-r.low+1)))), 10)
	}
	return strconv.FormatFloat(r.low+float64(place*(r.high-r.low)), 'g', 6, 64)
}

// list reads rows that stand there one by one. The first says which factors there are.
func (p *parser) list(e yamlfile.Entry) {
	s := p.study
	if p.factors != nil || len(s.Factors) > 0 {
		p.Stop(e.Node, "design: a list says itself what is varied: leave factors out")
	}
	items := p.Items(e.Value, "list")
	if len(items) == 0 {
		p.Stop(e.Node, "design: the list is empty")
	}
	s.Design = "list"
	// Levels are numbered in the order in which rows name them.
	// The text is looked up first, as to make a value canonical costs more; lists have thousands of
	// rows.
	known := map[[2]string]int{} // levels, by factor and text, and by factor and value
	for i, item := range items {
		entries := p.Entries(item, "run of the list")
		if i > 0 && len(entries) != len(s.Factors) {
			p.Stop(item, "design: want the factors of the first run of the list: %s; found %d",
				strings.Join(factorNames(s.Factors), ", "), len(entries))
		}
		row := make([]int, len(entries))
		for _, cell := range entries {
			if i == 0 {
				s.Factors = append(s.Factors, Factor{Name: cell.Key})
			}
			j := slices.IndexFunc(s.Factors, func(f Factor) bool { return f.Name == cell.Key })
			if j < 0 {
				p.Stop(cell.Node, "design: %s, want the factors of the first run of the list: %s",
					yamlfile.Quote(cell.Key), strings.Join(factorNames(s.Factors), ", "))
			}
			f := &s.Factors[j]
			text := p.Text(cell.Value, cell.Key)
			key := [2]string{f.Name, text}
			level, ok := known[key]
			if !ok {
				set := p.set(cell.Value, cell.Key, text)
				value := [2]string{f.Name, s.canonical(set)}
				if level, ok = known[value]; !ok { // else it is there in another spelling
					level = len(f.Levels)
					f.Levels = append(f.Levels, Level{text, set})
				}
				known[key], known[value] = level, level
			}
			row[j] = level
		}
		s.Rows = append(s.Rows, row)
	}
}
