package replay

import "testing"

func init() { checkTimes = true }

// Doubts are the warnings of an estimate.
var Doubts = doubts

// Turns is after how many steps ranks have the same part again.
var Turns = turns

// SetWork says of which kinds the steps of an estimate are.
func (e *Estimate) SetWork(work []int32, seconds []float64) { e.WindowSteps = e.byKind(work, seconds) }

// noError ends a test at an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Drawn returns the machine, and the options, that Uncertain draws with a seed for all causes together.
func Drawn(m Machine, o Options, seed uint64) (Machine, Options) {
	causes := drawNoise | drawCalibration | drawHosts
	if m.Kernels.NetworkError() > 0 {
		causes |= drawNetwork
	}
	return draw(m, o, causes, seed)
}
