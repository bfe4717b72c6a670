package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// measurementEnding is how far a measurement, of kernels or of messages, has come.
type measurementEnding struct {
	how              string // complete, interrupted, ...
	timings, planned int
	interrupted      bool
	failure          error // of a process, after the timings that there are
}

func (e *measurementEnding) String() string {
	if e.failure != nil {
		return fmt.Sprintf("failed after %d of %d timings: %v", e.timings, e.planned, e.failure)
	}
	return fmt.Sprintf("%s after %d of %d timings", e.how, e.timings, e.planned)
}

// write writes the table, then the report. Of a measurement that was interrupted, or
// failed, it keeps what there is, and says so.
func (e *measurementEnding) write(c *cli.Context, table func(io.Writer) error, report any, text func(io.Writer) error) error {
	if e.timings == 0 {
		return fmt.Errorf("%s: nothing to write", e)
	}
	written, err := writeOutputs(c, output{what: "table", path: c.String("output"), content: table})
	if err == nil && !written {
		err = printReport(c, report, text)
	}
	switch {
	case err != nil:
	case e.failure != nil:
		err = fmt.Errorf("%w; the table has the %d of %d timings before", e.failure, e.timings, e.planned)
	case e.interrupted:
		err = fmt.Errorf("%s, which were written", e)
	}
	return err
}
