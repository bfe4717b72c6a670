package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"reprise/internal/command/commandtest"
)

// TestInterrupted: the first signal ends the command, also while it waits for somebody
// who writes a pipe. Before the first event it says that nothing was replayed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	trace, pipe, state := traceOf(t, 200), commandtest.Pipe(t), filepath.Join(t.TempDir(), "state")
	for _, args := range [][]string{
		{"-"}, {pipe}, {"--platform", pipe, trace}, {"--kernels", pipe, trace}, {"--hostfile", pipe, trace}, {"--network-noise", pipe, trace},
		{"--runs", "2", "--kernels", pipe, trace}, {"--tolerance", "1%", "--platform", pipe, trace}, {"platform", pipe}, {"--checkpoint", state, "--platform", pipe, trace},
	} {
		text := commandtest.Interrupt(t, syscall.SIGTERM, 1, "replay", args...)
		want := "replay: interrupted before the first event: nothing was replayed\n"
		if args[0] != "platform" && text != want {
			t.Errorf("%q: %q, want %q", args, text, want)
		}
	}
	commandtest.Interrupt(t, syscall.SIGINT, 1, "replay", "--platform", pipe, trace)
	commandtest.Interrupt(t, syscall.SIGTERM, 2, "replay", "compare", pipe, pipe)
}

// TestInterruptedOutput: so it is while it waits for somebody who reads a pipe, behind the replay
// or, of much to write, in it.
func TestInterruptedOutput(t *testing.T) {
	t.Parallel()
	pipe, dir := commandtest.Pipe(t), t.TempDir()
	for _, c := range []struct{ flag, name string }{{"--timeline", "run.paje"}, {"--timeline", "run.pftrace"}, {"--table", "run.csv"}, {"--profile", "run.pb.gz"}, {"--report", "run.html"}} {
		output := filepath.Join(dir, c.name)
		noError(t, os.Symlink(pipe, output))
		for _, n := range []int{200, 2500} {
			commandtest.Interrupt(t, syscall.SIGINT, 1, "replay", c.flag, output, traceOf(t, n))
		}
	}
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	trace := traceOf(t, 200)
	noisy := noisyModels(t, "1.0e-6")
	for _, args := range [][]string{
		{"--help"}, {"help"}, {"--version"}, {"platform", "--help"}, {"platform", "dahu"}, {"platform", "--json", "dahu"},
		{trace}, {"--json", trace}, {"--tolerance", "1%", trace}, {"--runs", "2", "--kernels", noisy, trace},
	} {
		commandtest.Full(t, 1, "replay", args...)
	}
	result := filepath.Join(t.TempDir(), "result.json")
	noError(t, os.WriteFile(result, []byte(`{"makespan_s": 1}`), 0o600))
	commandtest.Full(t, 1, "replay", "compare", "--help")
	commandtest.Full(t, 2, "replay", "compare", result, result)
}

// TestEndedBefore: a signal that comes while the beginning of a stream is waited for says so.
func TestEndedBefore(t *testing.T) {
	k := &checkpointer{job: &job{}}
	err := k.ended(nil, fmt.Errorf("stdin: %w", ending{os.Interrupt}))
	if want := "stopped by a signal (interrupt) before the first event: nothing was replayed"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
