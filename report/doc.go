// Package report is what people see of a replay: one HTML file with a picture of where the
// time went, and its numbers as data.
//
//	err := report.Write(w, data)        // one run
//	err := report.Write(w, old, new)    // two, on the same axes
//	err := report.WriteCompared(w, comparison, old, new)  // and what differs
//	runs, err := report.Read(page)      // a page's data again
//
// A page asks nothing of a network: style, programs and data are in it. Data is what its
// makers have recorded (report/record, path, timeline and pop); a part that is nil is left out.
//
// # Units
//
// Seconds, bytes, Gflop/s; shares are of 1.
//
// # Errors
//
// Read returns [ErrNoReport] if the file is no page of ours, and [ErrVersion] of a page of another version.
//
// # Source
//
// The colours are those of M. Okabe and K. Ito, Color Universal Design, 2008; the keys are
// Perfetto's; curves are drawn by uPlot, whose licence stands in page/uPlot.LICENSE.
package report
