package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"reprise/internal/command"
	"reprise/internal/recognise"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/simgrid"
	"reprise/warning"
)

// input is an opened trace of either form.
type input struct {
	header *trace.Header
	trace  *trace.Trace   // nil for SimGrid's text
	text   *simgrid.Trace // nil for a trace of our own
	stream *stream        // that trace is read from; nil if it is a file
	pipe   io.Closer      // under stream; nil if that is standard input
}

// openInput opens a trace, standard input, or the index of a SimGrid trace.
func openInput(path string, stdin io.Reader) (*input, error) {
	if path == "-" {
		return openStream(stdin, "stdin", nil)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return openStream(f, path, f)
	}
	text, err := isText(path)
	if err != nil {
		return nil, err
	}
	if text {
		t, err := simgrid.Open(path, "")
		if err != nil {
			return nil, recognise.InFile(err, path, recognise.Trace, recognise.Index, recognise.Actions)
		}
		return &input{header: t.Header(), text: t}, nil
	}
	t, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	return &input{header: t.Header(), trace: t}, nil
}

// openStream begins to read a trace that is read once.
func openStream(r io.Reader, name string, pipe io.Closer) (*input, error) {
	s := newStream(r)
	t, err := trace.NewReader(s, name)
	if err != nil {
		if pipe != nil {
			err = errors.Join(err, pipe.Close())
		}
		return nil, err
	}
	return &input{header: t.Header(), trace: t, stream: s, pipe: pipe}, nil
}

// interrupt has the replay end where it waits for more of its trace.
func (in *input) interrupt() {
	if in.stream != nil {
		in.stream.interrupt()
	}
}

// isText reports whether a regular file looks like a SimGrid index. Nothing is
// read from a named pipe, which cannot be read twice.
func isText(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return simgrid.IsIndex(head[:n]), nil
}

// readAhead has text parsed beside the replay.
func (in *input) readAhead() {
	if in.text != nil {
		in.text.ReadAhead()
	}
}

func (in *input) close() error {
	switch {
	case in.text != nil:
		return in.text.Close()
	case in.pipe != nil:
		return errors.Join(in.trace.Close(), in.pipe.Close())
	}
	return in.trace.Close()
}

// run replays. Of a stream it is known at its end only which steps it holds.
func (in *input) run(m replay.Machine, o replay.Options) (*replay.Result, error) {
	if err := in.checkSteps(o); err != nil {
		return nil, err
	}
	if in.trace != nil {
		res, err := replay.Run(in.trace, m, o)
		if err == nil {
			err = in.checkSteps(o)
		}
		return res, err
	}
	res, err := replay.RunSource(in.header, in.text, m, o)
	if res == nil {
		return nil, warning.With(err, in.warnings())
	}
	res.Warnings = warning.Join(res.Warnings, in.warnings())
	return res, err
}

// warnings tell what was odd in what has been read so far.
func (in *input) warnings() []warning.Warning {
	if in.text == nil {
		return nil
	}
	return in.text.Warnings()
}

// checkSteps refuses steps behind the last window that is known.
func (in *input) checkSteps(o replay.Options) error {
	if in.text != nil {
		if o.From > 0 || o.To > 0 {
			return command.Usagef("--steps: the text has no steps, it is played as a whole")
		}
		return nil
	}
	if w := in.trace.Windows(); len(w) > 0 && o.From > w[len(w)-1].Last {
		return command.Usagef("--steps from %d, but the trace ends with step %d", o.From, w[len(w)-1].Last)
	}
	return nil
}

// program returns the trace's definitions, nil where they are not known before the end:
// of a stream, and of text.
func (in *input) program() *trace.Program {
	if in.trace == nil {
		return nil
	}
	if _, file := in.trace.Totals(); !file {
		return nil
	}
	return in.trace.Program()
}

