package report

import (
	"fmt"
	"strings"

	"reprise/replay"
)

// Labels say what the figures of a replay are of, if not of a whole run on the machine as its
// files have it. None: of that.
func Labels(r *replay.Report) []string {
	labels := []string{}
	switch {
	case r.StoppedAt != nil:
		labels = append(labels, fmt.Sprintf("interrupted at %.6g s%s: figures up to there", *r.StoppedAt, stepReached(r.Result)))
	case !r.Complete:
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	if r.WallBefore > 0 {
		labels = append(labels, "resumed from a checkpoint: pictures begin there, totals are of the whole run")
	}
	return append(labels, modelLabels(r.Seed, &r.Provenance)...)
}

// EstimateLabels are those of an estimate.
func EstimateLabels(r *replay.EstimateReport) []string {
	labels := []string{fmt.Sprintf("estimate from %d of %d steps, ± %.2g %%, about %.0f %% sure", r.Simulated, r.Steps, 100*r.Relative(), 100*r.Confidence)}
	if !r.Complete {
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	return append(labels, modelLabels(r.Seed, &r.Provenance)...)
}

// EnsembleLabels are those of replays with several seeds.
func EnsembleLabels(r *replay.EnsembleReport) []string {
	labels := []string{fmt.Sprintf("mean of %d runs, noise of seeds %d to %d", len(r.Runs), r.Runs[0].Seed, r.Runs[len(r.Runs)-1].Seed)}
	if !r.Complete {
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	return append(labels, modelLabels(nil, &r.Provenance)...)
}

// UncertaintyLabels are those of replays on drawn machines.
func UncertaintyLabels(r *replay.UncertaintyReport) []string {
	labels := []string{fmt.Sprintf("mean of %d drawn machines, seeds %d to %d", len(r.Draws), r.Draws[0].Seed, r.Draws[len(r.Draws)-1].Seed)}
	if !r.Complete {
		labels = append(labels, replay.PartLabel(r.Header, r.First, r.Last))
	}
	return append(labels, modelLabels(nil, &r.Provenance)...)
}

// stepReached says in which step a replay has stopped, if the trace marks its steps.
func stepReached(r *replay.Result) string {
	if r.Header.Steps == 0 {
		return ""
	}
	return fmt.Sprintf(" in step %d of %d", r.Last, r.Header.Steps)
}

// modelLabels are those of what is not as the files have it.
func modelLabels(seed *uint64, p *replay.Provenance) []string {
	var labels []string
	if seed != nil {
		labels = append(labels, fmt.Sprintf("noise of seed %d", *seed))
	}
	if len(p.HostSpeeds) > 0 {
		labels = append(labels, "speeds of hosts changed: "+strings.Join(p.HostSpeeds, ", "))
	}
	if p.ComputeScale != 0 {
		labels = append(labels, fmt.Sprintf("amounts of flop take %g times as long", p.ComputeScale))
	}
	if p.FileBandwidth != 0 {
		labels = append(labels, fmt.Sprintf("files at %g byte/s", p.FileBandwidth))
	}
	if p.ComputeNoise {
		labels = append(labels, "amounts of flop drawn by their spread")
	}
	return labels
}
