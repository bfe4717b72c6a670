package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// The runs of testdata/oracle/smpi-hpl on 256 ranks, by their N, and one below.
var sizes = []int{8192, 16384, 32768, 65536}

// Seed of their random pivots included.
const sizeFlags = "--NB 128 -P 16 -Q 16 --BCAST Lng --seed 7046029254386353131"

const recorded = "testdata/oracle/smpi-hpl"

// size measures complete runs on a fixed grid. Where HPL was executed in SMPI with
// the same parameters, its wall time stands beside.
func size(l *runner) (string, error) {
	t := page.NewTable("N", "messages", "generation, s", "replay, s", "messages/s", "memory, MB", "SMPI executing HPL, recorded, s")
	time := page.Curve{Name: "replay"}
	platform, err := filepath.Abs(filepath.Join(recorded, "platforms", "fattree256.xml"))
	if err != nil {
		return "", err
	}
	for _, n := range sizes {
		g, err := l.hpl(fmt.Sprintf("-N %d %s", n, sizeFlags))
		if err != nil {
			return "", err
		}
		r, err := l.replay("--platform "+platform, g.path)
		if err != nil {
			return "", err
		}
		theirs, err := recordedWall(recorded, n)
		if err != nil {
			return "", err
		}
		t.Row(wording.Thousands(n), wording.Thousands(r.Messages), page.Digits(g.seconds), page.Digits(r.seconds), page.Digits(r.rate()), page.Megabytes(r.bytes), theirs)
		time.Add(float64(n), r.seconds)
	}
	err = page.Graph{Title: "16x16 ranks, complete runs", X: "N", Y: "wall time, s", Curves: []page.Curve{time}}.Write(l.plots, "size-time")
	return t.String() + "\n" + page.Image(l.plots, "size-time", "wall time against N") +
		commands("tracegen hpl -N N "+sizeFlags+" -o run.trace.zst",
			"replay --platform "+recorded+"/platforms/fattree256.xml run.trace.zst"), err
}

// recordedWall returns what SMPI took, or a dash where it was not run.
func recordedWall(dir string, n int) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("smpi-scale-%d.json", n)))
	if errors.Is(err, fs.ErrNotExist) {
		return "–", nil
	}
	if err != nil {
		return "", err
	}
	var run struct {
		Wall float64 `json:"simulation_wall_seconds"`
	}
	if err := json.Unmarshal(text, &run); err != nil || run.Wall <= 0 {
		return "", fmt.Errorf("no simulation_wall_seconds for N = %d (%w)", n, err)
	}
	return page.Digits(run.Wall), nil
}
