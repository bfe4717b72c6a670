package capture

// item is an element of what a rank does: a step, or a loop with a number of turns.
type item struct {
	what  int32 // number of the step, or of the loop
	turns int32 // 0: a step
}

// loops are the bodies of loops, those that are equal once.
type loops struct {
	bodies  [][]item
	numbers map[string]int32
}
