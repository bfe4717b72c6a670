package study

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// Study is what a study is to find out, as its file says it.
type Study struct {
	File      string // its name, for messages
	Program   string // hpl, hpcg, or the file of a trace, by its name in the study's file
	Fixed     []Setting
	Factors   []Factor
	Rows      [][]int // of the design: a level of each factor
	Design    string  // which that is, for people
	Tolerance float64 // half-width of each estimate's interval, relative; 0: exact
	Seeds     []uint64
	Responses Responses // what is found out of each run beside its times

	parameters
	trace *Input // of which all runs are replays; nil: the program makes their traces
}

// Responses are what is found out of a run if it is asked for: it takes longer then.
type Responses struct {
	CriticalPath bool `json:"critical_path,omitempty"` // what the longest chain of computations and messages consists of
	POP          bool `json:"pop,omitempty"`           // POP's efficiencies, by two further replays
}

// list names the responses.
func (r Responses) list() []string {
	var names []string
	if r.CriticalPath {
		names = append(names, responsePath)
	}
	if r.POP {
		names = append(names, responsePOP)
	}
	return names
}

// Names of responses in files.
const (
	responsePath = "critical-path"
	responsePOP  = "pop"
)

// Factor is something that is varied.
type Factor struct {
	Name   string  `json:"name"`
	Levels []Level `json:"levels"`
	// Range: levels are places of a range of numbers, in the order in which they come.
	Range bool `json:"range,omitempty"`
}

// Level is one of the values of a factor.
type Level struct {
	Label    string    `json:"label"`
	Settings []Setting `json:"settings"`
}

// settings returns what a row of the design sets.
func settings(fixed []Setting, factors []Factor, row []int) []Setting {
	list := slices.Clone(fixed)
	for f, level := range row {
		list = append(list, factors[f].Levels[level].Settings...)
	}
	return list
}

// factorNames returns the names of the factors.
func (s *Study) factorNames() []string {
	var names []string
	for _, f := range s.Factors {
		names = append(names, f.Name)
	}
	return names
}

// describe names the levels of a row, as "NB 64, DEPTH 0".
func describe(factors []Factor, row []int) string {
	var parts []string
	for f, level := range row {
		parts = append(parts, factors[f].Name+" "+factors[f].Levels[level].Label)
	}
	if len(parts) == 0 {
		return "without factors"
	}
	return strings.Join(parts, ", ")
}

// configs returns the configuration of each row, or an error that names the row.
func (s *Study) configs() ([]*Config, error) {
	list := make([]*Config, len(s.Rows))
	for i := range s.Rows {
		c, err := s.Config(i)
		if err != nil {
			return nil, err
		}
		list[i] = c
	}
	return list, nil
}

// errorOf names the row of the design that an error is of.
func (s *Study) errorOf(row int, err error) error {
	return fmt.Errorf("%s: run %d (%s): %w", s.File, row+1, describe(s.Factors, s.Rows[row]), textutil.OneLine(err))
}

// Config returns the configuration of a row of the design.
func (s *Study) Config(row int) (*Config, error) {
	c, err := s.config(settings(s.Fixed, s.Factors, s.Rows[row]))
	if err != nil {
		return nil, s.errorOf(row, err)
	}
	return c, nil
}
