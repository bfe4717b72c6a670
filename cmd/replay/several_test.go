package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

// TestRunsOnAnyNumberOfCores: several seeds give the same bits on one core and on more.
func TestRunsOnAnyNumberOfCores(t *testing.T) {
	file, models := hplOf(t, hpl.DefaultParams(300, 2, 3)), noisyModels(t, "1.0e-6")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want *replay.Ensemble
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		var got replay.Ensemble
		out := played(t, "--quiet", "--platform", "dahu", "--kernels", models, "--runs", "7", "--json", file)
		noError(t, json.Unmarshal(out, &got))
		if want == nil {
			want = &got
		}
		if diff := cmp.Diff(want, &got); diff != "" || len(got.Runs) != 7 || got.Makespan.SD == 0 {
			t.Errorf("%d runs on %d cores (-one +%d):\n%s", len(got.Runs), cores, cores, diff)
		}
	}
}

// TestRatingOfRuns: the rating of several runs, or draws, is the mean of those that each of them has by itself, set-up
// included.
func TestRatingOfRuns(t *testing.T) {
	t.Parallel()
	models, file := noisyModels(t, "1.0e-5"), saved(t, "run.trace.zst", func(w io.Writer) error {
		return hpcg.Generate(t.Context(), w, hpcg.DefaultParams(4, 16), hpcg.Options{})
	})
	play := func(into any, flags ...string) {
		t.Helper()
		args := append([]string{"--quiet", "--json", "--platform", "dahu", "--kernels", models, "--setup-time", "0.25"}, flags...)
		noError(t, json.Unmarshal(played(t, append(args, file)...), into))
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
	var several struct {
		Rating *replay.Summary `json:"gflops_rating"`
	}
	play(&several, "--runs", strconv.Itoa(runs))
	var drawn struct {
		Rating *replay.Interval `json:"gflops_rating"`
	}
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

// TestExportsOnAnyNumberOfCores: files are the same bytes on one core and on more, and one that is compressed holds the
// same text as the plain one.
func TestExportsOnAnyNumberOfCores(t *testing.T) {
	file, dir := hplOf(t, hpl.DefaultParams(300, 2, 3)), t.TempDir()
	flags := map[string]string{"run.pftrace": "--timeline", "run.paje": "--timeline", "run.paje.gz": "--timeline", "run.pb.gz": "--profile",
		"run.csv": "--table", "run.parquet": "--table"}
	export := func(cores int) map[string][]byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		files := map[string][]byte{}
		for name, flag := range flags {
			path := filepath.Join(dir, name)
			played(t, "--quiet", "--platform", "dahu", flag, path, file)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = content
		}
		return files
	}
	one, four := export(1), export(4)
	for name := range flags {
		if len(one[name]) == 0 || !bytes.Equal(one[name], four[name]) {
			t.Errorf("%s: %d bytes on one core, %d others on four", name, len(one[name]), len(four[name]))
		}
	}
	zip, err := gzip.NewReader(bytes.NewReader(one["run.paje.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(zip); err != nil || !bytes.Equal(plain, one["run.paje"]) {
		t.Errorf("run.paje.gz holds %d bytes, and run.paje has %d (%v)", len(plain), len(one["run.paje"]), err)
	}
}
