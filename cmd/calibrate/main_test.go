package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/command/commandtest"
	"reprise/internal/sniff/snifftest"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"calibrate": main, "hpltrace": hplTrace, "hpcgtrace": hpcgTraceCommand, "recordedtrace": recordedTrace})
}

// generate writes the trace that a command of the scripts is for to the file of its first argument.
func generate(write func(f *os.File) error) {
	f, err := os.Create(os.Args[1])
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// hplTrace is a command for the scripts: HPL with N = 40, NB = 8, Q = 1 and without look-ahead, with one process row
// or as many as its second argument says.
func hplTrace() {
	p := hpl.DefaultParams(40, len(append(os.Args, "x")[2]), 1)
	p.NB, p.Depth = 8, 0
	generate(func(f *os.File) error { return hpl.Generate(context.Background(), f, p, hpl.Options{Tool: "test"}) })
}

// hpcgTraceCommand is one for HPCG on two ranks with 16x16x16 points each.
func hpcgTraceCommand() {
	generate(func(f *os.File) error {
		return hpcg.Generate(context.Background(), f, hpcg.DefaultParams(2, 16), hpcg.Options{Tool: "test"})
	})
}

// recordedTrace is one for two ranks that do nothing, recorded with a second as 2 Gflop.
func recordedTrace() {
	generate(func(f *os.File) error {
		w, err := trace.NewWriter(f, &trace.Header{Program: "test", Ranks: 2, Steps: 1,
			Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
			CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: 2}}}},
			Params:       []trace.Param{{Name: trace.ParamRate, Value: "2e+09"}}}, trace.WriterOptions{})
		if err != nil {
			return err
		}
		return errors.Join(w.Step(0), w.Close())
	})
}

func TestScripts(t *testing.T) {
	blas, err := filepath.Abs("../../calibrate/measure/testdata/blas.c")
	must(t, err)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, Setup: func(e *testscript.Env) error {
		e.Setenv("BLAS", blas)
		return nil
	}})
}

