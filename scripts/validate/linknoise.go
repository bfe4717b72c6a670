package main

import (
	"fmt"
	"strings"
)

// noiseRange is the published noise of an overhead for sizes from From on.
type noiseRange struct {
	From  int         `json:"from_bytes"`
	Slope float64     `json:"slope_s_per_byte"`
	Modes []noiseMode `json:"intercept_modes"`
}

// noiseMode is a mode of a mixture, in seconds.
type noiseMode struct {
	Mean   float64 `json:"mean_s"`
	SD     float64 `json:"sd_s"`
	Weight float64
}

// rendezvous is the size in bytes from which on the latency is noisy.
const rendezvous = 64000

// readLinkNoise returns the noise of the network as a file for replay.
func (l *runner) readLinkNoise(name string) (string, error) {
	var file struct {
		OS      []noiseRange `json:"send_os"`
		OR      []noiseRange `json:"recv_or"`
		OIS     []noiseRange `json:"isend_ois"`
		Latency []noiseMode  `json:"transfer_latency_modes"`
	}
	if err := l.document(name, &file); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("version: 1\nunit: s\n")
	for _, kind := range []struct {
		name   string
		ranges []noiseRange
	}{{"os", file.OS}, {"or", file.OR}, {"ois", file.OIS}} {
		fmt.Fprintf(&b, "%s:\n", kind.name)
		for _, r := range kind.ranges {
			writeRange(&b, r.From, r.Slope, r.Modes)
		}
		if kind.name != "ois" { // overheads of rendezvous are zero
			writeRange(&b, rendezvous, 0, nil)
		}
	}
	b.WriteString("latency:\n")
	writeRange(&b, rendezvous, 0, file.Latency)
	return b.String(), nil
}

// writeRange writes what holds for sizes from some bytes on.
func writeRange(b *strings.Builder, from int, slope float64, modes []noiseMode) {
	above := ""
	if from > 0 {
		above = fmt.Sprintf("above: %d, ", from-1)
	}
	noise := "none"
	if len(modes) > 0 {
		var list []string
		for _, m := range modes {
			list = append(list, fmt.Sprintf("{weight: %s, mean: %s, sd: %s}", exact(m.Weight), exact(m.Mean), exact(m.SD)))
		}
		noise = "{half-normal: [" + strings.Join(list, ", ") + "]}"
	}
	perByte := ""
	if slope != 0 {
		perByte = ", per_byte: " + exact(slope)
	}
	fmt.Fprintf(b, "  - {%sfixed: 0%s, noise: %s}\n", above, perByte, noise)
}