// called returns the kernels that the trace calls: all that its header declares if no
// more is known.
func (in *input) called() []trace.Kernel {
	all := in.header.Kernels
	p := in.program()
	if p == nil {
		return all
	}
	calls, _ := p.Called(len(all))
	var list []trace.Kernel
	for i, k := range all {
		if calls[i] {
			list = append(list, k)
		}
	}
	return list
}

// polls reports whether the trace polls. Of a stream it is known whether there is a place
// for operations that may, of text nothing.
func (in *input) polls() bool {
	if p := in.program(); p != nil {
		return p.Polls()
	}
	return in.header.Pollables > 0
}

// machine is what is replayed on, with the names for the report.
type machine struct {
	replay.Machine
	platformName, kernelName string
	called                   []trace.Kernel    // that may cost time
	notes                    []warning.Warning // what was chosen that the command line leaves open
	odd                      []warning.Warning // in its description and in options
	streams                  bool              // what is called is not known before the end
	incomplete               []warning.Warning // kernels that may lack a model where they are called
}

// loadMachine loads the platform, the kernel models and the mapping for ranks.
func loadMachine(s *settings, in *input) (*machine, error) {
	h := in.header
	m := &machine{platformName: s.platform, called: in.called(), streams: in.program() == nil}
	if s.platform == "" {
		m.platformName = "default"
		m.note("no --platform: using the built-in machine \"default\", a generic cluster sized to the ranks")
	}
	var err error
	builtin := s.platform == "" || !command.Exists(s.platform)
	if s.platform == "" {
		m.Platform, err = platforms.Builtin(m.platformName, h.Ranks)
	} else {
		m.Platform, err = loadPlatform(s.platform, h.Ranks)
	}
	if err != nil {
		return nil, err
	}
	m.odd = warning.Join(m.Platform.Warnings(), netmodel.ObsoleteOptions(m.Platform), s.odd)
	return m, warning.With(m.loadRest(s, h, builtin), m.odd)
}

// loadRest loads what comes with the platform.
func (m *machine) loadRest(s *settings, h *trace.Header, builtin bool) (err error) {
	if err := m.loadKernels(s, h, builtin); err != nil {
		return err
	}
	if s.networkNoise != "" {
		if m.NetworkNoise, err = netmodel.LoadNoise(s.networkNoise); err != nil {
			return err
		}
		if err := s.checkReplaced(m.NetworkNoise.Replaces()); err != nil {
			return err
		}
	}
	return m.mapRanks(s, h.Ranks)
}

// loadPlatform loads a file, or a built-in machine for so many ranks.
func loadPlatform(name string, ranks int) (*platforms.Platform, error) {
	if command.Exists(name) {
		return platforms.Load(name)
	}
	p, err := platforms.Builtin(name, ranks)
	return p, command.NotBuiltin(name, err)
}

// loadKernels loads the kernel models that were asked for. A built-in machine
// brings its own; with another one the generic ones go by the speed of its hosts.
func (m *machine) loadKernels(s *settings, h *trace.Header, builtin bool) (err error) {
	m.kernelName = s.kernels
	switch {
	case s.kernels != "" && command.Exists(s.kernels):
		m.Kernels, err = kernels.Load(s.kernels)
		return err
	case s.kernels != "":
	case len(h.Kernels) == 0:
		return nil
	case builtin:
		m.kernelName = m.platformName
	default:
		m.kernelName = "default"
		m.note("no --kernels: using the built-in models \"default\", which go by the speed of the hosts")
	}
	m.Kernels, err = kernels.Builtin(m.kernelName)
	return command.NotBuiltin(m.kernelName, err)
}

func (m *machine) mapRanks(s *settings, ranks int) (err error) {
	if s.hostfile == "" {
		m.Hosts, err = replay.FillHosts(m.Platform, ranks, s.ranksPerHost)
		return err
	}
	f, err := os.Open(s.hostfile)
	if err != nil {
		return err
	}
	defer f.Close()
	m.Hosts, err = replay.ParseHostfile(f, s.hostfile, m.Platform, ranks)
	return err
}
