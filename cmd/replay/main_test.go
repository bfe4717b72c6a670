package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/command/commandtest"
	"reprise/trace"
	"reprise/trace/cut"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMain makes "replay" a command of the scripts, and "hpltrace N P Q [NB]", "longtrace" and
// "hpcgtrace RANKS N", which write the traces of runs of HPL and HPCG to standard output, and
// "spreadtrace", that of a rank that computes 2e9 flop, with a standard deviation of 1e9;
// "parttrace FROM TO FILE" writes what "trace cut" makes of one.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"replay": main, "hpltrace": hpltrace, "longtrace": longtrace, "hpcgtrace": hpcgtrace, "spreadtrace": spreadtrace, "parttrace": parttrace})
}

func TestScripts(t *testing.T) {
	dir, err := filepath.Abs("testdata/script") // play changes the directory
	noError(t, err)
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: dir, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"play": play,
	}})
}

// playing is held by the script that runs the command in this process, whose directory is then that of the script.
var playing sync.Mutex

// play is the command "play ARGS" of the scripts: "exec replay ARGS", but with -short in this process, since to start
// one takes longer than what most of them do.
func play(ts *testscript.TestScript, neg bool, args []string) {
	failed := false
	if testing.Short() {
		playing.Lock()
		defer playing.Unlock()
		before, err := os.Getwd()
		ts.Check(err)
		ts.Check(os.Chdir(ts.MkAbs(".")))
		defer func() { ts.Check(os.Chdir(before)) }()
		err = run(context.Background(), append([]string{"replay"}, args...), strings.NewReader(""), ts.Stdout(), ts.Stderr())
		failed = command.Conclude(ts.Stderr(), "replay", err) != 0
	} else {
		failed = ts.Exec("replay", args...) != nil
	}
	if failed != neg {
		ts.Fatalf("replay %q: failed: %t", args, failed)
	}
}

// ended ends a command of a script that has failed.
func ended(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hpltrace() {
	var n [4]int
	for i, arg := range os.Args[1:] {
		n[i], _ = strconv.Atoi(arg)
	}
	p := hpl.DefaultParams(n[0], n[1], n[2])
	if n[3] > 0 {
		p.NB = n[3]
	}
	ended(hpl.Generate(context.Background(), os.Stdout, p, hpl.Options{}))
}

// longtrace writes a trace of many steps, each of which forgets the one before.
func longtrace() {
	p := hpl.DefaultParams(16384, 4, 4)
	p.NB, p.Depth, p.Bcast = 32, 0, hpl.Long
	ended(hpl.Generate(context.Background(), os.Stdout, p, hpl.Options{}))
}

func hpcgtrace() {
	ranks, _ := strconv.Atoi(os.Args[1])
	n, _ := strconv.Atoi(os.Args[2])
	ended(hpcg.Generate(context.Background(), os.Stdout, hpcg.DefaultParams(ranks, n), hpcg.Options{}))
}

func parttrace() {
	from, err := cut.Parse(os.Args[1])
	to, toErr := cut.Parse(os.Args[2])
	t, openErr := trace.Open(os.Args[3])
	err = errors.Join(err, toErr, openErr)
	if err == nil {
		_, err = cut.Write(os.Stdout, t, from, to, cut.Options{})
	}
	ended(err)
}

func spreadtrace() {
	h := &trace.Header{Program: "spread", Ranks: 1, Steps: 1, Axes: []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CallSites: []trace.CallSite{{Name: "call", Counts: trace.NoAxis}}}
	w, err := trace.NewWriter(os.Stdout, h, trace.WriterOptions{})
	if err == nil {
		b := trace.NewBuilder("compute", 0)
		b.SpreadFlops(trace.Const(trace.FloatArg(2e9)), trace.Const(trace.FloatArg(1e9)))
		var block int
		block, err = w.Program().Add(b)
		err = errors.Join(err, w.Step(0), w.Call(&trace.Call{Blocks: []int64{int64(block)}}), w.Close())
	}
	ended(err)
}

// saved writes a file for a test, such as a trace that generate writes, and returns its path.
func saved(t testing.TB, name string, generate func(io.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	noError(t, err)
	noError(t, errors.Join(generate(f), f.Close()))
	return path
}

// hplOf saves the trace of a run of HPL.
func hplOf(t testing.TB, p hpl.Params) string {
	t.Helper()
	return saved(t, "run.trace.zst", func(w io.Writer) error { return hpl.Generate(t.Context(), w, p, hpl.Options{}) })
}

// noisyModels saves kernel models in which all kernels take so many seconds, with 20 % of noise.
func noisyModels(t testing.TB, seconds string) string {
	t.Helper()
	return saved(t, "noisy.yaml", func(w io.Writer) error {
		_, err := io.WriteString(w, "version: 1\nunit: s\nnoise: {half-normal: 20%}\nkernels: {\"*\": "+seconds+"}\n")
		return err
	})
}

// played runs the command in this process and returns what it prints on standard output.
func played(t testing.TB, args ...string) []byte {
	t.Helper()
	var stdout bytes.Buffer
	noError(t, run(t.Context(), append([]string{"replay"}, args...), strings.NewReader(""), &stdout, io.Discard))
	return stdout.Bytes()
}

// TestExamples: the help of each command has examples, which the command takes.
func TestExamples(t *testing.T) {
	t.Parallel()
	commandtest.Examples(t, func() *cli.App { return newApp(nil, strings.NewReader(""), io.Discard, io.Discard) })
}

// TestExitCodes: mistakes in the command line are told from failures.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "trace.index")
	for path, text := range map[string]string{index: filepath.Join(dir, "a.ti") + "\n", filepath.Join(dir, "a.ti"): "0 init\n"} {
		noError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, c := range []struct {
		args  []string
		usage bool
	}{
		{[]string{"replay"}, true},
		{[]string{"replay", "--nonsense", "x"}, true},
		{[]string{"replay", "no such file"}, false},
		{[]string{"replay", "--cfg", "smpi/bw-factor:0", index}, true},
		{[]string{"replay", "--network", "lv07", index}, true},
		{[]string{"replay", "--network", "cm02", "--cfg", "network/model:LV08", index}, true},
		{[]string{"replay", "--network", "cm02", "--cfg", "host/model:default", index}, true},
		{[]string{"replay", "--steps", "50:", index}, true},
		{[]string{"replay", "--bandwidth", "nowhere=2", index}, true},
		{[]string{"replay", "--without", "nowhere", index}, true},
		{[]string{"replay", "--kernel-noise", "dgemm=2%", index}, true},
		{[]string{"replay", "--kernels", dir, "--quiet", index}, false},
	} {
		err := run(t.Context(), c.args, strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || (command.ExitCode(err) == 2) != c.usage {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}
