package yamlfile

import (
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
	"reprise/kernels/noise"
)

// maxModes is the largest number of modes of a mixture.
const maxModes = 64

// weightSlack is by how much the sum of the weights of a mixture may differ from 1, as published weights are rounded.
const weightSlack = 1e-3

// Noise parses a law of noise, the value of a key noise in a YAML file:
//
//	none
//	normal: SD                          or half-normal
//	normal: [{weight: W, mean: M, sd: SD}, ...]
//
// SD and M are numbers, or percentages of the mean time. If the argument sd is not nil, SD may also be a mapping: Noise
// calls sd to parse it, and returns a law without modes.
func (d *Document) Noise(n ast.Node, what string, sd func(n ast.Node, what string) error) (l noise.Law, err error) {
	defer textutil.Stopped(&err)
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		text, err := d.Text(n, what)
		if err != nil || text != "none" {
			err = d.Errorf(n, "%s: want none, or normal or half-normal with a standard deviation, found %s", what, Describe(n))
		}
		return l, err
	}
	list := textutil.Must(d.Entries(n, what))
	if len(list) != 1 {
		return l, d.Errorf(n, "%s: want one key, normal or half-normal, found %d keys", what, len(list))
	}
	e := list[0]
	switch e.Key {
	case noise.Normal.String():
	case noise.HalfNormal.String():
		l.Shape = noise.HalfNormal
	default:
		return l, d.Errorf(e.Node, "%s: unknown key %s: want normal or half-normal", what, Quote(e.Key))
	}
	what += ": " + e.Key
	switch v := e.Value.(type) {
	case *ast.SequenceNode:
		l.Modes = d.modes(v, what)
	case *ast.MappingNode, *ast.MappingValueNode:
		if sd == nil {
			return l, d.Errorf(v, "%s: want a number, a percentage, or a list of modes, found a mapping", what)
		}
		err = sd(v, what)
	default:
		l.Modes = []noise.Mode{{Weight: 1, SD: textutil.Must(d.Deviation(v, what))}}
	}
	return l, err
}

// modes parses the modes of a mixture and scales their weights to a sum of 1. A mode has a weight, a standard
// deviation, and a mean: its distance from the mean time, 0 if it is not given.
func (d *Document) modes(n ast.Node, what string) []noise.Mode {
	items := textutil.Must(d.Items(n, what))
	if len(items) == 0 || len(items) > maxModes {
		textutil.Stop(d.Errorf(n, "%s: %d modes, want 1 to %d", what, len(items), maxModes))
	}
	modes, sum := make([]noise.Mode, len(items)), 0.0
	for i, item := range items {
		m := &modes[i]
		f := textutil.Must(d.Fields(item, what, "weight", "mean", "sd"))
		for _, key := range []string{"weight", "sd"} {
			if f[key] == nil {
				textutil.Stop(d.Errorf(item, "%s: mode without %s", what, key))
			}
		}
		m.Weight = textutil.Must(d.Number(f["weight"], what+": weight"))
		if !(m.Weight > 0 && m.Weight <= 1) {
			textutil.Stop(d.Errorf(f["weight"], "%s: weight %g, want more than 0 and at most 1", what, m.Weight))
		}
		if f["mean"] != nil {
			m.Mean = textutil.Must(d.amount(f["mean"], what+": mean"))
		}
		m.SD = textutil.Must(d.Deviation(f["sd"], what+": sd"))
		sum += m.Weight
	}
	if math.Abs(sum-1) > weightSlack {
		textutil.Stop(d.Errorf(n, "%s: the weights add up to %.6g, want 1", what, sum))
	}
	for i := range modes {
		modes[i].Weight /= sum
	}
	return modes
}

// Deviation parses an amount >= 0: a number in the unit of the noisy quantity, or a percentage of its mean.
func (d *Document) Deviation(n ast.Node, what string) (noise.Amount, error) {
	a, err := d.amount(n, what)
	if err == nil && (a.Fixed < 0 || a.Relative < 0) {
		err = d.Errorf(n, "%s: want a standard deviation >= 0, found %s", what, Quote(n.GetToken().Value))
	}
	return a, err
}

// amount parses a number or a percentage.
func (d *Document) amount(n ast.Node, what string) (a noise.Amount, err error) {
	defer textutil.Stopped(&err)
	text := textutil.Must(d.Text(n, what))
	percent, ok := strings.CutSuffix(text, "%")
	if !ok {
		v, err := d.Number(n, what)
		if err == nil {
			err = d.within(bounds.Seconds, n, what, v)
		}
		return noise.Amount{Fixed: v}, err
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if err != nil || strings.ContainsAny(percent, "xX_") || math.IsInf(v, 0) || math.IsNaN(v) {
		return noise.Amount{}, d.Errorf(n, "%s: want a number, or a percentage such as 3%%, found %s", what, Quote(text))
	}
	return noise.Amount{Relative: v / 100}, d.within(bounds.Factor.OrZero(), n, what, v/100)
}

// within refuses a number whose size is out of a range.
func (d *Document) within(allowed bounds.Range, n ast.Node, what string, v float64) error {
	if err := allowed.Check("value", math.Abs(v)); err != nil {
		return d.Errorf(n, "%s: %w", what, err)
	}
	return nil
}
