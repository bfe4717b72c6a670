package replay_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

const replayOracle = "../testdata/oracle/smpi-replay.zip"

// unzip extracts the files of an archive under a folder name prefix.
func unzip(t testing.TB, archive, dir string) []string {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	seen := map[string]bool{}
	for _, f := range z.File {
		name := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(name) {
			t.Fatalf("%s: name %q", archive, f.Name)
		}
		folder, _, _ := strings.Cut(f.Name, "/")
		seen[folder] = true
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if err := extract(f, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	folders := make([]string, 0, len(seen))
	for folder := range seen {
		folders = append(folders, folder)
	}
	sort.Strings(folders)
	return folders
}

func extract(f *zip.File, path string) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	return w.Close()
}

// isCase reports whether a folder is a case.
func isCase(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "expected.json"))
	return err == nil
}

// caseMachine returns the machine and the options of a case.
func caseMachine(t testing.TB, dir string, ranks int) (replay.Machine, replay.Options) {
	t.Helper()
	p, err := platforms.Load(filepath.Join(dir, "platform.xml"))
	if err != nil {
		t.Fatal(err)
	}
	o := replay.DefaultOptions()
	if err := o.Network.ApplyConfig(p); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(readFile(t, filepath.Join(dir, "cfg"))) {
		name, value, _ := strings.Cut(line, ":")
		if err := o.Network.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	hosts, err := replay.ParseHostfile(strings.NewReader(readFile(t, filepath.Join(dir, "hostfile"))), "hostfile", p, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Machine{Platform: p, Hosts: hosts}, o
}

// runCase replays a case as smpirun would.
func runCase(t testing.TB, dir string) (*replay.Result, error) {
	t.Helper()
	text, err := simgrid.Open(filepath.Join(dir, "trace.index"), dir)
	if err != nil {
		return nil, err
	}
	m, o := caseMachine(t, dir, text.Ranks())
	return replay.RunSource(&trace.Header{Ranks: text.Ranks()}, text, m, o)
}

// deviation is the largest difference of an end from the expected one, in units
// of what is allowed: 5e-9 s + 1e-6 of it, because SimGrid lets events less than
// 1e-9 s apart happen together.
func deviation(res *replay.Result, want []float64) float64 {
	if len(res.Ranks) != len(want) {
		return math.Inf(1)
	}
	worst := 0.0
	for r, w := range want {
		worst = max(worst, math.Abs(res.Ranks[r].End-w)/(5e-9+1e-6*w))
	}
	return worst
}

func TestAgreesWithSimGrid(t *testing.T) {
	dir := t.TempDir()
	type family struct {
		cases int
		worst float64
	}
	families := map[string]*family{}
	for i, name := range unzip(t, replayOracle, dir) {
		if testing.Short() && i%6 != 0 {
			continue
		}
		folder := filepath.Join(dir, name)
		if !isCase(folder) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			res, err := runCase(t, folder)
			if err != nil {
				t.Fatal(err)
			}
			d := deviation(res, expectedEnds(t, folder))
			key, _, _ := strings.Cut(name, "-")
			f := families[key]
			if f == nil {
				f = &family{}
				families[key] = f
			}
			f.cases++
			f.worst = max(f.worst, d)
			if d > 1 {
				t.Errorf("%g times the tolerance", d)
			}
		})
	}
	var names []string
	for n := range families {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		t.Logf("%-12s %3d cases, worst %.2g of the tolerance", n, families[n].cases, families[n].worst)
	}
}

// expectedEnds returns the date at which each rank is through, by SimGrid 3.32.
// Where its default solver is wrong, the full one is right (see the README of the
// cases).
func expectedEnds(t testing.TB, folder string) []float64 {
	t.Helper()
	type outcome struct {
		Finish []float64
		Ranks  []struct{ Finish float64 }
	}
	var e struct{ Default, Full *outcome }
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(folder, "expected.json"))), &e); err != nil {
		t.Fatal(err)
	}
	o := e.Default
	if e.Full != nil {
		o = e.Full
	}
	ends := o.Finish
	for _, r := range o.Ranks {
		ends = append(ends, r.Finish)
	}
	return ends
}

// TestConverted: a text trace and its conversion give the same bits.
func TestConverted(t *testing.T) {
	dir := t.TempDir()
	for i, name := range unzip(t, replayOracle, dir) {
		folder := filepath.Join(dir, name)
		if i%8 != 0 || !isCase(folder) {
			continue
		}
		text, err := simgrid.Open(filepath.Join(folder, "trace.index"), folder)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		w, err := trace.NewWriter(&file, text.Header(), trace.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(text.Convert(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.NewReader(&file, name)
		if err != nil {
			t.Fatal(err)
		}
		m, o := caseMachine(t, folder, text.Ranks())
		got, err := replay.Run(tr, m, o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := runCase(t, folder)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Ranks, got.Ranks); diff != "" {
			t.Errorf("%s: text and converted trace differ:\n%s", name, diff)
		}
	}
}
