package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"reprise/trace"
)

// ResultFormat is the version of the JSON of results. It changes where a reader of an older one
// would misread them.
const ResultFormat = 1

// Provenance is what a report was made from, and what making it cost.
type Provenance struct {
	Format        int      `json:"format"` // ResultFormat
	Tool          string   `json:"tool"`   // name and version of the command
	Trace         string   `json:"trace"`
	Platform      string   `json:"platform"`
	KernelFile    string   `json:"kernels"`                  // "": none
	NetworkNoise  string   `json:"network_noise,omitempty"`  // file
	HostSpeeds    []string `json:"host_speed,omitempty"`     // PATTERN=FACTOR
	ComputeScale  float64  `json:"compute_scale,omitempty"`  // of amounts of flop; 0: as they are
	FileBandwidth float64  `json:"file_bandwidth,omitempty"` // byte/s of files of a rank; 0: no time
	ComputeNoise  bool     `json:"compute_noise,omitempty"`  // amounts of flop drawn by their spread
	// further parameters of the machine, as "bandwidth *=0.5"
	Changes    []string          `json:"machine_changes,omitempty"`
	Program    string            `json:"program"`    // by the trace's header
	Parameters map[string]string `json:"parameters"` // likewise

	WallSeconds float64 `json:"wall_s"`         // of the replay
	PeakRSS     int64   `json:"peak_rss_bytes"` // of the process
}

// of returns p with what the header of the trace tells.
func (p Provenance) of(h *trace.Header) Provenance {
	p.Format, p.Program, p.Parameters = ResultFormat, h.Program, map[string]string{}
	for _, x := range h.Params {
		p.Parameters[x.Name] = x.Value
	}
	return p
}

// On returns p with what was loaded as the machine.
func (p Provenance) On(s *MachineSpec) Provenance {
	p.Platform, p.KernelFile, p.NetworkNoise, p.HostSpeeds = s.Platform, s.Kernels, s.NetworkNoise, texts(s.HostSpeeds)
	p.ComputeScale, p.ComputeNoise, p.FileBandwidth = s.ComputeScale, s.ComputeNoise, s.FileBandwidth
	for _, v := range s.Values() {
		switch v.Name {
		case "without", "kernel-noise", "bandwidth", "latency":
			p.Changes = append(p.Changes, v.Name+" "+v.Value)
		}
	}
	return p
}

// models names the models besides the platform, for texts.
func (p *Provenance) models() string {
	text := ""
	if p.KernelFile != "" {
		text += ", kernels " + p.KernelFile
	}
	if len(p.HostSpeeds) > 0 {
		text += ", speeds " + strings.Join(p.HostSpeeds, ", ")
	}
	if len(p.Changes) > 0 {
		text += ", " + strings.Join(p.Changes, ", ")
	}
	if p.ComputeScale != 0 {
		text += fmt.Sprintf(", flop times %g", p.ComputeScale)
	}
	if p.FileBandwidth != 0 {
		text += fmt.Sprintf(", files at %g byte/s", p.FileBandwidth)
	}
	if p.ComputeNoise {
		text += ", flop by its spread"
	}
	if p.NetworkNoise != "" {
		text += ", network noise " + p.NetworkNoise
	}
	return text
}

// writeJSON writes all of a report; numbers have all the digits of the double.
func writeJSON(w io.Writer, report any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}
