package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"reprise/internal/builtin"
	"reprise/internal/command"
	"reprise/internal/wording"
	"reprise/report"
	"reprise/trace"
)

// data returns what the page of a replay shows.
func (p *pageFile) data(r *results) (*report.Data, error) {
	result, err := json.Marshal(r.Report)
	if err != nil {
		return nil, err
	}
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	h := r.Header
	d := &report.Data{
		Format: report.Format,
		Title:  title(h, r.Platform),
		Labels: labelsOf(r),
		Answer: p.answer(r),
		Inputs: report.Inputs{Command: command.Quoted(p.settings.args...), Tool: r.Tool, Files: files},
		Result: result,
		POP:    r.POP,
	}
	for _, x := range h.Params {
		d.Inputs.Parameters = append(d.Inputs.Parameters, report.Column{Title: x.Name, Value: x.Value})
	}
	return d, nil
}

// title says what was run on what, in a line.
func title(h *trace.Header, platform string) string {
	words := []string{h.Program}
	for _, c := range h.Result {
		words = append(words, c.Title+" "+c.Value)
	}
	return fmt.Sprintf("%s on %s, %s", strings.Join(words, ", "), platform, wording.Count(h.Ranks, "rank"))
}

// labelsOf says what every figure is of, if not of a whole run without noise.
func labelsOf(r *results) []string {
	labels := []string{}
	switch {
	case r.StoppedAt != nil:
		labels = append(labels, fmt.Sprintf("interrupted at %.6g s", *r.StoppedAt))
	case !r.Complete:
		labels = append(labels, fmt.Sprintf("steps %d:%d of %d only", r.First, r.Last+1, r.Header.Steps))
	}
	if r.WallBefore > 0 {
		labels = append(labels, "resumed: pictures begin at a checkpoint")
	}
	if r.Seed != nil {
		labels = append(labels, fmt.Sprintf("noise of seed %d", *r.Seed))
	}
	return labels
}

func (p *pageFile) answer(r *results) report.Answer {
	a := report.Answer{Makespan: r.Makespan, Gflops: r.Gflops, Messages: r.Messages, Bytes: r.Bytes, Wall: r.WallSeconds}
	for _, c := range r.Header.Result {
		a.Columns = append(a.Columns, report.Column{Title: c.Title, Value: c.Value})
	}
	// Of kernel models in seconds the speed of the hosts may be nominal: no peak then.
	if peak := p.peak(); a.Gflops > 0 && a.Gflops <= peak {
		a.Peak, a.Efficiency = peak, a.Gflops/peak
	}
	return a
}

// peak returns the Gflop/s of a core for each rank.
func (p *pageFile) peak() float64 {
	sum := 0.0
	for _, h := range p.machine.Hosts {
		speed := p.machine.Platform.Host(int(h)).Speed
		if p.machine.Factors != nil {
			speed *= p.machine.Factors[h]
		}
		sum += speed
	}
	return sum / 1e9
}

// files names what the replay has read.
func (p *pageFile) files() ([]report.Input, error) {
	s, source := p.settings, p.machine.Source
	list := []report.Input{}
	add := func(what, name string) error {
		if name == "" {
			return nil
		}
		hash, err := hashOf(name)
		list = append(list, report.Input{What: what, Name: name, Hash: hash})
		return err
	}
	for _, f := range [][2]string{
		{"trace", s.trace}, {"platform", source.Platform}, {"kernel models", source.Kernels},
		{"hostfile", source.Hostfile}, {"network noise", source.NetworkNoise},
	} {
		if err := add(f[0], f[1]); err != nil {
			return nil, err
		}
	}
	if p.in.text != nil {
		hash, err := p.in.text.Hash()
		if err != nil {
			return nil, err
		}
		list = append(list, report.Input{What: "actions", Name: wording.Count(len(p.in.text.Files()), "file"), Hash: fmt.Sprintf("%x", hash)})
	}
	return list, nil
}

// hashOf returns the SHA-256 of a file in hexadecimal; "" of what is built in, and of what can
// be read but once.
func hashOf(name string) (string, error) {
	if info, err := os.Stat(name); !builtin.IsFile(name) || err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
