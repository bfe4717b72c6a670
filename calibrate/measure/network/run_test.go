package network

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mpi returns options with which ranks of this machine time a little, or skips the test where there is no MPI.
func mpi(t *testing.T, ranks string) Options {
	t.Helper()
	for _, tool := range []string{"mpicc", "mpirun"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	t.Setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
	o := DefaultOptions()
	o.Launcher, o.Dir, o.Sizes, o.MaxBytes, o.Reps = []string{"mpirun", "-np", ranks}, t.TempDir(), 8, 1<<17, 2
	return o
}

// TestRun: everything that is planned is timed: 6 operations of 8 sizes and 8 timings of each of 5 kinds of
// polls, twice. Of a first poll the MPI decides whether it is a hit or a miss.
func TestRun(t *testing.T) {
	o := mpi(t, "2")
	r, err := Run(context.Background(), o, nil)
	must(t, err)
	if want := 2 * (6*8 + 5*8); r.Planned != want || len(r.Timings) != want || r.Ended != Complete {
		t.Errorf("%d of %d timings, %s, want %d of as many", len(r.Timings), r.Planned, r.Ended, want)
	}
	done := map[string]int{}
	for _, timing := range r.Timings {
		done[timing.Operation]++
	}
	done["iprobe-first-hit"] += done["iprobe-first-miss"]
	for _, op := range operations {
		if n := done[op]; n != 16 && op != "iprobe-first-miss" {
			t.Errorf("%s: %d timings, want 16", op, n)
		}
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left in the directory: %v, %v", left, err)
	}
}

// TestHosts: ranks that have hosts of their own are timed between these, and pairs of them at the same time.
func TestHosts(t *testing.T) {
	o := mpi(t, "4")
	if err := exec.Command("unshare", "--uts", "true").Run(); err != nil {
		t.Skipf("hosts cannot have another name: %v", err)
	}
	script := filepath.Join(t.TempDir(), "host")
	text := "#!/bin/sh\nexec unshare --uts sh -c 'hostname node-$((OMPI_COMM_WORLD_RANK % 2)) && exec \"$@\"' sh \"$@\"\n"
	must(t, os.WriteFile(script, []byte(text), 0o700))
	o.Launcher, o.Reps, o.Between = append(o.Launcher, script), 1, Both
	r, err := Run(context.Background(), o, nil)
	must(t, err)
	if r.Hosts() != "node-0: ranks 0, 2; node-1: ranks 1, 3" {
		t.Errorf("hosts %s", r.Hosts())
	}
	pairs := 0
	for _, timing := range r.Timings {
		if timing.Pairs == 2 && timing.Between == Nodes && timing.Operation == "pingpong" && timing.Bytes >= 32768 {
			pairs++
		}
	}
	if !r.Has(Cores) || pairs == 0 || pairs%2 != 0 {
		t.Errorf("within hosts: %t; %d timings of two pairs, want some of each pair", r.Has(Cores), pairs)
	}
}

// TestInterrupt: timings before the end are kept.
func TestInterrupt(t *testing.T) {
	o := mpi(t, "2")
	o.Reps = 100000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Run(ctx, o, func(time.Duration) {
		if files, _ := filepath.Glob(filepath.Join(o.Dir, "*", "timings")); len(files) == 1 {
			if text, _ := os.ReadFile(files[0]); strings.Contains(string(text), "\nbusy ") {
				cancel()
			}
		}
	})
	must(t, err)
	if !r.Interrupted || len(r.Timings) == 0 || r.Ended != "" {
		t.Errorf("interrupted %t, %d timings, ended %q", r.Interrupted, len(r.Timings), r.Ended)
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name   string
		ranks  string
		change func(*Options)
		want   string
	}{
		{"one rank", "1", func(*Options) {}, "the program has one rank"},
		{"one host", "2", func(o *Options) { o.Between = Nodes }, "all ranks run on one host"},
		{"no launcher", "2", func(o *Options) { o.Launcher = []string{"no-such-launcher"} }, "name the command that starts MPI programs here"},
		{"no compiler", "2", func(o *Options) { o.Compiler = "no-such-mpicc" }, "no compiler for MPI programs"},
		{"no MPI", "2", func(o *Options) { o.Compiler = "gcc" }, "the program that times messages: "},
		{"not started", "2", func(o *Options) { o.Launcher = []string{"true"} }, "not all hosts see that directory"},
		{"no directory", "2", func(o *Options) { o.Dir = "no/such" }, "no such file or directory"},
		{"died", "2", func(o *Options) { o.Launcher = []string{"sh", "-c", "echo lost a rank >&2; exit 9"} }, "sh: exit status 9: lost a rank"},
	} {
		o := mpi(t, test.ranks)
		test.change(&o)
		if _, err := Run(context.Background(), o, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// TestRanksDie: what ranks have timed before they die is the result, beside the error of their launcher, here one that
// writes a file as they would.
func TestRanksDie(t *testing.T) {
	o := mpi(t, "2")
	o.Launcher = []string{"sh", "-c", `printf 'planned 9\nt send cores 1 8 1e-6\nt send co' > "$1"; echo rank 1 died >&2; exit 9`}
	r, err := Run(context.Background(), o, nil)
	if err == nil || err.Error() != "sh: exit status 9: rank 1 died" {
		t.Errorf("got %v, want the launcher's error", err)
	}
	if r == nil || len(r.Timings) != 1 || r.Planned != 9 {
		t.Errorf("got %+v, want one of nine timings", r)
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
