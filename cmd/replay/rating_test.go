package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/tracegen/hpcg"
)

// TestRatingOfRuns: the rating of several runs, or draws, is the mean of those that each of them has by itself, set-up
// included.
func TestRatingOfRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, models := filepath.Join(dir, "run.trace.zst"), filepath.Join(dir, "noisy.yaml")
	var text bytes.Buffer
	if err := hpcg.Generate(t.Context(), &text, hpcg.DefaultParams(4, 16), hpcg.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	const noisy = "version: 1\nunit: s\nnoise: {half-normal: 20%}\nkernels: {\"*\": 1.0e-5}\n"
	if err := os.WriteFile(models, []byte(noisy), 0o600); err != nil {
		t.Fatal(err)
	}
	play := func(into any, flags ...string) {
		t.Helper()
		var out bytes.Buffer
		args := append([]string{"replay", "--quiet", "--json", "--platform", "dahu", "--kernels", models, "--setup-time", "0.25"}, flags...)
		if err := run(t.Context(), append(args, file), strings.NewReader(""), &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	const runs = 3
	mean := 0.0
	for seed := 1; seed <= runs; seed++ {
		var one struct {
			HPCG hpcg.Summary `json:"hpcg"`
		}
		play(&one, "--seed", strconv.Itoa(seed))
		mean += one.HPCG.Rating / runs
	}
	var several replay.Ensemble
	play(&several, "--runs", strconv.Itoa(runs))
	var drawn replay.Uncertainty
	play(&drawn, "--uncertainty", "--draws", strconv.Itoa(runs))
	if several.Rating == nil || drawn.Rating == nil {
		t.Fatalf("no rating: %+v, %+v", several.Rating, drawn.Rating)
	}
	for name, got := range map[string]float64{"runs": several.Rating.Mean, "draws": drawn.Rating.Mean} {
		if math.Abs(got-mean) > 1e-12*mean {
			t.Errorf("%s: %.15g, want %.15g", name, got, mean)
		}
	}
	if several.Rating.SD == 0 || drawn.Rating.Low >= mean || drawn.Rating.High <= mean {
		t.Errorf("%+v, %+v", several.Rating, drawn.Rating)
	}
}
