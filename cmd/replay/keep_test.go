package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/command/commandtest"
	"reprise/tracegen/hpl"
)

// keptTrace writes the trace of a run of HPL with polls, which takes about half a second
// to replay.
func keptTrace(t *testing.T) string {
	t.Helper()
	return traceOf(t, 16384)
}

// traceOf writes the trace of a run of HPL of this order with polls.
func traceOf(t *testing.T, order int) string {
	t.Helper()
	p := hpl.DefaultParams(order, 6, 8)
	p.NB, p.Depth = 96, 1
	return hplOf(t, p)
}

// process is the command as a process of its own.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: commandtest.Command(t, "replay", args...)}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	noError(t, p.Start())
	return p
}

// result returns what the process printed as JSON, without what depends on the wall.
func (p *process) result(t *testing.T) map[string]any {
	t.Helper()
	var res map[string]any
	if err := json.Unmarshal(p.stdout.Bytes(), &res); err != nil {
		t.Fatalf("%v\n%s%s", err, p.stdout.String(), p.stderr.String())
	}
	for _, key := range []string{"wall_s", "peak_rss_bytes", "messages_per_wall_s"} {
		if _, ok := res[key]; !ok {
			t.Errorf("no key %q", key)
		}
		delete(res, key)
	}
	return res
}

// uninterrupted returns the result of a replay from beginning to end.
func uninterrupted(t *testing.T, path string) map[string]any {
	t.Helper()
	p := start(t, "--json", "--quiet", path)
	if err := p.Wait(); err != nil {
		t.Fatal(err, p.stderr.String())
	}
	return p.result(t)
}

// TestKill kills a replay at random moments and starts it again, until it comes to its
// end: with the result of one that was left alone, by whose time moments and checkpoints go,
// as it takes ten times as long with the race detector.
func TestKill(t *testing.T) {
	path := keptTrace(t)
	began := time.Now()
	want := uninterrupted(t, path)
	alone := time.Since(began)
	file := filepath.Join(t.TempDir(), "state")
	rng := rand.New(rand.NewPCG(1, 2))
	patience := alone / 16
	for kills := 0; ; kills++ {
		p := start(t, "--json", "--quiet", "--checkpoint", file, "--resume", file, "--every", (alone / 64).String(), path)
		patience += patience / 8
		wait := patience + time.Duration(rng.Int64N(int64(alone/8)))
		timer := time.AfterFunc(wait, func() { _ = p.Process.Kill() })
		err := p.Wait()
		timer.Stop()
		if status, ok := p.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			continue
		}
		if err != nil {
			t.Fatal(err, p.stderr.String())
		}
		if kills == 0 {
			t.Errorf("never killed: left alone it took %v", alone)
		}
		t.Logf("killed %d times", kills)
		if diff := cmp.Diff(want, p.result(t)); diff != "" {
			t.Errorf("-uninterrupted +killed:\n%s", diff)
		}
		return
	}
}

// TestTerminate: a replay that is asked to end saves its state, reports how far it has
// come, and says how to go on; what goes on has the result of one that was left alone.
func TestTerminate(t *testing.T) {
	t.Parallel()
	path := keptTrace(t)
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	if signal.Ignored(syscall.SIGHUP) {
		signals = signals[:2] // by this test and by what it starts, as under nohup
	}
	want := uninterrupted(t, path)
	for _, sig := range signals {
		file := filepath.Join(t.TempDir(), "state")
		p := start(t, "--json", "--quiet", "--checkpoint", file, path)
		await(t, file)
		noError(t, p.Process.Signal(sig))
		if sig == syscall.SIGHUP { // a terminal that closes sends several
			time.Sleep(time.Millisecond)
			_ = p.Process.Signal(sig) // it may have ended
		}
		var exit *exec.ExitError
		if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Fatalf("%v, want exit code 1", err)
		}
		if text := p.stderr.String(); !strings.Contains(text, "stopped by a signal") || !strings.Contains(text, "--resume "+file) {
			t.Errorf("%v: stderr %q", sig, text)
		}
		res := p.result(t)
		if at, ok := res["stopped_at_s"].(float64); !ok || res["complete"] != false || res["gflops"] != 0.0 || at > res["makespan_s"].(float64) {
			t.Errorf("%v: stopped at %v, complete %v, %v Gflops", sig, res["stopped_at_s"], res["complete"], res["gflops"])
		}
		resumed := start(t, "--json", "--resume", file, path)
		if err := resumed.Wait(); err != nil {
			t.Fatal(err, resumed.stderr.String())
		}
		if !strings.Contains(resumed.stderr.String(), "replay: resumed from "+file+" at ") {
			t.Errorf("%v: stderr %q", sig, resumed.stderr.String())
		}
		if diff := cmp.Diff(want, resumed.result(t)); diff != "" {
			t.Errorf("%v: -uninterrupted +resumed:\n%s", sig, diff)
		}
	}
}

// TestTerminateEstimate: an estimate that a signal ends says how to go on, and shows what the windows so far tell if
// there are enough. The same command goes on from them, with the result of one that was left alone.
func TestTerminateEstimate(t *testing.T) {
	t.Parallel()
	path := traceOf(t, 40960) // 427 steps
	estimate := func(dir string) *process {
		return start(t, "--json", "--quiet", "--tolerance", "0.4%", "--workers", dir, path)
	}
	dir := filepath.Join(t.TempDir(), "stopped")
	p := estimate(dir)
	await(t, filepath.Join(dir, "windows"))
	noError(t, p.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v, want exit code 1", err)
	}
	if text := p.stderr.String(); !strings.Contains(text, "stopped by a signal (terminated) ") ||
		!strings.Contains(text, "the same command goes on from the windows in "+dir) {
		t.Errorf("stderr %q", text)
	}
	var results []any
	for _, d := range []string{dir, filepath.Join(t.TempDir(), "whole")} {
		p := estimate(d)
		noError(t, p.Wait())
		results = append(results, p.result(t)["makespan_s"])
	}
	if results[0] != results[1] {
		t.Errorf("%v s, want %v s", results[0], results[1])
	}
}

