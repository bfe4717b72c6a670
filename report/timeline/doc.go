// Package timeline tells what ranks do when, action by action, from a replay that it
// watches.
//
// A [Recorder] observes a replay: it makes slices, one for each action of a rank, and messages
// between them, within a [Span] of steps or time and of
// ranks, and hands them to a [Sink] as they come. A Format is a sink that writes a file for
// other programs; a [Collector] keeps a [Window] for the page of a report.
//
//	format, zipped, err := timeline.FormatOf("run.pftrace")
//	sink := format.Sink(file, &timeline.Run{Header: header, Hosts: hosts, Span: span})
//	recorder := timeline.NewRecorder(header, span, sink)
//	options.Observers = []replay.Observer{recorder.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	recorder.End()
//	err = sink.Close()
//
// Memory is that of the ranks, of the messages and requests that are open, and of a sink:
// that of Pajé keeps the whole file, whose events must be in the order of time.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes. Perfetto has whole
// nanoseconds, to which times are rounded: their order stays.
//
// # Errors
//
// A sink keeps its first error, of writing or of a time that its format cannot hold, for
// Close, and tells Run.Fail at once, so that a replay need not go on in vain.
//
// # Source
//
// Perfetto: perfetto_trace.proto and "Writing TrackEvent Protos Synthetically" of its
// documentation. Pajé: "The Paje trace
// file format" by L. Schnorr, B. de Oliveira Stein, J. Chassin de Kergommeaux and G. Mounié.
package timeline