const timings = "function,n,seconds\ndaxpy,1,1e-6\ndaxpy,1000,2e-6\ndaxpy,2000,3e-6\ndaxpy,3000,4e-6\n"

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.csv"), filepath.Join(dir, "bad.csv")
	for path, text := range map[string]string{good: timings, bad: timings + "daxpy,1,-1\n"} {
		must(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for _, test := range []struct {
		args string
		want int
	}{
		{"", 0}, {"--help", 0}, {"--version", 0}, {"kernels --help", 0}, {"network --help", 0}, {"kernels GOOD", 0}, {"kernels --json GOOD", 0},
		{"kernels BAD", 1}, {"kernels MISSING", 1}, {"network GOOD", 1}, {"kernels --terms dgemm=1 GOOD", 1}, {"kernels --terms daxpy=X GOOD", 1},
		{"nonsense", 2}, {"kernels", 2}, {"network", 2}, {"kernels --nonsense GOOD", 2}, {"kernels --per node GOOD", 2}, {"kernels --statistic mean --model M-3 GOOD", 2},
		{"kernels GOOD --json", 0}, {"kernels --terms daxpy GOOD", 2}, {"kernels --where a GOOD", 2}, {"kernels --statistic mean --criterion x GOOD", 2}, {"kernels -o - --host-name x GOOD", 2},
		{"kernels -o - --empty x GOOD", 2}, {"kernels --plot-format gif GOOD", 2}, {"network --residuals x GOOD", 2}, {"network --residuals plain GOOD", 2},
		{"network --breakpoints 2,1 GOOD", 2}, {"network --breakpoints x GOOD", 2}, {"network --trim 0.5 GOOD", 2}, {"network --trim 0 GOOD", 2}, {"network --statistic x GOOD", 2}, {"network --statistic min --trim 0.1 GOOD", 2}, {"network --platform - --hosts 0 GOOD", 2}, {"network --transfer x GOOD", 2},
		{"network --min-points 1 GOOD", 2}, {"network --gain 1 GOOD", 2}, {"network send=GOOD", 2}, {"network foo=GOOD", 2},
		{"network --platform - --speed 1Hz GOOD", 2}, {"network --platform - --speed -5 GOOD", 2}, {"network --platform - --cores 9999999 GOOD", 2}, {"network --platform - --eager 10.5 GOOD", 2},
		{"network --hosts 7 GOOD", 2}, {"network --platform - --mixture - GOOD", 2}, {"hosts --draw 2 --from dahu-cpu --platform - --speed 1Hz", 2},
		{"hosts --draw 2 --from dahu-cpu --platform - --property foo:1", 2}, {"hosts --draw 2 --from dahu-cpu --platform - --property smpi/os:zork", 2},
		{"hosts --draw 2 --from dahu-cpu --platform - --bandwidth 0", 2}, {"hosts --draw 2 --from dahu-cpu --platform - --latency -1", 2},
		{"hosts --draw 2 --from dahu-cpu --platform - -o -", 2}, {"hosts --draw 2 --from dahu-cpu --property smpi/os:0:0:0", 2}, {"hosts --draw 2 --from dahu-cpu --bandwidth 1e9", 2},
		{"kernels --function dgemm GOOD", 2},
		{"hosts --help", 0}, {"hosts", 2}, {"hosts GOOD", 1}, {"hosts --per rack GOOD", 2}, {"hosts --classes 4 GOOD", 2}, {"hosts --classes-by x GOOD", 2},
		{"hosts --noise-shape x GOOD", 2}, {"hosts --noise a=b:N GOOD", 2}, {"hosts --class-column x GOOD", 2}, {"hosts --coefficient a GOOD", 2},
		{"hosts --coefficient a=b GOOD", 2}, {"hosts --coefficient a=b:n! GOOD", 2}, {"hosts --model M-3 GOOD", 2}, {"hosts --day 3 GOOD", 2},
		{"hosts --draw 2", 2}, {"hosts --draw 0 --from dahu-cpu", 2}, {"hosts --draw 2 --day -1 --from dahu-cpu", 2}, {"hosts --draw 2 --from MISSING", 1},
		{"hosts --draw 2 --from dahu-cpu", 0}, {"hosts --draw 2 --from dahu-cpu -o - --host-name x", 2}, {"hosts --draw 2 --from dahu-cpu -o - --empty x", 2},
		{"hosts --draw 2 --from dahu-cpu -o - --base MISSING", 1}, {"hosts --draw 2 --from dahu-cpu --platform MISSING/x --property x", 2},
		{"measure", 0}, {"measure --help", 0}, {"measure kernels --help", 0}, {"measure nonsense", 2}, {"measure kernels", 2}, {"measure kernels --for GOOD x", 2},
		{"measure kernels --for GOOD --cores x", 2}, {"measure kernels --for GOOD --cores 5-2", 2}, {"measure kernels --for GOOD --cores 0,0", 2}, {"measure kernels --for GOOD --budget 0s", 2},
		{"measure kernels --for GOOD --budget -1s", 2}, {"measure kernels --for GOOD --memory 0", 2}, {"measure kernels --for GOOD --memory 99999999999999", 2},
		{"measure kernels --for GOOD --threads 0", 2}, {"measure kernels --for GOOD --ranks-per-host 0", 2}, {"measure kernels --for GOOD --host a,b", 2},
		{"measure kernels --for GOOD --operands warm", 2}, {"measure kernels --for MISSING", 1}, {"measure kernels --for GOOD", 1}, {"measure kernels --for GOOD -o GOOD", 2},
		{"measure network --help", 0}, {"measure network", 2}, {"measure network --between racks mpirun", 2}, {"measure network --sizes 1 mpirun", 2}, {"measure network --budget 0s mpirun", 2},
		{"measure network --max 9999999999 mpirun", 2}, {"measure network --reps 0 mpirun", 2}, {"measure network no-such-launcher", 1}, {"measure network --mpicc no-such-mpicc true", 1},
		{"kernels --plot-format png GOOD", 2}, {"network --plot-format png GOOD", 2}, {"hosts --draw 2 --from dahu-cpu --classes 2", 2}, {"hosts --draw 2 --from dahu-cpu --model M-1", 2},
		{"network --breakpoints 1.5 GOOD", 2}, {"network --breakpoints 0 GOOD", 2}, {"network --breakpoints 2e15 GOOD", 2}, {"network --detached 1.5 GOOD", 2}, {"network --eager 1.5 GOOD", 2},
		{"network --bandwidth 0 GOOD", 2}, {"network --latency 0 GOOD", 2}, {"network --eager 0 GOOD", 2}, {"network --detached 0 GOOD", 2},
		{"network --breakpoints 8 --gain 0.1 GOOD", 2}, {"network --breakpoints 8 --min-points 5 GOOD", 2}, {"network --breakpoints 8 --max-pieces 5 GOOD", 2},
		{"kernels --noise normal GOOD", 2}, {"kernels --host-name n-{} GOOD", 2}, {"kernels --empty charged GOOD", 2}, {"kernels --base GOOD GOOD", 2}, {"kernels --source x GOOD", 2},
		{"kernels --statistic mean --model M-0 --no-constant GOOD", 2}, {"kernels --statistic mean --model M-0 --product daxpy=N GOOD", 2}, {"kernels --statistic mean --model M-1 --criterion aic GOOD", 0},
		{"kernels --terms daxpy=N --model M-1 GOOD", 2}, {"kernels --terms daxpy=N --no-constant GOOD", 2}, {"kernels --statistic mean --terms daxpy=N --criterion aic GOOD", 0},
		{"kernels --terms daxpy=N --product daxpy=N GOOD", 2}, {"kernels --terms daxpy=N --terms daxpy=1 GOOD", 2}, {"kernels --statistic mean --product daxpy=N --product daxpy=N GOOD", 2},
		{"hosts --source x GOOD", 2}, {"hosts --model M-1 --criterion aic GOOD", 2}, {"hosts --coefficient a=b:N --class-column c --classes-by noise GOOD", 2},
		{"hosts --draw 2 --from dahu-cpu --source x", 2}, {"hosts --draw 2 --from dahu-cpu --empty charged", 2}, {"hosts --draw 2 --from dahu-cpu --base GOOD", 2},
		{"hosts --draw 2 --from dahu-cpu --host-name n-{}", 2}, {"hosts --draw 2 --from dahu-cpu --host-name n-{} --platform -", 0},
		{"kernels --json -o - GOOD", 2}, {"network --json --platform - GOOD", 2}, {"network --mixture DIR/x --platform DIR/./x GOOD", 2},
		{"kernels --statistic mode GOOD", 2}, {"kernels --model M-1 GOOD", 2}, {"kernels --relative GOOD", 2}, {"kernels --statistic mean --max-pieces 2 GOOD", 2}, {"kernels --statistic mean --for GOOD GOOD", 2}, {"kernels --max-pieces 0 GOOD", 2}, {"kernels --for GOOD GOOD", 1}, {"kernels --statistic min GOOD", 0},
		{"kernels --dims msg-size GOOD", 2}, {"kernels --dims n,N GOOD", 2}, {"kernels --function null GOOD", 2}, {"hosts --coefficient a=b:M*N --coefficient c=b:N*M GOOD", 2},
		{"network --eager 70000 --detached 65536 GOOD", 2}, {"hosts --coefficient a=b:N --coefficient A=b:1 GOOD", 2}, {"hosts --draw 2 --from dahu-cpu --host-name node-{}* --platform -", 2},
		{"hosts --draw 2 --from dahu-cpu --noise-shape normal", 2}, {"hosts --coefficient a=daxpy:N --model M-1 GOOD", 2},
	} {
		args := []string{"calibrate"}
		for _, arg := range strings.Fields(test.args) {
			args = append(args, strings.NewReplacer("GOOD", good, "BAD", bad, "DIR", dir).Replace(arg))
		}
		var out, errs bytes.Buffer
		if got := command.ExitCode(run(context.Background(), args, strings.NewReader(""), &out, &errs)); got != test.want {
			t.Errorf("calibrate %s: exit code %d, want %d", test.args, got, test.want)
		}
	}
}

// TestHelp: a flag has one default at most.
func TestHelp(t *testing.T) {
	for _, name := range []string{"kernels", "network", "hosts", "measure kernels", "measure network"} {
		var out, errs bytes.Buffer
		must(t, run(context.Background(), strings.Fields("calibrate "+name+" --help"), strings.NewReader(""), &out, &errs))
		for line := range strings.Lines(out.String()) {
			if strings.Count(line, "(default:") > 1 {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// FuzzFlags: what --terms, --product, --model and --where say ends in a fit or in a message that can be read.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{"daxpy=N", "daxpy=N,1", "daxpy=", "=", "daxpy=N^2*N,1", "daxpy=N^99999999999", "function=daxpy", "N=1000", "n=1000=1", "M-1", "daxpy=" + strings.Repeat("N*", 5000) + "N", "M", "all"} {
		for flag := range uint8(4) {
			f.Add(flag, text)
		}
	}
	f.Fuzz(func(t *testing.T, flag uint8, text string) {
		name := []string{"--terms", "--product", "--where", "--model"}[flag%4]
		var out, errs bytes.Buffer
		err := run(context.Background(), []string{"calibrate", "kernels", name + "=" + text, "-"}, strings.NewReader(timings), &out, &errs)
		if err != nil && len(textutil.Brief(err).Error()) > 4000 {
			t.Errorf("a message of %d bytes: %.100s", len(err.Error()), err)
		}
	})
}

// TestForeignFiles: files of other formats are called by their names wherever one is read.
func TestForeignFiles(t *testing.T) {
	command := func(args ...string) error {
		return run(context.Background(), append([]string{"calibrate"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	for _, name := range []string{"kernels", "hosts", "network"} {
		snifftest.Check(t, name, func(path string) error { return command(name, path) }, "table", "gzip")
	}
	snifftest.Check(t, "hosts --from", func(path string) error { return command("hosts", "--draw", "3", "--from", path) }, "kernels", "json")
	base := t.TempDir() + "/base"
	snifftest.Check(t, "hosts --base", func(path string) error {
		return command("hosts", "--draw", "3", "--from", "dahu-node", "-o", base, "--base", path)
	}, "kernels", "json")
}

// TestExamples: the help of each command has examples, which the command takes.
func TestExamples(t *testing.T) {
	commandtest.Examples(t, func() *cli.App { return newApp(nil, strings.NewReader(""), io.Discard, io.Discard) })
}

// TestInterrupted: the first signal ends the command, also while it waits for somebody
// who reads or writes a pipe.
func TestInterrupted(t *testing.T) {
	pipe := commandtest.Pipe(t)
	for _, args := range [][]string{
		{"kernels", pipe}, {"kernels", "-"}, {"network", pipe}, {"hosts", pipe}, {"kernels", "-o", "x", "--base", pipe, pipe},
		{"hosts", "--draw", "3", "--from", "dahu-node", "-o", pipe}, {"hosts", "--draw", "3", "--from", pipe},
	} {
		commandtest.Interrupt(t, syscall.SIGTERM, 1, "calibrate", args...)
	}
	commandtest.Interrupt(t, syscall.SIGINT, 1, "calibrate", "hosts", "--draw", "3", "--from", "dahu-node", "-o", pipe)
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	text := "function,m,n,k,seconds\ndgemm,1,1,1,1\ndgemm,2,2,2,8\ndgemm,3,3,3,27\ndgemm,4,4,4,64\n"
	must(t, os.WriteFile(table, []byte(text), 0o600))
	for _, args := range [][]string{
		{}, {"--help"}, {"help"}, {"--version"}, {"kernels", "--help"}, {"network", "--help"}, {"hosts", "--help"}, {"measure", "--help"}, {"measure", "kernels", "--help"},
		{"kernels", table}, {"kernels", "--json", table}, {"kernels", "-o", "-", table}, {"hosts", "--draw", "3", "--from", "dahu-node"},
	} {
		commandtest.Full(t, 1, "calibrate", args...)
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
