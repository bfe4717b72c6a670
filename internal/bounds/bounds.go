// Package bounds has the ranges of the quantities of machines: far wider than any machine, but not wider than
// arithmetic in doubles and a replay of finite length can handle. A value outside is a mistake in a file, such as a
// missing unit.
//
// [Range.Check] returns an error that says what is allowed; the reader of a file puts file and line before it. Whether
// a possible machine is a likely one is left to the user.
package bounds

import (
	"fmt"
	"math"
)

// A Range is the values that a quantity may have, both ends included.
type Range struct {
	Low, High float64
	Unit      string // behind values in messages, "" for numbers without one
}

// The quantities of a machine.
var (
	Latency   = Range{0, 1e9, "s"}          // 32 years: an example of SimGrid's has 24 days
	Bandwidth = Range{1e-6, 1e60, "byte/s"} // a byte in 12 days; beyond machines, as files say so for what is never full
	Speed     = Range{1e-6, 1e27, "flop/s"} // of a core
	Seconds   = Range{0, 1e9, "s"}          // of anything that is done
	PerByte   = Range{0, 1e6, "s/byte"}
	Bytes     = Range{0, 1e18, "byte"}
	Factor    = Range{1e-9, 1e9, ""} // of a latency or bandwidth
	Flop      = Range{0, 1e30, "flop"}
)

// Check returns an error that says what is allowed, if v is not. what names the quantity.
func (r Range) Check(what string, v float64) error {
	if v >= r.Low && v <= r.High {
		return nil
	}
	unit := r.Unit
	if unit != "" {
		unit = " " + unit
	}
	if math.IsNaN(v) {
		return fmt.Errorf("%s is not a number", what)
	}
	return fmt.Errorf("%s %g%s, want %g to %g%s", what, v, unit, r.Low, r.High, unit)
}

// OrZero is the range with 0 in it, for what then is not there.
func (r Range) OrZero() Range {
	r.Low = min(r.Low, 0)
	return r
}
