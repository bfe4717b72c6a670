package tune

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"reprise/study"
	"reprise/tracegen/hpl"
)

// Request says what is to be tuned.
type Request struct {
	// Settings are what all runs have: the machine, and any other word of a study's file.
	Settings []study.Setting
	// Dat is an HPL.dat, whose lists are what comes into question; "": grids, block sizes, depths,
	// broadcasts and swaps that are usual.
	Dat string

	// Without Dat: the order of the matrix, 0: as Memory and Fill say; and the number of ranks, or of
	// nodes, all of whose cores get ranks; both 0: all nodes.
	N, Ranks, Nodes int

	Memory float64 // of a node; 0: enough
	Fill   float64 // the share of it that the matrix takes
}

// Study returns the study of all configurations that come into question, and how many others were
// left out since they would not fit into the memory.
func (r *Request) Study() (s *study.Study, leftOut int, err error) {
	text, err := r.file()
	if err != nil {
		return nil, 0, err
	}
	if s, err = study.Parse(strings.NewReader(text), "study tune"); err != nil {
		return nil, 0, err
	}
	leftOut, err = r.leaveOut(s)
	return s, leftOut, err
}

// file returns the file of the study.
func (r *Request) file() (string, error) {
	var parameters, options, machine strings.Builder
	for _, s := range r.Settings {
		to, indent := &parameters, "  "
		switch {
		case study.OfMachine(s.Word):
			to, indent = &machine, ""
		case strings.Contains(s.Word, "/"):
			to = &options
		}
		fmt.Fprintf(to, "%s%s: %s\n", indent, strconv.Quote(s.Word), strconv.Quote(s.Value))
	}
	factors := ""
	if r.Dat != "" {
		if err := r.checkDat(); err != nil {
			return "", err
		}
		fmt.Fprintf(&machine, "hpl-dat: %s\n", strconv.Quote(r.Dat))
	} else {
		u, err := r.usual()
		if err != nil {
			return "", err
		}
		if r.setting("ranks-per-host") == "" { // nodes are filled, one after the other
			fmt.Fprintf(&machine, "ranks-per-host: %d\n", u.perHost)
		}
		parameters.WriteString(u.parameters)
		factors = u.factors
	}
	text := "program: hpl\n" + machine.String()
	for _, part := range []struct{ key, text string }{{"parameters", parameters.String()}, {"options", options.String()},
		{"factors", factors}} {
		if part.text != "" {
			text += part.key + ":\n" + part.text
		}
	}
	return text, nil
}

// checkDat refuses lists of an HPL.dat that cannot be tuned within.
func (r *Request) checkDat() error {
	if r.N != 0 || r.Ranks != 0 || r.Nodes != 0 {
		return errors.New("an HPL.dat says N, P and Q itself: leave the order, the ranks and the nodes out, or the HPL.dat")
	}
	text, err := os.ReadFile(r.Dat)
	if err != nil {
		return err
	}
	dat, err := hpl.ReadDat(bytes.NewReader(text), r.Dat)
	if err != nil {
		return err
	}
	if odd := dat.Warnings(); len(odd) > 0 {
		return fmt.Errorf("%s; a study wants a file that says what HPL reads", odd[0])
	}
	for _, l := range dat.Lists() {
		for _, word := range l.Names {
			if r.setting(word) != "" {
				return fmt.Errorf("%s says %s itself: leave the setting of %s out", r.Dat, word, word)
			}
		}
		if slices.Equal(l.Names, []string{"N"}) && len(l.Values) > 1 {
			return fmt.Errorf("%s: N has %d values: what is tuned solves one system; leave one of them", r.Dat, len(l.Values))
		}
	}
	if n := dat.Combinations(); n < 2 {
		return fmt.Errorf("%s: its lists have one value each: there is nothing to choose", r.Dat)
	}
	places, err := r.places()
	if err != nil {
		return err
	}
	for k := range dat.Combinations() {
		if p, err := dat.Combination(k + 1); err != nil {
			return fmt.Errorf("%s: %w", r.Dat, err)
		} else if ranks := int64(p.P) * int64(p.Q); places.finite() && ranks > places.ranks() {
			return fmt.Errorf("%s: P = %d times Q = %d is %d ranks, and %s has room for %d", r.Dat, p.P, p.Q, ranks, places.name,
				places.ranks())
		}
	}
	return nil
}
