package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
	"reprise/scripts/bench/workload"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// TestWorkloads: every rank sends once a round, and everything is received.
func TestWorkloads(t *testing.T) {
	for _, pattern := range []string{"ring", "pairwise", "binary"} {
		w := &workload.Workload{Pattern: pattern, Ranks: 32, Messages: 32 * 70, Seed: 1}
		dir := t.TempDir()
		if err := w.Write(dir); err != nil {
			t.Fatal(err)
		}
		p, err := platforms.Load(filepath.Join(dir, "platform.xml"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := simgrid.Open(filepath.Join(dir, "trace.index"), dir)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "hostfile"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		hosts, err := replay.ParseHostfile(f, "hostfile", p, w.Ranks)
		if err != nil {
			t.Fatal(err)
		}
		res, err := replay.RunSource(t.Context(), &trace.Header{Ranks: w.Ranks}, text, replay.Machine{Platform: p, Hosts: hosts}, replay.DefaultOptions())
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		if res.Messages != int64(w.Messages) || len(res.Warnings) > 0 {
			t.Errorf("%s: %d messages, want %d; warnings %v", pattern, res.Messages, w.Messages, res.Warnings)
		}
	}
}

func TestMedian(t *testing.T) {
	m := median([]sample{{seconds: 3, bytes: 1}, {seconds: 1, bytes: 9}, {seconds: 2, bytes: 4}})
	if m.seconds != 2 || m.bytes != 9 {
		t.Errorf("%+v, want 2 s, 9 bytes", m)
	}
}

func TestMakespans(t *testing.T) {
	list := simulators("replay", 4, "Lazy")
	if v, err := list[1].makespan([]byte("[n:0:(1) 0.5] [smpi_replay/INFO] Simulation time 0.512345")); v != 0.512345 || err != nil {
		t.Errorf("%g, %v", v, err)
	}
	if _, err := list[1].makespan([]byte("nothing")); err == nil {
		t.Error("no error")
	}
	if v, err := list[0].makespan([]byte(`{"makespan_s": 0.25}`)); v != 0.25 || err != nil {
		t.Errorf("%g, %v", v, err)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-ranks 16", "-ranks 48", "-patterns star", "x", "-runs 0", "-optim lazy"} {
		if err := bench(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
