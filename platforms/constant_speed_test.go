package platforms

import (
	"fmt"
	"testing"
)

// TestConstantSpeed: a profile that is one factor from the begin on is the speed of the host;
// what comes later, begins anew or stops the host changes it with time.
func TestConstantSpeed(t *testing.T) {
	for values, want := range map[string]float64{
		"0 0.9": 0.9, "0 2": 2,
		"1 0.9": 0, "0 0.9\n1 1": 0, "0 0": 0, "0 0.9\nLOOPAFTER 1": 0,
	} {
		p := parse(t, fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-2" speed="1Gf" core="2" bw="1GBps" lat="1us"/>
<trace id="t" periodicity="-1">%s</trace><trace_connect kind="SPEED" trace="t" element="n1"/></platform>`, values))
		speed := 1e9
		if want > 0 {
			speed *= want
		}
		if h := p.Host(1); h.Speed != speed || h.Cores != 2 || p.Host(0).Speed != 1e9 || p.Host(2).Speed != 1e9 {
			t.Errorf("%q: hosts %v, %v, %v", values, p.Host(0), h, p.Host(2))
		}
		constant := p.ConstantSpeeds()
		if (len(constant) == 1) != (want > 0) || len(constant)+len(p.Profiles()) != 1 {
			t.Errorf("%q: %d constant, %d changing", values, len(constant), len(p.Profiles()))
		}
		if want > 0 && (constant[0].Factor() != want || constant[0].Target != "n1") {
			t.Errorf("%q: %+v", values, constant[0])
		}
	}
}
