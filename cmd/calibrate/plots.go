package main

import (
	"fmt"
	"io"
	"path/filepath"

	"reprise/calibrate"
	"reprise/calibrate/charts"
	"reprise/internal/atomicfile"
)

// writePlots draws each series into a file of its own in dir, which is made if
// it is not there.
func writePlots(dir, format string, list []calibrate.Series) error {
	if err := atomicfile.MakeDir(dir); err != nil {
		return fmt.Errorf("plots: %w", err)
	}
	for _, s := range list {
		path := filepath.Join(dir, s.Name+"."+format)
		if err := atomicfile.Write(path, func(w io.Writer) error { return charts.Write(w, s, format) }); err != nil {
			return fmt.Errorf("plots: %w", err)
		}
	}
	return nil
}
