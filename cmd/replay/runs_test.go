package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/tracegen/hpl"
)

// TestRunsOnAnyNumberOfCores: several seeds give the same bits on one core and on more.
func TestRunsOnAnyNumberOfCores(t *testing.T) {
	dir := t.TempDir()
	file, models := filepath.Join(dir, "run.trace.zst"), filepath.Join(dir, "noisy.yaml")
	var text bytes.Buffer
	if err := hpl.Generate(t.Context(), &text, hpl.DefaultParams(300, 2, 3), hpl.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	const noisy = "version: 1\nunit: s\nnoise: {half-normal: 20%}\nkernels: {\"*\": 1.0e-6}\n"
	if err := os.WriteFile(models, []byte(noisy), 0o600); err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want *replay.Ensemble
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		var out bytes.Buffer
		args := []string{"replay", "--quiet", "--platform", "dahu", "--kernels", models, "--runs", "7", "--json", file}
		if err := run(t.Context(), args, strings.NewReader(""), &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		var got replay.Ensemble
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = &got
		}
		if diff := cmp.Diff(want, &got); diff != "" || len(got.Runs) != 7 || got.Makespan.SD == 0 {
			t.Errorf("%d runs on %d cores (-one +%d):\n%s", len(got.Runs), cores, cores, diff)
		}
	}
}
