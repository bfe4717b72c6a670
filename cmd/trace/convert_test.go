package main

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

func TestConvertScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/convert",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"sametime": sameTime},
	})
}

// sameTime replays a trace with kernel models and SimGrid's text that was made of
// it on the same platform, and wants the same end of each rank:
//
//	sametime PLATFORM KERNELS TRACE INDEX [NAME:VALUE]...
func sameTime(ts *testscript.TestScript, _ bool, args []string) {
	m := replay.Machine{}
	var err error
	m.Platform, err = platforms.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	m.Kernels, err = kernels.Builtin(args[1])
	ts.Check(err)
	o := replay.DefaultOptions()
	for _, option := range args[4:] {
		name, value, _ := strings.Cut(option, ":")
		ts.Check(o.Network.Set(name, value))
	}
	tr, err := trace.Open(ts.MkAbs(args[2]))
	ts.Check(err)
	defer tr.Close()
	m.Hosts, err = replay.FillHosts(m.Platform, tr.Header().Ranks, 1)
	ts.Check(err)
	want, err := replay.Run(context.Background(), tr, m, o)
	ts.Check(err)
	text, err := simgrid.Open(ts.MkAbs(args[3]), ts.MkAbs("."))
	ts.Check(err)
	got, err := replay.RunSource(context.Background(), text.Header(), text, m, o)
	ts.Check(err)
	for r := range want.Ranks {
		w, g := want.Ranks[r].End, got.Ranks[r].End
		if !(math.Abs(w-g) <= 1e-12*w) || w == 0 {
			ts.Fatalf("rank %d ends at %.17g s, as text at %.17g s", r, w, g)
		}
	}
}

// TestConvertInterrupted: a write after the end of its context fails.
func TestConvertInterrupted(t *testing.T) {
	o := convertOptions{output: t.TempDir() + "/out"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := o.write(&cli.Context{Context: ctx}, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1))
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(o.output); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}
