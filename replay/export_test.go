package replay

func init() { checkTimes = true }

// Doubts are the warnings of an estimate.
var Doubts = doubts
