// Package table writes what each rank does in each step of a replay as rows of a table.
//
// A [Recorder] observes a replay and hands a [Row] to a [Writer] whenever a rank has ended a step; of a trace that
// marks no steps there is a row for each rank.
//
//	columns, err := table.ColumnsOf(header)
//	writer := table.NewCSV(file, columns, "noise of seed 1")
//	recorder := table.NewRecorder(columns, hosts, writer)
//	options.Observers = []replay.Observer{recorder.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	recorder.End(false)
//	err = writer.Close()
//
// Rows come in the order in which the ranks end their steps, so that none has to be kept: in
// order for each rank, but not sorted. The order is the same in every run.
//
// # Units
//
// Times are in seconds of the replay, as the names of the columns say; sizes in bytes.
//
// # Errors
//
// A writer keeps its first error for Close; more than MaxColumns columns are one of ColumnsOf.
//
// # Source
//
// CSV: RFC 4180. Parquet: github.com/apache/parquet-format.
package table
