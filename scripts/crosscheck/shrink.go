package main

// shrink leaves out of a case that is off whatever it can: groups of actions,
// options, and tolerates no other kind of failure.
func (t *tools) shrink(v *verdict) (*verdict, error) {
	hasty := *t
	hasty.patience = shrinkingPatience
	t = &hasty
	best := v
	for {
		n := best.size()
		var err error
		if best, err = t.dropGroups(best); err != nil {
			return nil, err
		}
		if best, err = t.dropOptions(best); err != nil {
			return nil, err
		}
		if best.size() == n {
			return best, nil
		}
	}
}

func (v *verdict) size() int { return v.c.script.actions() + len(v.c.options) }

// try checks a smaller case and returns its verdict if it is off like the old one.
func (t *tools) try(old *verdict, c *testCase) (*verdict, error) {
	v, err := t.check(c)
	if err != nil || v.refused != nil || !v.bad() || (v.failed == nil) != (old.failed == nil) {
		return nil, err
	}
	return v, nil
}

// dropGroups removes runs of groups, long ones first.
func (t *tools) dropGroups(v *verdict) (*verdict, error) {
	for width := v.c.script.groups; width >= 1; width /= 2 {
		for first := 1; first <= v.c.script.groups; first += width {
			c := *v.c
			c.script = v.c.script.without(func(g int) bool { return g >= first && g < first+width })
			if c.script.actions() == v.c.script.actions() {
				continue
			}
			smaller, err := t.try(v, &c)
			if err != nil {
				return nil, err
			}
			if smaller != nil {
				v = smaller
			}
		}
	}
	return v, nil
}

func (t *tools) dropOptions(v *verdict) (*verdict, error) {
	for i := 0; i < len(v.c.options); {
		c := *v.c
		c.options = append(append([]string(nil), v.c.options[:i]...), v.c.options[i+1:]...)
		smaller, err := t.try(v, &c)
		if err != nil {
			return nil, err
		}
		if smaller == nil {
			i++
		} else {
			v = smaller
		}
	}
	return v, nil
}
