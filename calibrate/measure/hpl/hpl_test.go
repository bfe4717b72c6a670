package hpl

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// build links testdata's stand-in for HPL, out of an archive as HPL is, with the C file before
// it, and returns the program.
func build(t *testing.T, define string) string {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string][]byte{"k.c": Source(), "k.flags": Flags()} {
		if err := os.WriteFile(path(name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	run("cc", "-O2", "-Wall", "-Wextra", "-Werror", define, "-c", path("k.c"), "-o", path("k.o"))
	for _, name := range []string{"library", "program"} {
		run("cc", "-O2", "-Wall", "-Werror", define, "-c", filepath.Join("testdata", name+".c"), "-o", path(name+".o"))
	}
	run("ar", "rcs", path("libhpl.a"), path("library.o"))
	run("cc", path("k.o"), "@"+path("k.flags"), "-o", path("xhpl"), path("program.o"), path("libhpl.a"))
	return path("xhpl")
}

// rowsOf runs the program as rank 3 and returns the rows of its table by kernel.
func rowsOf(t *testing.T, program string) map[string][]map[string]string {
	t.Helper()
	base := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "REPRISE_KERNELS="+base, "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_LOCAL_RANK=1")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "100075\n" { // 25 calls by name, 50 long ones, 100,000 short ones
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(base + "-3.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]map[string]string{}
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = line[i]
		}
		rows[row["function"]] = append(rows[row["function"]], row)
	}
	return rows
}

// TestTimes: each function is called with the arguments that it was given, and timed with the
// attributes and dimensions that HPL's kernels have in traces.
func TestTimes(t *testing.T) {
	want := map[string]string{
		"dgemm": "transa=N transb=T m=3 n=4 k=5", "dtrsm": "side=R uplo=U trans=N diag=U m=3 n=4", "dgemv": "trans=T m=3 n=4",
		"dger": "m=3 n=4", "dtrsv": "uplo=L trans=N diag=N n=3", "dscal": "n=3", "daxpy": "n=3", "dcopy": "n=3", "idamax": "n=3",
		"dlaswp04N": "n=4 m0=2 m1=3", "dlaswp04T": "n=4 m0=2 m1=3",
	}
	for _, name := range moves {
		if want[name] == "" {
			want[name] = "m=3 n=4"
		}
	}
	for _, define := range []string{"-DFORTRAN", "-DCBLAS"} {
		rows := rowsOf(t, build(t, define))
		if len(rows) != len(want) {
			t.Errorf("%s: %d kernels, want %d", define, len(rows), len(want))
		}
		for kernel, text := range want {
			if len(rows[kernel]) == 0 {
				t.Errorf("%s: %s is not timed", define, kernel)
			} else if got := description(rows[kernel][0]); got != text {
				t.Errorf("%s: %s: %s, want %s", define, kernel, got, text)
			}
		}
	}
}

// description returns the attributes and dimensions of a row, and checks the rest of it.
func description(row map[string]string) string {
	var list []string
	for _, name := range []string{"side", "uplo", "trans", "diag", "transa", "transb", "m", "n", "k", "m0", "m1"} {
		if row[name] != "" {
			list = append(list, name+"="+row[name])
		}
	}
	if seconds, err := strconv.ParseFloat(row["seconds"], 64); err != nil || !(seconds > 0) || row["rank"] != "1" || row["host"] == "" || row["date"] == "" {
		list = append(list, fmt.Sprint(row))
	}
	return strings.Join(list, " ")
}

// TestSamples: all long calls are timed, with their full time, and a part of the short ones.
func TestSamples(t *testing.T) {
	rows := rowsOf(t, build(t, "-DFORTRAN"))
	long := slices.DeleteFunc(rows["dlacpy"], func(row map[string]string) bool { return row["m"] != "100" })
	if len(long) != 50 {
		t.Errorf("%d of 50 long calls are timed", len(long))
	}
	for _, row := range long {
		if seconds, _ := strconv.ParseFloat(row["seconds"], 64); seconds < 0.5e-3-1e-6 {
			t.Errorf("half a millisecond took %g s", seconds)
		}
	}
	if n := len(rows["dscal"]); n < 100 || n > 50000 {
		t.Errorf("%d of 100,001 short calls are timed, want some of them", n)
	}
	if n := len(rows["dlacpy"]); n != 51 {
		t.Errorf("%d timings of dlacpy, want 51: none of an empty one", n)
	}
}