// TestTerminateRuns: of several runs the report has those that had ended.
func TestTerminateRuns(t *testing.T) {
	t.Parallel()
	path := traceOf(t, 2048)
	model := noisyModels(t, "1.0e-6")
	const runs = 10_000
	for patience := time.Second; ; patience *= 2 {
		p := start(t, "--runs", strconv.Itoa(runs), "--json", "--quiet", "--kernels", model, path)
		time.Sleep(patience)
		noError(t, p.Process.Signal(syscall.SIGTERM))
		var exit *exec.ExitError
		if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() > 1 {
			t.Fatalf("%v, want exit code 1", err)
		}
		if p.stdout.Len() == 0 {
			continue // fewer than two had ended, or the process had not begun
		}
		var report struct{ Runs []any }
		noError(t, json.Unmarshal(p.stdout.Bytes(), &report))
		if want := fmt.Sprintf("replay: stopped by a signal after %d of %d runs\n", len(report.Runs), runs); p.stderr.String() != want || len(report.Runs) < 2 {
			t.Errorf("stderr %q, want %q", p.stderr.String(), want)
		}
		return
	}
}

// await returns when there is a file, which the replay writes when it begins.
func await(t *testing.T, path string) {
	t.Helper()
	for range 10_000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("there is no %s", path)
}

// TestTerminateUnsaved: the text says how far the replay has come, and that nothing was
// saved. It waits for a pipe, in which nothing comes any more.
func TestTerminateUnsaved(t *testing.T) {
	t.Parallel()
	trace, err := os.ReadFile(keptTrace(t))
	noError(t, err)
	pause := 50 * time.Millisecond
	p := terminated(t, trace, pause)
	for !strings.Contains(p.stderr.String(), "no checkpoint was saved: see --checkpoint") { // it came before the first event
		if pause *= 2; pause > 10*time.Second {
			t.Fatalf("SIGTERM is never caught after the first event: %s", p.stderr.String())
		}
		p = terminated(t, trace, pause)
	}
	if code := p.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, stderr %q", code, p.stderr.String())
	}
	if text := p.stdout.String(); !strings.HasPrefix(text, "stopped at ") || !strings.Contains(text, " of 172: no result line\n\nso far ") {
		t.Errorf("stdout %q", text)
	}
}

// TestCheckpointFails: a checkpoint that cannot be written is an error if it is the first,
// else a warning; the older one is still there.
func TestCheckpointFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := keptTrace(t)
	err := run(t.Context(), []string{"replay", "--quiet", "--checkpoint", filepath.Join(dir, "none", "state"), path}, nil, io.Discard, io.Discard)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join(dir, "none", "state")) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		err := run(t.Context(), []string{"replay", "--quiet", "--checkpoint", "/dev/full", path}, nil, io.Discard, io.Discard)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "checkpoint: write /dev/full: no space left on device") {
			t.Errorf("full disk: %v", err)
		}
	}
	file := filepath.Join(dir, "state")
	p := start(t, "--json", "--quiet", "--checkpoint", file, "--every", "1ms", path)
	await(t, file)
	// The second file shows that the first is written, its directory included.
	first, err := os.Stat(file)
	for err == nil {
		var now os.FileInfo
		if now, err = os.Stat(file); err == nil && !os.SameFile(first, now) {
			break
		}
	}
	noError(t, err)
	// Now its directory has another name: a fault that even root meets.
	noError(t, os.Rename(dir, dir+".moved"))
	if err := p.Wait(); err != nil {
		t.Fatal(err, p.stderr.String())
	}
	text := p.stderr.String()
	if !strings.Contains(text, "the older checkpoint is still there, and the replay goes on\n") {
		t.Errorf("stderr %q", text)
	}
	res := p.result(t)
	warnings, _ := res["warnings"].([]any)
	failed := 0
	for _, w := range warnings {
		if number, ok := strings.CutSuffix(strings.SplitAfter(w.(string), "checkpoints")[0], " checkpoints"); ok {
			failed, _ = strconv.Atoi(number)
		}
	}
	// Told are the first one, every tenth, and, if there are more than one, the end.
	want := 1 + failed/10
	if failed > 1 {
		want++
	}
	if lines := strings.Count(text, "\n"); failed < 1 || lines != want {
		t.Errorf("%d checkpoints failed, told in %d lines, want %d:\n%s\n%q", failed, lines, want, text, warnings)
	}
	if _, err := os.Stat(filepath.Join(dir+".moved", "state")); err != nil {
		t.Error(err)
	}
}

// terminated replays a trace from a pipe, with SIGTERM after two thirds of it and a pause. The
// rest never comes.
func terminated(t *testing.T, trace []byte, pause time.Duration) *process {
	t.Helper()
	p := &process{Cmd: commandtest.Command(t, "replay", "-")}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	in, err := p.StdinPipe()
	noError(t, err)
	noError(t, p.Start())
	if _, err := in.Write(trace[:len(trace)*2/3]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(pause)
	noError(t, p.Process.Signal(syscall.SIGTERM))
	_ = p.Wait()
	return p
}
