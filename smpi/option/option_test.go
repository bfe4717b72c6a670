package option

import (
	"fmt"
	"strings"
	"testing"
)

type plan struct {
	trees  int64
	height float64
	fenced bool
	soil   soil
	beds   bed
}

type soil uint8

type bed struct{ roses float64 }

func upTo(high float64) func(float64) error {
	return func(v float64) error {
		if v > high {
			return fmt.Errorf("%v, want at most %v", v, high)
		}
		return nil
	}
}

var table = append(Table[plan]{
	Bytes("garden/trees", "", func(p *plan) *int64 { return &p.trees }),
	Number("garden/height", "", upTo(3e6), func(p *plan) *float64 { return &p.height }),
	YesNo("garden/fenced", "", func(p *plan) *bool { return &p.fenced }),
	Choice("garden/soil", "", []string{"sand", "clay", "loam"}, func(p *plan) *soil { return &p.soil }),
	Only[plan]("garden/gate", "", "shut"),
	Idle[plan]("garden/sign"),
}, Of(Table[bed]{
	Then(Number("garden/roses", "", upTo(10), func(b *bed) *float64 { return &b.roses }), func(b *bed) { b.roses *= 2 }),
}, func(p *plan) *bed { return &p.beds })...)

// TestApply: what is set is what is read back, and mistakes say what is wanted.
func TestApply(t *testing.T) {
	for _, c := range []struct{ name, value, got, want string }{
		{"trees", " 12 ", "12", ""},
		{"trees", "1.5", "", `option garden/trees: "1.5" is not a number of bytes`},
		{"height", "2e6", "2000000", ""},
		{"height", "0.00001", "1e-05", ""},
		{"height", "-1", "", `"-1" is not a number >= 0`},
		{"height", "4e6", "", "4e+06, want at most 3e+06"},
		{"fenced", "On", "yes", ""},
		{"fenced", "maybe", "", `"maybe" is neither yes nor no`},
		{"soil", "loam", "loam", ""},
		{"soil", "peat", "", `"peat", want sand, clay or loam`},
		{"gate", "shut", "", ""},
		{"gate", "open", "", `"open", want shut: no other is modelled`},
		{"sign", "anything", "", ""},
		{"roses", "4", "8", ""},
		{"roses", "11", "", "option garden/roses: 22, want at most 10"},
	} {
		var p plan
		opt := table.Find("garden/" + c.name)
		err := opt.Apply(&p, c.value)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %q: %v, want %q", c.name, c.value, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %q: %v", c.name, c.value, err)
		}
		if opt.Get != nil && opt.Get(&p) != c.got {
			t.Errorf("%s %q: got %q, want %q", c.name, c.value, opt.Get(&p), c.got)
		}
	}
	if table.Find("garden/shed") != nil {
		t.Error("an option that does not exist is found")
	}
}

// TestValidate: all that is wrong is told.
func TestValidate(t *testing.T) {
	p := plan{height: 9e6, soil: 7, beds: bed{11}}
	err := table.Validate(&p)
	for _, want := range []string{"garden/height: 9e+06", "garden/soil: unknown choice 7, want 0 to 2", "garden/roses: 11"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := table.Validate(&plan{}); err != nil {
		t.Error(err)
	}
}
