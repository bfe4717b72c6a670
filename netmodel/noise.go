package netmodel

import (
	"io"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/bounds"
	"reprise/internal/regular"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels/noise"
)

// Noise makes the times of messages random: overheads of the protocol and the latency of transfers, by message size.
// ParseNoise reads it from a YAML file, see docs/network-model.md. Times are in seconds, sizes in bytes without
// envelope.
type Noise struct {
	name   string
	ranges [len(timedKeys)][]noiseRange // by Timed; empty: without noise
}

// Timed is a time of a message that may be random.
type Timed uint8

const (
	TimedSend    Timed = iota // overhead of a blocking send
	TimedIsend                // of a nonblocking one
	TimedRecv                 // of the completion of a receive
	TimedLatency              // latency phase between two hosts
)

// timedKeys are the keys of a file.
var timedKeys = [...]string{TimedSend: "os", TimedIsend: "ois", TimedRecv: "or", TimedLatency: "latency"}

// noiseRange is the law of sizes above a threshold and up to the threshold of the next range.
type noiseRange struct {
	above   int64
	own     bool // the mean is fixed + perByte*size, not that of the platform
	fixed   float64
	perByte float64
	law     noise.Law
}

// Name returns the name under which the noise was parsed.
func (n *Noise) Name() string { return n.name }

// Replaces returns those of the options smpi/os, smpi/ois and smpi/or that have no effect, as the noise has means of
// its own for all sizes.
func (n *Noise) Replaces() (options []string) {
	for what, ranges := range n.ranges[:TimedLatency] {
		platforms := func(r noiseRange) bool { return !r.own }
		if len(ranges) > 0 && ranges[0].above < 0 && !slices.ContainsFunc(ranges, platforms) {
			options = append(options, "smpi/"+timedKeys[what])
		}
	}
	return options
}

// Of returns what a message of size bytes costs, or how long its latency phase lasts, where that is mean without noise;
// it is never negative.
func (n *Noise) Of(what Timed, mean float64, size int64, d noise.Draw) float64 {
	ranges := n.ranges[what]
	i := len(ranges) - 1
	for i >= 0 && size <= ranges[i].above {
		i--
	}
	if i < 0 {
		return mean
	}
	r := &ranges[i]
	if r.own {
		mean = r.fixed + float64(r.perByte*float64(size))
	}
	if total := mean + r.law.Of(mean, d); total > 0 {
		return total
	}
	return 0
}

// LoadNoise parses the file at path.
func LoadNoise(path string) (*Noise, error) { return regular.Load(path, ParseNoise) }

// ParseNoise reads a file of network noise. name stands for it in messages. Errors
// begin with name:line and say what was found and what is allowed.
func ParseNoise(r io.Reader, name string) (_ *Noise, err error) {
	head := sniff.Remember(r)
	defer func() { err = head.Instead(err, name, sniff.YAML) }()
	defer textutil.Stopped(&err)
	p := yamlfile.Document{File: name}
	root := textutil.Must(p.Read(head))
	f := p.Fields(root, "network noise", "version!", "description", "source", "unit!", "os", "ois", "or", "latency")
	p.Head(f, "s")
	n := &Noise{name: name}
	empty := true
	for what, key := range timedKeys {
		if f[key] != nil {
			n.ranges[what], empty = noiseRanges(&p, f[key], key), false
		}
	}
	if empty {
		return nil, p.Errorf(root, "network noise: want at least one of os, ois, or, latency")
	}
	return n, nil
}

// maxThreshold is the largest "above", in bytes.
const maxThreshold = 1 << 50

// noiseRanges parses the list of one kind of times, in the order of sizes.
func noiseRanges(p *yamlfile.Document, n ast.Node, what string) []noiseRange {
	items := p.Items(n, what)
	if len(items) == 0 {
		p.Stop(n, "%s: empty list", what)
	}
	keys := []string{"above", "noise!", "fixed", "per_byte"}
	if what == "latency" {
		keys = keys[:3]
	}
	list := make([]noiseRange, len(items))
	for k, item := range items {
		r := &list[k]
		r.above = -1
		f := p.Fields(item, what, keys...)
		if f["above"] != nil {
			r.above = int64(p.Integer(f["above"], what+": above", 0, maxThreshold))
		}
		for _, part := range []struct {
			key     string
			v       *float64
			allowed bounds.Range
		}{{"fixed", &r.fixed, bounds.Seconds}, {"per_byte", &r.perByte, bounds.PerByte}} {
			if f[part.key] == nil {
				continue
			}
			r.own = true
			*part.v = p.Number(f[part.key], what+": "+part.key)
			p.Within(part.allowed, f[part.key], what+": "+part.key, *part.v)
		}
		r.law = p.Noise(f["noise"], what+": noise", nil)
		if k > 0 && r.above < 0 {
			p.Stop(item, "%s: range without \"above\" after another one", what)
		}
		if k > 0 && r.above <= list[k-1].above {
			p.Stop(item, "%s: above %d after %d, want ascending order", what, r.above, list[k-1].above)
		}
	}
	return list
}
