package yamlfile

import (
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/bounds"
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
func (d *Document) Noise(n ast.Node, what string, sd func(n ast.Node, what string)) (l noise.Law) {
	if text, ok := n.(*ast.StringNode); ok && text.Value == "none" {
		return l
	}
	if kind := Describe(n); kind != "a mapping" {
		d.Stop(n, "%s: want none, or normal or half-normal with a standard deviation, found %s", what, kind)
	}
	list := d.Entries(n, what)
	if len(list) != 1 {
		d.Stop(n, "%s: want one key, normal or half-normal, found %d keys", what, len(list))
	}
	e := list[0]
	switch e.Key {
	case noise.Normal.String():
	case noise.HalfNormal.String():
		l.Shape = noise.HalfNormal
	default:
		d.Stop(e.Node, "%s: unknown key %s: want normal or half-normal", what, Quote(e.Key))
	}
	what += ": " + e.Key
	switch v := e.Value.(type) {
	case *ast.SequenceNode:
		l.Modes = d.modes(v, what)
	case *ast.MappingNode, *ast.MappingValueNode:
		if sd == nil {
			d.Stop(v, "%s: want a number, a percentage, or a list of modes, found a mapping", what)
		}
		sd(v, what)
	default:
		l.Modes = []noise.Mode{{Weight: 1, SD: d.Deviation(v, what)}}
	}
	return l
}

// modes parses the modes of a mixture and scales their weights to a sum of 1. A mode has a weight, a standard
// deviation, and a mean: its distance from the mean time, 0 if it is not given.
func (d *Document) modes(n ast.Node, what string) []noise.Mode {
	items := d.Items(n, what)
	if len(items) == 0 || len(items) > maxModes {
		d.Stop(n, "%s: %d modes, want 1 to %d", what, len(items), maxModes)
	}
	modes, sum := make([]noise.Mode, len(items)), 0.0
	for i, item := range items {
		m := &modes[i]
		f := d.Fields(item, what, "weight!", "mean", "sd!")
		m.Weight = d.Number(f["weight"], what+": weight")
		if !(m.Weight > 0 && m.Weight <= 1) {
			d.Stop(f["weight"], "%s: weight %g, want more than 0 and at most 1", what, m.Weight)
		}
		if f["mean"] != nil {
			m.Mean = d.amount(f["mean"], what+": mean")
		}
		m.SD = d.Deviation(f["sd"], what+": sd")
		sum += m.Weight
	}
	if math.Abs(sum-1) > weightSlack {
		d.Stop(n, "%s: the weights add up to %.6g, want 1", what, sum)
	}
	for i := range modes {
		modes[i].Weight /= sum
	}
	return modes
}

// Deviation parses an amount >= 0: a number in the unit of the noisy quantity, or a percentage of its mean.
func (d *Document) Deviation(n ast.Node, what string) noise.Amount {
	a := d.amount(n, what)
	if a.Fixed < 0 || a.Relative < 0 {
		d.Stop(n, "%s: want a standard deviation >= 0, found %s", what, Quote(n.GetToken().Value))
	}
	return a
}

// amount parses a number or a percentage.
func (d *Document) amount(n ast.Node, what string) noise.Amount {
	text := d.Text(n, what)
	percent, ok := strings.CutSuffix(text, "%")
	if !ok {
		v := d.Number(n, what)
		d.Within(bounds.Seconds, n, what, v)
		return noise.Amount{Fixed: v}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if err != nil || strings.ContainsAny(percent, "xX_") || math.IsInf(v, 0) || math.IsNaN(v) {
		d.Stop(n, "%s: want a number, or a percentage such as 3%%, found %s", what, Quote(text))
	}
	d.Within(bounds.Factor.OrZero(), n, what, v/100)
	return noise.Amount{Relative: v / 100}
}

// Within refuses a number whose size is out of a range.
func (d *Document) Within(allowed bounds.Range, n ast.Node, what string, v float64) {
	d.Check(allowed.Check("value", math.Abs(v)), n, "%s: %w", what)
}
