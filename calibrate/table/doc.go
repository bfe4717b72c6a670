// Package table reads tables of measurements: text with a header line and
// columns separated by commas, possibly compressed by gzip. Errors say file and
// line. A reader holds one line at a time, of at most [MaxLine] bytes, whatever
// the file says.
//
//	r, err := table.Open("timings.csv.gz")
//	size, err := r.Column("size", "bytes") // by any of these names
//	for r.Next() == nil {
//		n, err := r.Count(size)
//	}
//
// # Units
//
// Numbers are read as they stand; who asks for a column knows its unit.
//
// # Errors
//
// They begin with file and line; that of [Reader.Next] behind the last row is io.EOF.
//
// # Source
//
// The form is RFC 4180 without line ends inside of quotes, with lines of comment.
package table
