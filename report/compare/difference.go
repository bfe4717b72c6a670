package compare

// Verdict says what is known of a difference.
type Verdict string

// Verdicts.
const (
	Equal   Verdict = "equal"
	More    Verdict = "more" // B is more than A: without noise, or by a test at 5 %
	Less    Verdict = "less"
	Unclear Verdict = "unclear" // they differ by no more than noise may
)

// Interval is that of a difference, or of a relative one.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// minus returns an interval that is as much lower.
func (i Interval) minus(x float64) *Interval { return &Interval{i.Low - x, i.High - x} }

// Difference is that of a figure from A, the base, to B. Intervals and probabilities are nil
// where nothing scatters, and where it is not known how much.
type Difference struct {
	Name       string    `json:"name"`
	A          float64   `json:"a"`
	B          float64   `json:"b"`
	Difference float64   `json:"difference"` // B - A
	Interval   *Interval `json:"interval,omitempty"`
	// Relative is B/A - 1, nil where A is 0.
	Relative         *float64  `json:"relative,omitempty"`
	RelativeInterval *Interval `json:"relative_interval,omitempty"`
	// AtLeast, of the makespan, is what Relative is above with 95 % confidence: one limit, to be
	// held against a threshold.
	AtLeast *float64 `json:"relative_at_least,omitempty"`
	P       *float64 `json:"p,omitempty"`
	Holm    *float64 `json:"p_holm,omitempty"` // of parts: P corrected for their number
	Verdict Verdict  `json:"verdict"`
}

// compare compares a figure of A with that of B.
func (t *tester) compare(name string, a, b figure) Difference {
	if t.tell != nil {
		defer t.tell()
	}
	p := t.pair(a, b)
	d := Difference{Name: name, A: a.mean, B: b.mean, Difference: b.mean - a.mean}
	if a.mean > 0 {
		relative := b.mean/a.mean - 1
		d.Relative = &relative
	}
	switch {
	case p.exact() && p.equal():
		d.Verdict = Equal
	case p.exact():
		d.judge(0)
	case !p.known():
		d.Verdict = Unclear
	default:
		if i, ok := p.difference(significance / 2); ok {
			d.Interval = &i
		}
		if i, ok := p.ratio(significance / 2); ok {
			d.RelativeInterval = i.minus(1)
		}
		probability := p.pValue()
		d.P = &probability
		d.judge(probability)
	}
	return d
}

// judge says what follows from the probability that a difference is none.
func (d *Difference) judge(p float64) {
	switch {
	case p > significance:
		d.Verdict = Unclear
	case d.Difference > 0:
		d.Verdict = More
	default:
		d.Verdict = Less
	}
}

// atLeast returns what the relative slowdown is above with 95 % confidence; nil where A takes no
// time, or may.
func (t *tester) atLeast(a, b figure) *float64 {
	p := t.pair(a, b)
	if a.mean <= 0 {
		return nil
	}
	limit := b.mean/a.mean - 1
	switch {
	case !p.known(), p.exact() && !p.equal():
	case p.exact():
		limit = 0
	default:
		i, ok := p.ratio(significance)
		if !ok {
			return nil
		}
		limit = i.Low - 1
	}
	return &limit
}

// correct corrects the probabilities of parts for their number.
func correct(parts []*Difference) {
	var tested []*Difference
	var p []float64
	for _, d := range parts {
		if d.P != nil {
			tested, p = append(tested, d), append(p, *d.P)
		}
	}
	for i, adjusted := range holm(p) {
		tested[i].Holm = &adjusted
		tested[i].judge(adjusted)
	}
}
