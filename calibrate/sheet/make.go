package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/platforms/machines"
)

// This file writes the machine directory.

// Files beside platform and kernels.
const (
	sheetFile  = "sheet.yaml"
	manualFile = "machine.md"
)

// Make writes the machine into a directory: platform.xml, kernels.yaml, machine.md and the text of the sheet. It makes
// the directory, fills an empty one, or replaces a machine that it has made before; any other directory is an error.
// Make writes nothing unless replay can read all of these files.
func Make(dir string, s *Sheet, text []byte) (err error) {
	defer textutil.Stopped(&err)
	var platform, models, manual bytes.Buffer
	textutil.Check(errors.Join(s.spec().Write(&platform), s.writeKernels(&models), s.writeManual(&manual, dir)))
	textutil.Must(platforms.Parse(bytes.NewReader(platform.Bytes()), machines.PlatformFile))
	textutil.Must(kernels.Parse(bytes.NewReader(models.Bytes()), machines.KernelsFile))
	files := map[string][]byte{machines.PlatformFile: platform.Bytes(), machines.KernelsFile: models.Bytes(),
		manualFile: manual.Bytes(), sheetFile: text}
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == sheetFile })
	for _, e := range list {
		if files[e.Name()] == nil || !ours {
			return fmt.Errorf("%s: there is %s, want a new or empty directory, or one that was made from a sheet", dir, e.Name())
		}
	}
	textutil.Check(os.MkdirAll(dir, 0o777))
	for _, name := range []string{sheetFile, machines.PlatformFile, machines.KernelsFile, manualFile} {
		textutil.Check(atomicfile.Write(filepath.Join(dir, name), atomicfile.Bytes(files[name])))
	}
	return nil
}

// writeManual describes the machine for people: facts, what was assumed, how sure, and a run to begin with.
func (s *Sheet) writeManual(w io.Writer, dir string) error {
	var b strings.Builder
	name := s.Name
	if name == "" {
		name = filepath.Base(dir)
	}
	r := s.rates()
	fmt.Fprintf(&b, "# Machine %s\n\nMade by calibrate %s from a data sheet (`%s`), for `replay --machine`. Nothing was measured.\n\n",
		name, command.Version(), sheetFile)
	fmt.Fprintf(&b, "- %d nodes of %d x %d cores, %.4g Gflop/s each by the sheet: %.5g Tflop/s in all\n", s.Nodes, s.Sockets, s.Cores,
		s.Peak()/1e9, s.Peak()*float64(s.coresOfNode()*s.Nodes)/1e12)
	fmt.Fprintf(&b, "- %.4g GB of memory and %.4g GB/s a node\n", s.Memory/1e9, s.MemoryBandwidth*float64(s.Sockets)/1e9)
	fmt.Fprintf(&b, "- a port of %.4g Gb/s (%s), %.3g us between nodes; %s\n", s.Network*8/1e9, s.NetworkKind, s.Latency*1e6, s.topology)
	fmt.Fprintf(&b, "- %d ranks a node, %d cores each: %.4g Gflop/s in matrix products, %.3g %% of the peak; %.3g GB/s of memory\n",
		s.RanksPerHost, s.Threads(), r.flop/1e9, 100*r.flop/(s.Peak()*float64(s.Threads())), r.memory/1e9)
	if s.GPU.Count > 0 {
		s.writeDevices(&b)
	}
	if len(s.Assumed) > 0 {
		fmt.Fprintf(&b, "\n## Not in the sheet\n\nTaken instead, with wider intervals:\n\n- %s\n", strings.Join(s.Assumed, "\n- "))
	}
	deviations, network := s.deviations()
	fmt.Fprintf(&b, "\n## How sure\n\n`replay --uncertainty` draws common factors of times, with these standard deviations:\n\n")
	for _, d := range deviations {
		fmt.Fprintf(&b, "- %.0f %%: %s\n", 100*d.sd, strings.Join(d.patterns, ", "))
	}
	fmt.Fprintf(&b, "- %.0f %%: messages\n- %.0f %%: hosts\n", 100*network, 100*errorHosts)
	p, q, n := s.run()
	variant := ""
	if s.GPU.Count > 0 {
		variant = "--variant rochpl "
	}
	fmt.Fprintf(&b, "\n## A run of all of it\n\n    tracegen hpl %s-N %d --NB %d -P %d -Q %d -o run.trace.zst\n    replay --machine %s --uncertainty run.trace.zst\n",
		variant, n, s.blockSize(), p, q, dir)
	return textutil.Write(w, b.String())
}

// blockSize returns an NB that suits most machines: GPUs want wider blocks.
func (s *Sheet) blockSize() int {
	if s.GPU.Count > 0 {
		return 512
	}
	return 192
}

// run returns the grid that is nearest to a square, with more columns than rows, and an order of 80 % of the memory.
func (s *Sheet) run() (p, q, n int) {
	ranks := s.Nodes * s.RanksPerHost
	p = int(math.Sqrt(float64(ranks)))
	for ranks%p != 0 {
		p--
	}
	memory, nb := s.Memory, s.blockSize()
	if s.GPU.Count > 0 {
		memory = s.GPU.Memory * float64(s.GPU.Count)
	}
	n = int(math.Sqrt(0.8*memory*float64(s.Nodes)/8)) / nb * nb
	return p, ranks / p, n
}
