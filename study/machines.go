package study

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"reprise/internal/regular"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/platforms/machines"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/programs"
)

// parts loads traces and machines, and keeps those that were used last.
type parts struct {
	plan     *Plan
	traces   cache[[]byte]
	machines cache[replay.Parts] // of each one part
}

// Limits of what is kept: bytes of traces, and parts of machines.
const (
	mostTraces = 128 << 20
	mostParts  = 128
)

func newParts(p *Plan) *parts {
	return &parts{plan: p, traces: cache[[]byte]{limit: mostTraces}, machines: cache[replay.Parts]{limit: mostParts}}
}

// traceOf returns what opens the trace of a configuration, for a goroutine each time.
func (l *parts) traceOf(ctx context.Context, run programs.Run) (func() (*trace.Trace, error), error) {
	text, err := l.traces.get(fmt.Sprint(run.Identity()), func() ([]byte, int, error) {
		text, err := run.Trace(ctx, "study "+l.plan.Version)
		return text, len(text), err
	})
	name := l.plan.programTitle()
	return func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(text), int64(len(text)), name)
	}, err
}

// load loads a machine for a trace, or for the outline of one, with the options that its platform and its settings
// ask for.
func (l *parts) load(spec replay.MachineSpec,
	t replay.Traced) (replay.Machine, replay.Options, []warning.Warning, error) {
	for _, in := range inputsOf(&spec) {
		part, err := l.part(in, t.Header().Ranks)
		if err != nil {
			return replay.Machine{}, replay.Options{}, nil, err
		}
		of := &spec.Loaded
		switch in.Word {
		case "platform":
			of.Platform = part.Platform
		case "kernels":
			of.Kernels = part.Kernels
		case "network-noise":
			of.NetworkNoise = part.NetworkNoise
		case "hostfile":
			of.Hostfile = part.Hostfile
		}
	}
	return replay.LoadMachine(spec, t)
}

// part returns a part of a machine for so many ranks.
func (l *parts) part(in Input, ranks int) (replay.Parts, error) {
	return l.machines.get(fmt.Sprint(in.Word, in.Name, ranks), func() (p replay.Parts, weight int, err error) {
		found := l.plan.input(in.Word, in.Name)
		text, err := l.plan.textOf(found)
		switch {
		case err != nil:
		case in.Word == "kernels":
			p.Kernels, err = kernels.Parse(bytes.NewReader(text), in.Name)
		case in.Word == "network-noise":
			p.NetworkNoise, err = netmodel.ParseNoise(bytes.NewReader(text), in.Name)
		case in.Word == "hostfile":
			p.Hostfile = text
		case found.File == "":
			p.Platform, err = platforms.Builtin(in.Name, ranks)
		default:
			p.Platform, err = platforms.ParseAlone(bytes.NewReader(text), in.Name)
		}
		return p, 1, err
	})
}

// checkMachines checks, for all configurations, that hosts, levels of links and kernels that
// they name exist, and that there are places for all ranks: that is better told now than by
// each run. It returns which have noise.
func (p *Plan) checkMachines(s *Study, configs []*Config) (noisy []bool, err error) {
	l := newParts(p)
	known := map[string]bool{} // machines, and whether they have noise
	for i, c := range configs {
		outline, err := c.Run.Outline()
		if err != nil {
			return nil, s.errorOf(i, err)
		}
		spec, h := c.Machine, outline.Header()
		key := fmt.Sprintf("%q %q %q %q %d %v", spec.Platform, spec.Kernels, spec.NetworkNoise, spec.Hostfile, h.Ranks,
			spec.Values())
		has, checked := known[key]
		if !checked {
			var m replay.Machine
			var o replay.Options
			if m, o, _, err = l.load(spec, outline); err == nil {
				has, err = replay.HasNoise(h, m, o)
			}
			known[key] = has
		}
		if file, ok := outline.(io.Closer); ok { // now, or a study of 10,000 runs keeps as many traces
			file.Close()
		}
		if err != nil {
			return nil, s.errorOf(i, err)
		}
		noisy = append(noisy, has)
	}
	return noisy, nil
}

// path returns where the copy of an input is; before the plan is written, the input itself.
func (p *Plan) path(in *Input) string {
	if p.dir == "" {
		return in.at
	}
	return filepath.Join(p.dir, in.File)
}

// textOf returns what an input holds, as it was when the study was planned.
func (p *Plan) textOf(in *Input) (text []byte, err error) {
	switch {
	case in.text != nil:
		return in.text, nil
	case in.File != "":
		text, err = regular.Read(p.path(in), in.limit())
	case in.Word == "platform":
		text, err = machines.Platform(in.Name)
	default:
		text, err = machines.Kernels(in.Name)
	}
	if err != nil {
		return nil, err
	}
	return text, in.unchanged(text, p.path(in))
}

// unchanged returns an error if a text, which is found somewhere, is not the input's.
func (in *Input) unchanged(text []byte, at string) error {
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != in.SHA256 {
		return fmt.Errorf("%s %s is not what it was when the study was planned (SHA-256 %x, was %s)", in.Word, at, sum,
			in.SHA256)
	}
	return nil
}
