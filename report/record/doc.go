// Package record records what a report shows of a replay, while it runs: where the time of
// ranks goes step by step, who sends to whom, and how the links are used.
//
//	r, err := record.New(record.Options{Header: t.Header(), Machine: machine, Replay: options})
//	options.Observers = []replay.Observer{r.Observer()}
//	result, err := replay.Run(ctx, t, machine, options)
//	data, err := r.Data()
//
// It keeps sums, of which there are no more however long a run is: for each rank what it is
// spending its time on in this step, for each step the sums over ranks, a matrix of ranks by
// steps that grows coarser (Matrix.ColumnsPerCell), matrices of traffic of at most 512 rows,
// and the load of each link in slices of time, which grow wider. A replay may begin at a
// checkpoint and may end early: it is recorded from where it begins up to where it ends.
//
// # Units
//
// Seconds, bytes, and shares of 1.
//
// # Errors
//
// Those of options that do not fit each other, as hosts for another number of ranks, and of
// routes that the platform does not have.
//
// # Source
//
// None: it adds up what package replay reports to an Observer.
package record
