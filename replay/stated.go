package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file reads what a machine states of its hosts beyond what a replay needs: their peak, of which a rate is a share,
// and their memory, which a run must fit into.

// Properties of hosts. Those in words are for people only.
const (
	peakProperty       = "peak"       // flop/s of a host by its makers, such as 2150.4Gf
	memoryProperty     = "memory"     // bytes of a host
	ProcessorsProperty = "processors" // in words
	NetworkProperty    = "network"    // in words
)

// stated returns a positive quantity that a host has as a property, and the line of it; 0 if there is none.
func stated(p *platforms.Platform, host int, name string) (value float64, line int, err error) {
	prop, ok := p.HostProp(host, name)
	if !ok {
		return 0, 0, nil
	}
	if name == peakProperty {
		value, err = platforms.ParseSpeed(prop.Value)
	} else {
		value, err = strconv.ParseFloat(strings.TrimSpace(prop.Value), 64)
	}
	if err != nil || !(value > 0 && value < 1e30) {
		return 0, 0, fmt.Errorf("%s:%d: %s %s, want %s above 0", p.Name(), prop.Line, name, textutil.Quote(prop.Value),
			map[string]string{peakProperty: "flop/s", memoryProperty: "bytes"}[name])
	}
	return value, prop.Line, nil
}

// PeakOf returns the flop/s of a host by its makers, else of its cores at the speed that the platform states; 0 if that
// speed is not theirs.
func PeakOf(p *platforms.Platform, host int) float64 {
	peak, _, err := stated(p, host, peakProperty)
	switch h := p.Host(host); {
	case err == nil && peak > 0:
		return peak
	case p.NominalSpeed():
		return 0
	default:
		return float64(h.Cores) * h.Speed
	}
}

// MemoryOf returns the bytes of memory of a host, 0 where the platform does not state them.
func MemoryOf(p *platforms.Platform, host int) float64 {
	memory, _, _ := stated(p, host, memoryProperty)
	return memory
}

// HPCGPoint is what HPCG 3.1 counts for a point of the grid (ReportResults.cpp), in bytes. A row of the matrix has 27
// values with a local and a global number of their columns, four pointers and a character, the finest level 7 vectors;
// each of the three coarser levels has an eighth of the points of the next finer one and, for a point, three vectors
// and a number.
const HPCGPoint = (27*(8+4+8) + 4*8 + 1) + 7*8 + (1./8+1./64+1./512)*((27*(8+4+8)+4*8+1)+3*8+4)

// memoryOfRank returns the bytes that the largest rank of a program needs; 0 if that is not known.
func memoryOfRank(h *trace.Header) float64 {
	number := func(name string) float64 {
		text, _ := h.Param(name)
		v, _ := strconv.ParseFloat(text, 64)
		return v
	}
	switch h.Program {
	case "hpl", "rochpl", "rochpl6":
		n := number("N")
		return 8 * n * n / float64(h.Ranks)
	case "hpl-mxp": // the matrix in high precision
		n, bytes := number("N"), 4.0
		if high, _ := h.Param("high"); high == "fp64" {
			bytes = 8
		}
		return bytes * n * n / float64(h.Ranks)
	case "hpcg":
		return HPCGPoint * number("nx") * number("ny") * max(number("nz"), number("zl"), number("zu"))
	}
	return 0
}

// memory checks what the machine states of its hosts, and whether the run fits into the memory of the fullest one. What
// does not fit is played all the same: a machine with more may be what is asked for. Of HPCG, less than a quarter of the
// memory gives no result that counts. Kernels of a trace without queues are played even where the machine has devices, as
// if each rank waited for its device.
func (l *loader) memory() error {
	p, need := l.machine.Platform, memoryOfRank(l.header)
	count := l.machine.ranksOnHosts()
	for _, host := range slices.Compact(slices.Sorted(slices.Values(l.machine.Hosts))) {
		if _, _, err := stated(p, int(host), peakProperty); err != nil {
			return err
		}
		if _, _, err := stated(p, int(host), memoryProperty); err != nil {
			return err
		}
	}
	full := slices.Index(count, slices.Max(count))
	memory, line, _ := stated(p, full, memoryProperty)
	if _, devices := p.HostProp(full, launchProperty); devices && len(l.header.Queues) == 0 && len(l.header.Kernels) > 0 {
		l.odd = append(l.odd, warning.New("the machine has devices, but the trace has no queues: each rank waits for each of its kernels;"+
			" tracegen hpl --variant rochpl writes what HPL does with devices").As(warning.Risk))
	}
	need *= float64(count[full])
	if memory == 0 || need == 0 {
		return nil
	}
	say := func(than, fits string) {
		l.odd = append(l.odd, warning.At(p.Name(), line, "%s needs %.3g GB on host %s (%s), %s its %.4g GB of memory%s", strings.ToUpper(l.header.Program),
			need/1e9, p.Host(full).Name, textutil.Count(count[full], "rank"), than, memory/1e9, fits).As(warning.Risk))
	}
	switch {
	case need > memory:
		fits := ""
		if text, _ := l.header.Param("N"); text != "" {
			n, _ := strconv.ParseFloat(text, 64)
			fits = fmt.Sprintf("; N = %.0f fits", math.Floor(n*math.Sqrt(memory/need)))
		}
		say("more than", fits)
	case l.header.Program == "hpcg" && need < memory/4:
		say("by its rules too little for a result: less than a quarter of", "")
	}
	return nil
}
