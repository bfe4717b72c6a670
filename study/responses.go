package study

import (
	"cmp"
	"context"
	"slices"

	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/trace"
)

// Efficiencies are POP's ([pop.Data]): parallel is the product of the others.
type Efficiencies struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Serialisation float64 `json:"serialisation"`
	Wire          float64 `json:"wire"`
	Contention    float64 `json:"contention"`
}

// Parts returns the efficiencies as parts of a table; they are no seconds.
func (e *Efficiencies) Parts() []Part {
	if e == nil {
		return nil
	}
	return []Part{{"parallel", e.Parallel}, {"load balance", e.LoadBalance}, {"serialisation", e.Serialisation},
		{"wire", e.Wire}, {"contention", e.Contention}}
}

// estimate estimates a run. Of a critical path each window has its own.
func estimate(ctx context.Context, open func() (*trace.Trace, error), t *trace.Trace, m replay.Machine,
	ro replay.Options, o RunOptions) (*Outcome, error) {
	so := replay.SampleOptions{Tolerance: o.Tolerance, Workers: 1}
	var windows *path.Windows
	if o.Responses.CriticalPath {
		windows = path.NewWindows(t.Header(), m, ro)
		so.Observe = windows.Observe
	}
	est, err := replay.Sample(ctx, open, m, ro, so)
	if err != nil {
		return nil, err
	}
	out := estimated(est)
	if windows != nil {
		out.Path = pathParts(windows.Data(est))
	}
	return out, nil
}

// respond replays a run, with what is asked of it.
func respond(ctx context.Context, open func() (*trace.Trace, error), t *trace.Trace, m replay.Machine,
	ro replay.Options, r Responses) (*Outcome, error) {
	var p *path.Path
	if r.CriticalPath {
		p = path.New(t.Header(), m, ro)
		ro.Observers = []replay.Observer{p.Observer()}
	}
	res, err := replay.Run(ctx, t, m, ro)
	if err != nil {
		return nil, err
	}
	out := exact(res)
	if p != nil {
		out.Path = pathParts(p.Data())
	}
	if !r.POP {
		return out, nil
	}
	d, err := pop.Of(ctx, res, m, ro,
		func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
			again, err := open()
			if err != nil {
				return nil, err
			}
			defer again.Close()
			return replay.Run(ctx, again, m, o)
		})
	if err == nil {
		out.POP = &Efficiencies{d.Parallel, d.LoadBalance, d.Serialisation, d.Wire, d.Contention}
	}
	return out, err
}

// pathParts adds up the parts of a path of one name, whatever phase or level of links they are of:
// kernels, overheads, polls, and the latency, wire and contention of messages.
func pathParts(d *path.Data) []Part {
	parts := []Part{}
	for _, of := range d.Parts {
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == of.Name })
		if i < 0 {
			i = len(parts)
			parts = append(parts, Part{Name: of.Name})
		}
		parts[i].Seconds += of.Seconds
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return parts
}
