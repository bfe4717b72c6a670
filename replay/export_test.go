package replay

func init() { checkTimes = true }

// Doubts are the warnings of an estimate.
var Doubts = doubts

// SetWork says of which kinds the steps of an estimate are.
func (e *Estimate) SetWork(work []int32, seconds []float64) { e.WindowSteps = e.byKind(work, seconds) }
