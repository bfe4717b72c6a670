package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/trace"
)

// This file says in words what was predicted, on what, and how sure that is: the first lines of a page.

// Describe fills in the words of a page, of a replay of a trace with header h on m: program, machine, and where the
// answer has no interval, why; noisy says whether a replay draws noise. Title is made of them.
func (d *Data) Describe(h *trace.Header, m *replay.Machine, noisy bool) {
	d.Program, d.Machine = programWords(h), machineWords(m)
	d.Title = fmt.Sprintf("%s on %s", d.Program, m.Platform.Name())
	if d.Answer.Interval == nil {
		k := m.Kernels
		errors := k != nil && (k.Uncertain() || k.HostScatter() > 0 || k.NetworkError() > 0)
		switch {
		case errors:
			d.Answer.NoInterval = "No interval: this is one replay, of the most likely machine. " +
				"--uncertainty gives one, from errors of the models, differences between hosts, and noise."
		case noisy:
			d.Answer.NoInterval = "No interval: this is one draw of noise, and nothing was measured of how far the models and hosts " +
				"may be off. --runs N gives an interval of noise alone."
		default:
			d.Answer.NoInterval = "No interval: nothing was measured of how far the models, hosts and noise may be off."
		}
	}
}

// programWords says what runs.
func programWords(h *trace.Header) string {
	param := func(name string) string {
		value, _ := h.Param(name)
		if n, err := strconv.Atoi(value); err == nil {
			return textutil.Thousands(n)
		}
		return value
	}
	words := h.Program
	switch mpi, recorded := h.Param(trace.ParamMPI); {
	case h.Program == "hpl":
		return fmt.Sprintf("HPL, N = %s, %s × %s ranks, NB %s, broadcast %s, depth %s", param("N"), param("P"), param("Q"),
			param("NB"), param("BCAST"), param("DEPTH"))
	case h.Program == "rochpl", h.Program == "rochpl6":
		return fmt.Sprintf("%s, N = %s, %s × %s ranks, NB %s, broadcast %s, frac %s",
			map[string]string{"rochpl": "rocHPL 7", "rochpl6": "rocHPL 6"}[h.Program], param("N"), param("P"), param("Q"), param("NB"),
			param("BCAST"), param("frac"))
	case h.Program == "hpcg":
		nz := param("nz")
		if nz == "" { // slabs
			nz = param("zl") + " or " + param("zu")
		}
		return fmt.Sprintf("HPCG, %s × %s × %s points a rank, %s, %s iterations", param("nx"), param("ny"), nz,
			textutil.Counted(int64(h.Ranks), "rank"), param("iterations"))
	case h.Program == trace.SimGridText:
		words = "Text of SimGrid"
	case recorded:
		mpi, _, _ = strings.Cut(mpi, ",")
		return fmt.Sprintf("%s, %s, recorded with %s", h.Program, textutil.Counted(int64(h.Ranks), "rank"), mpi)
	}
	for _, c := range h.Result {
		words += ", " + c.Title + " " + c.Value
	}
	return words + ", " + textutil.Counted(int64(h.Ranks), "rank")
}

// machineWords says what a machine is: its nodes with their processors, peak and memory, and its network, in words of
// its own where it has some.
func machineWords(m *replay.Machine) string {
	p := m.Platform
	d, first := p.Describe(), p.Host(0)
	peak, memory, alike := 0.0, replay.MemoryOf(p, 0), true
	for i := range p.NumHosts() {
		h := p.Host(i)
		alike = alike && h.Cores == first.Cores && h.Speed == first.Speed && replay.MemoryOf(p, i) == memory
		peak += replay.PeakOf(p, i)
	}

	nodes := textutil.Counted(int64(d.Hosts), "node")
	switch processors, stated := p.HostProp(0, replay.ProcessorsProperty); {
	case !alike:
		nodes += fmt.Sprintf(" of several kinds, %s in all", textutil.Counted(d.Cores, "core"))
	case stated:
		nodes += " of " + processors.Value
	default:
		nodes += " of " + textutil.Counted(int64(first.Cores), "core")
	}
	list := []string{p.Name() + ": " + nodes}
	switch {
	case peak > 0 && alike && d.Hosts > 1:
		list = append(list, fmt.Sprintf("peak of a node %s, of all %s", rate(peak/float64(d.Hosts)), rate(peak)))
	case peak > 0:
		list = append(list, "peak "+rate(peak))
	}
	if alike && memory > 0 {
		list = append(list, fmt.Sprintf("%.4g GB of memory a node", memory/1e9))
	}
	if network, stated := p.HostProp(0, replay.NetworkProperty); stated {
		list = append(list, network.Value)
	} else if d.Hosts > 1 {
		list = append(list, networkWords(m))
	}
	return strings.Join(list, "; ") + "."
}

// networkWords says what joins the hosts: the zone with most kinds of cables, and how many more zones there are.
func networkWords(m *replay.Machine) string {
	d := m.Platform.Describe()
	z := &d.Zones[0]
	for i := range d.Zones {
		if len(d.Zones[i].Levels) > len(z.Levels) {
			z = &d.Zones[i]
		}
	}
	text := z.Topology
	if z.Topology == "flat cluster" || z.Topology == "fat tree of 1 level" {
		text = "one switch"
	}
	if len(z.Levels) > 0 {
		first := &z.Levels[0]
		text += fmt.Sprintf(", %.4g Gb/s a node", 8*first.Bandwidth/1e9)
		if last := &z.Levels[len(z.Levels)-1]; last.Name != "backbone" && strings.HasPrefix(z.Topology, "fat tree") {
			ratio := float64(first.Nodes*first.Cables) * first.Bandwidth / (float64(last.Nodes*last.Cables) * last.Bandwidth)
			if ratio > 1+1e-9 {
				text += fmt.Sprintf(", oversubscribed %.3g to 1", ratio)
			}
		}
	}
	if more := len(d.Zones) - 1; more > 0 {
		text += ", and " + textutil.Counted(int64(more), "more zone")
	}
	return text
}

// rate writes flop/s as page/units.js does.
func rate(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}} {
		if v >= 0.9995*unit.of {
			return strconv.FormatFloat(math.Round(v/unit.of*100)/100, 'f', -1, 64) + " " + unit.name + "flop/s"
		}
	}
	return fmt.Sprintf("%.4g flop/s", v)
}
