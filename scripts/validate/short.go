package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
)

// short replays the published points in dahu.csv of a directory with the built-in
// machine and kernel sets and prints how far off they are. The error says how many
// exceed their limits.
func short(l *runner, dir string, w io.Writer) error {
	s, err := readSheet(filepath.Join(dir, "dahu.csv"), "model", "kernels", "matrix_size", "smpi_gflops", "real_gflops", "limit")
	if err != nil {
		return err
	}
	var points []point
	var limits []float64
	for _, r := range s.rows {
		points = append(points, point{
			labels: []string{r.text("model"), r.text("matrix_size")},
			run: run{hpl: dahuFlags(r.whole("matrix_size"), 128, 32, 32, "2rg", 1, "bin"), platform: "dahu", kernels: r.text("kernels"),
				flags: "--cfg reprise/bw-factor:bound"},
			smpi: r.number("smpi_gflops"), real: r.number("real_gflops"),
		})
		limits = append(limits, r.number("limit"))
	}
	if s.err != nil {
		return s.err
	}
	if err := l.replayPoints(points); err != nil {
		return err
	}
	if _, err := fmt.Fprint(w, pointTable([]string{"model", "N"}, points)); err != nil {
		return err
	}
	return check(points, limits)
}

// check returns an error if points are further from SMPI's than their limits.
func check(points []point, limits []float64) error {
	beyond := 0
	for i, p := range points {
		if !(math.Abs(relative(p.ours, p.smpi)) <= limits[i]) {
			beyond++
		}
	}
	if beyond > 0 {
		return fmt.Errorf("%d of %d points are further from SMPI's than their limit", beyond, len(points))
	}
	return nil
}
