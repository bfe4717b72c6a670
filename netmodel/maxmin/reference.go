package maxmin

import "math"

// reference is the plain solver: progressive filling over everything that was added to it, with the tolerances and
// in the order of arithmetic of SimGrid (src/kernel/lmm, maxmin.cpp):
//
//	remaining[c] = capacity;  usage[c] = sum of w/p over its variables (max on a FATPIPE)
//	while a constraint with usage > 0 is left:
//	    m = the smallest remaining/usage; V = the unfixed variables on constraints that reach m
//	    if a variable of V has bound*p < m: fix those with the smallest, at the bound
//	    else fix all of V at share m/p
//	    take what was fixed from remaining and usage; drop constraints that are used up
//
// It is kept plain on purpose: it says what the answer is. The local solver uses it where variables of different usages
// meet on a FATPIPE, because there the answer depends on the order of the roundings.
type reference struct {
	constraints []refConstraint
	variables   []refVariable
	elements    []refElement
	// scratch of one step
	saturated []int32
	chosen    []int32
}

// refConstraint is one constraint.
type refConstraint struct {
	capacity  float64
	remaining float64 // capacity that is not yet given away
	usage     float64 // of the unfixed variables
	floor     float64 // of usage, below which it is summed anew; 0: never
	first     int32   // first element, chained by refElement.nextOnConstraint; -1 at the end
	fatpipe   bool
	active    bool
}

// refVariable is one variable. Its elements follow each other from index firstElement on.
type refVariable struct {
	penalty      float64
	bound        float64
	share        float64 // the result
	firstElement int32
	numElements  int32
	constraint   int32 // the constraint that it was fixed on, -1 if at its bound
	chosen       bool  // is in V now
	fixed        bool
}

// refElement is one variable on one constraint.
type refElement struct {
	constraint, variable int32
	nextOnConstraint     int32
	usage                float64 // weight / penalty
}

func (r *reference) reset() {
	r.constraints, r.variables, r.elements = r.constraints[:0], r.variables[:0], r.elements[:0]
}

// addConstraint adds a constraint of capacity byte/s and returns its index.
func (r *reference) addConstraint(capacity float64, fatpipe bool) int32 {
	r.constraints = append(r.constraints, refConstraint{capacity: capacity, first: -1, fatpipe: fatpipe})
	return int32(len(r.constraints) - 1)
}

// use makes the variable that was added last use constraint with usage weight/penalty. It
// is called at most once per constraint and variable.
func (r *reference) use(constraint int32, usage float64) {
	variable := int32(len(r.variables) - 1)
	r.elements = append(r.elements, refElement{constraint: constraint, variable: variable,
		nextOnConstraint: r.constraints[constraint].first, usage: usage})
	r.constraints[constraint].first = int32(len(r.elements) - 1)
	r.variables[variable].numElements++
}

// solve computes the shares of all variables. eps is maxmin/precision. Flows without
// constraints get their bound. With careful, usages of which little is left are summed anew, which SimGrid does
// not: what it subtracts from a large sum loses the digits of a small rest.
func (r *reference) solve(eps float64, careful bool) {
	for i := range r.variables {
		v := &r.variables[i]
		v.share, v.fixed = v.bound, v.numElements == 0
	}
	for i := range r.constraints {
		c := &r.constraints[i]
		c.remaining = c.capacity
		c.usage = r.usageOf(c)
		c.active = c.usage > 0
		if careful && !c.fatpipe {
			c.floor = smallRemaining * c.usage
		}
	}
	for {
		m := r.level()
		if math.IsInf(m, 1) {
			return
		}
		r.choose(m)
		if len(r.chosen) == 0 { // usage is a rest of rounding
			for _, c := range r.saturated {
				r.constraints[c].active = false
			}
		}
		r.fixChosen(m, eps)
	}
}

// usageOf returns the sum, or on a FATPIPE the max, of the usages of the variables on c that are not fixed.
func (r *reference) usageOf(c *refConstraint) float64 {
	usage := 0.0
	for e := c.first; e >= 0; e = r.elements[e].nextOnConstraint {
		switch {
		case r.variables[r.elements[e].variable].fixed:
		case c.fatpipe:
			usage = max(usage, r.elements[e].usage)
		default:
			usage += r.elements[e].usage
		}
	}
	return usage
}

// level returns the smallest remaining/usage of the active constraints and lists those that
// reach it in r.saturated; +Inf if no constraint is active.
func (r *reference) level() float64 {
	m := math.Inf(1)
	r.saturated = r.saturated[:0]
	for i := range r.constraints {
		c := &r.constraints[i]
		if !c.active {
			continue
		}
		level := c.remaining / c.usage
		if level < m {
			m = level
			r.saturated = r.saturated[:0]
		}
		if level == m {
			r.saturated = append(r.saturated, int32(i))
		}
	}
	return m
}

// choose puts into r.chosen the variables to fix at level m: those on the saturated constraints.
func (r *reference) choose(m float64) {
	r.chosen = r.chosen[:0]
	for _, c := range r.saturated {
		for e := r.constraints[c].first; e >= 0; e = r.elements[e].nextOnConstraint {
			v := &r.variables[r.elements[e].variable]
			if !v.fixed && !v.chosen {
				v.chosen, v.constraint = true, c
				r.chosen = append(r.chosen, r.elements[e].variable)
			}
		}
	}
}

// fixChosen fixes the chosen variables at level m, or, if some have their bounds
// below, only those with the lowest bound.
func (r *reference) fixChosen(m, eps float64) {
	lowest := math.Inf(1)
	for _, i := range r.chosen {
		v := &r.variables[i]
		if b := v.bound * v.penalty; b < m {
			lowest = min(lowest, b)
		}
	}
	for _, i := range r.chosen {
		v := &r.variables[i]
		v.chosen = false
		switch {
		case math.IsInf(lowest, 1):
			r.fix(v, m/v.penalty, eps)
		case math.Abs(float64(v.bound*v.penalty)-lowest) < eps || v.bound*v.penalty == lowest:
			v.constraint = -1
			r.fix(v, v.bound, eps)
		}
	}
}

// fix gives v its share and takes it from v's constraints.
func (r *reference) fix(v *refVariable, share, eps float64) {
	v.share, v.fixed = share, true
	for _, use := range r.elements[v.firstElement : v.firstElement+v.numElements] {
		c := &r.constraints[use.constraint]
		if c.fatpipe {
			c.usage = r.usageOf(c)
		} else {
			c.remaining -= float64(use.usage * v.penalty * share)
			if c.remaining < c.capacity*eps {
				c.remaining = 0
			}
			c.usage -= use.usage
			if c.usage < c.floor {
				c.usage = r.usageOf(c)
				c.floor = smallRemaining * c.usage
			}
			if c.usage < eps {
				c.usage = 0
			}
		}
		if c.usage <= eps || c.remaining <= c.capacity*eps {
			c.active = false
		}
	}
}
