package hosts

import (
	"fmt"

	"reprise/noise"
)

// What draws are for, beyond the uses of a replay: another part of the same seed's
// randomness.
const (
	useClass noise.Use = 0x686f7374 + iota
	useBetween
	useWithin
)

// Limits of draws. A name of a draw has 10 bits for the CPU, 16 for the attempt
// and 6 for the variable.
const (
	maxHosts     = 1 << 20
	mostAttempts = 1 << 10
)

// Drawn is a host, or a CPU of a host, that was drawn.
type Drawn struct {
	Class    int       // index in the model
	Values   []float64 // by variable
	Attempts int       // how often values out of range were drawn again
}

// drawer draws from a model.
type drawer struct {
	*Model
	source            noise.Source
	spatial, temporal [][][]float64 // factors, by class
}

func newDrawer(m *Model, seed uint64) (*drawer, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	d := &drawer{Model: m, source: noise.NewSource(seed)}
	for i := range m.Classes {
		s, err := factor(m.Classes[i].Spatial)
		if err != nil {
			return nil, err
		}
		t, err := factor(m.Classes[i].Temporal)
		if err != nil {
			return nil, err
		}
		d.spatial, d.temporal = append(d.spatial, s), append(d.temporal, t)
	}
	return d, nil
}

// draw returns a unit on a day, which is a function of the seed, the host's number, its
// CPU's, and the day's. On day 0 nothing is added to what the unit is on average. A value
// that no host can have (a time below zero) is drawn again.
func (d *drawer) draw(host, cpu, day int) (*Drawn, error) {
	r := &Drawn{Class: d.class(host, cpu)}
	c := &d.Classes[r.Class]
	mean, err := d.valid(r, c.Mean, d.spatial[r.Class], useBetween, host, cpu, 0)
	if err != nil {
		return nil, err
	}
	r.Values = mean
	if day > 0 {
		r.Values, err = d.valid(r, mean, d.temporal[r.Class], useWithin, host, cpu, day)
	}
	return r, err
}

// class returns the class of a unit.
func (d *drawer) class(host, cpu int) int {
	bits := d.source.Draw(useClass, uint32(host), 0, name(cpu, 0, 0))
	u := float64(bits[0]) * 0x1p-32
	last := len(d.Classes) - 1
	for i := range d.Classes[:last] {
		if u < d.Classes[i].Weight {
			return i
		}
		u -= d.Classes[i].Weight
	}
	return last
}

func name(cpu, attempt, variable int) uint32 {
	return uint32(cpu)<<22 | uint32(attempt)<<6 | uint32(variable)
}

// valid returns center + l·z of the first vector z of standard normal deviates
// with which all values are in range.
func (d *drawer) valid(r *Drawn, center []float64, l [][]float64, use noise.Use, host, cpu, day int) ([]float64, error) {
	x, z := make([]float64, len(center)), make([]float64, len(center))
	for attempt := range mostAttempts {
		for i := range z {
			z[i] = d.source.Draw(use, uint32(host), uint32(day), name(cpu, attempt, i)).Normal()
		}
		for i := range x {
			x[i] = center[i]
			for k := 0; k <= i; k++ {
				x[i] += float64(l[i][k] * z[k])
			}
		}
		if allInRange(d.Variables, x) {
			return x, nil
		}
		r.Attempts++
	}
	return nil, fmt.Errorf("host %d: %d draws of class %q with times below zero: its deviations are too large for its mean", host, mostAttempts, d.Classes[r.Class].Name)
}
