package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/smpi"
)

func TestRows(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("# about\nP,gflops\n4,1.5\nx,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := &data{dir: dir}
	rows := d.rows("t.csv", "p", "gflops")
	if len(rows) != 2 || rows[0].whole("p") != 4 || rows[0].number("gflops") != 1.5 || rows[1].number("gflops") != 0 || d.err != nil {
		t.Fatalf("%+v, %v", rows, d.err)
	}
	if rows[1].whole("p"); d.err == nil || !strings.Contains(d.err.Error(), "t.csv:4: column p") {
		t.Errorf("%v", d.err)
	}
	d.err = nil
	if d.rows("t.csv", "q"); d.err == nil || !strings.Contains(d.err.Error(), "want a column q") {
		t.Errorf("%v", d.err)
	}
}

// TestFiles: the files of a machine are read by platforms and kernels.
func TestFiles(t *testing.T) {
	n := network{Bandwidth: 12.5e9, Latency: 5e-8, LoopbackBandwidth: 18e9, Send: []segment{{0, 1e-6, 1e-10, 0}},
		BandwidthFactor: []segment{{Factor: 0.5}, {Above: 6e6, Factor: 0.25}}, Async: 64000, Detached: 64000}
	path := filepath.Join(t.TempDir(), "p.xml")
	text := n.xml(cluster{first: 1, last: 4, cores: 2, fatTree: "2;2,2;1,1;1,8"})
	if !strings.Contains(text, `"2;2,2;1,1;1,1"`) {
		t.Errorf("parallel cables in %s", text)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := platforms.Load(path)
	if err != nil || p.NumHosts() != 4 {
		t.Fatalf("%v", err)
	}
	o := smpi.DefaultOptions()
	if err := o.ApplyConfig(p); err != nil {
		t.Error(err)
	}
	g := processor{host: 2, cpu: 1, mean: polynomial{1e-11, 0, 0, 0, 1e-7}, deviation: polynomial{1e-13}}
	m := machineKernels{all: g, processors: []processor{g}, cpusPerHost: 2, noisyGemm: true, noisyOthers: true,
		others: otherKernels{"dtrsm": {1e-11, 1e-12}, "dgemv": {1e-9, 1e-10}, "dtrsv": {1e-5, 1e-6}, "HPL_dlacpy": {1e-9, 1e-10}}}
	if _, err := kernels.Parse(strings.NewReader(m.yaml()), "k.yaml"); err != nil {
		t.Error(err)
	}
	m.others = m.others.minimal()
	if text := m.yaml(); strings.Contains(text, "dlacpy: {terms") || !strings.Contains(text, "dtrsv") {
		t.Errorf("minimal: %s", text)
	}
}

// TestFourthRows: the first of two process rows has rows 0 to 3 and 8 to 11 of 16; once
// rows 0 to 8 are done, three of them are left.
func TestFourthRows(t *testing.T) {
	want := strings.Fields("3 8 9 10 11 11 11 11 11 9 10 11 12 13 14 15")
	if got := strings.Fields(fourthRows(16, 4, 2)); !slices.Equal(got, want) {
		t.Error(got)
	}
}
