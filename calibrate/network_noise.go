package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/calibrate/mixture"
	"reprise/internal/textutil"
)

// This file fits the noise of messages (NetworkReport.FitNoise) and writes its file (NetworkReport.WriteNoise).

// FitNoise fits a mixture of up to four normal laws to the residuals of each range of sizes, which the report's lines
// have: in seconds or as parts of the line's time, whichever has the smaller BIC. Modes that are skewed are taken for
// half-normal. From the detached threshold on there are no overheads, and so no noise. There may be 8,388,608 timings
// of an operation. Those that are far off their size's median belong to the noise, if it was noise.
func (r *NetworkReport) FitNoise(messages *Messages) error {
	m, o := messages.main(), &r.options
	for i := range r.Operations {
		fit := &r.Operations[i]
		op := fit.Operation
		if op == PingPong {
			continue
		}
		if n := m.number(op); n > maxNoise {
			return fmt.Errorf("noise of %s: %d timings, want at most %d", op, n, maxNoise)
		}
		if far, _ := m.strays(op); far > 0 {
			r.warn("noise of %s: %d timings far off the median of their size are part of it: leave them out of the table if they were none", op, far)
		}
		// The lines of the report stay as they are: noise is what timings have about them.
		noise, last := OperationNoise{Operation: op}, o.lastWithOverhead(op)
		byRange := make([][]messageTiming, len(fit.Pieces)) // of sizes up to the last one
		for _, bytes := range m.sizes(op) {
			if size := float64(bytes); size <= last {
				j := fit.fit.Find(size)
				for _, seconds := range m[op][bytes] {
					byRange[j] = append(byRange[j], messageTiming{bytes, seconds})
				}
			}
		}
		for j, piece := range fit.Pieces {
			if piece.From >= last {
				break
			}
			noise.Ranges = append(noise.Ranges, fitRange(piece, byRange[j]))
		}
		if !math.IsInf(last, 1) {
			noise.Ranges = append(noise.Ranges, RangeNoise{From: last, Note: "without overheads"})
		}
		r.Noise = append(r.Noise, noise)
	}
	if len(r.Noise) == 0 {
		return fmt.Errorf("%w: noise: no timings of send, isend or recv", ErrMeaningless)
	}
	return nil
}

// fitRange takes the mixture of the smallest BIC.
func fitRange(p NetworkPiece, timings []messageTiming) RangeNoise {
	r := RangeNoise{From: p.From, Intercept: p.Intercept, Slope: p.Slope, Timings: len(timings), Shape: Normal}
	if len(timings) < leastTimings {
		r.Note = fmt.Sprintf("%d timings, fewer than %d: no noise", len(timings), leastTimings)
		return r
	}
	// Seconds and parts are tried with each number of modes; all BICs are of densities of seconds.
	best := math.Inf(1)
	for _, relative := range []bool{false, true} {
		// Residuals are what the timings have more than the line. Of relative ones the sum of the logarithms of the
		// line's times is needed: with it densities of parts become those of seconds, which BICs are compared by.
		var x []float64
		logScale, timeless := 0.0, false
		for _, t := range timings {
			at := p.Intercept + float64(p.Slope*float64(t.bytes))
			e := t.seconds - at
			if relative {
				timeless = timeless || at <= 0
				e /= at
				logScale += math.Log(at)
			}
			x = append(x, e)
		}
		if timeless {
			r.Candidates = append(r.Candidates, NoiseCandidate{Relative: relative, Refused: "the line has no time at some sizes"})
			continue
		}
		// Timings that are the same to the resolution of the clock are no mode: one has a part of the width of the
		// middle half of the residuals at least, or, if that is one number, of their deviation.
		sorted := slices.Sorted(slices.Values(x))
		width := narrowestMode * (quantile(sorted, 0.75) - quantile(sorted, 0.25))
		if width == 0 {
			all := momentsOf(x)
			width = narrowestOfAll * all.sd()
		}
		least := width * width
		if least == 0 {
			r.Note = "all timings are on the line: no noise"
			return r
		}
		for k := 1; k <= mostModes; k++ {
			c := NoiseCandidate{Relative: relative, Modes: k}
			f, err := mixture.New(x, k, mixture.Options{LeastVariance: least, LeastMembers: leastModeSize})
			if err != nil {
				c.Refused = err.Error()
			} else if c.BIC = f.BIC() + 2*logScale; c.BIC < best {
				best = c.BIC
				r.Relative, r.Shape, r.Modes = relative, Normal, nil
				if IsHalfNormal(f.Skewness(x)) {
					r.Shape = HalfNormal
				}
				for _, l := range f.Laws {
					r.Modes = append(r.Modes, NoiseMode{l.Weight, l.Mean, math.Sqrt(l.Variance)})
				}
			}
			r.Candidates = append(r.Candidates, c)
		}
	}
	return r
}

// WriteNoise writes the noise as a file for replay --network-noise (docs/network-model.md): each
// range with its line, and modes in seconds or in percent of it.
func (r *NetworkReport) WriteNoise(w io.Writer, description string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\ndescription: %s\nunit: s\n", strconv.Quote(description))
	for _, op := range r.Noise {
		fmt.Fprintf(&b, "%s: # %s\n", map[Operation]string{Send: "os", Isend: "ois", Recv: "or"}[op.Operation], op.Operation)
		for i, n := range op.Ranges {
			b.WriteString("  - {")
			if i > 0 {
				fmt.Fprintf(&b, "above: %s, ", short(n.From))
			}
			if len(n.Modes) == 0 {
				b.WriteString("noise: none}\n")
				continue
			}
			amount := FormatNumber
			if n.Relative {
				amount = func(x float64) string { return FormatNumber(100*x) + "%" }
			}
			// Weights of an iteration sum to 1 but for its rounding and bounds: those
			// of the file are divided by the sum.
			total := 0.0
			for _, m := range n.Modes {
				total += m.Weight
			}
			modes := textutil.Texts(n.Modes, func(m NoiseMode) string {
				return fmt.Sprintf("{weight: %s, mean: %s, sd: %s}", FormatNumber(m.Weight/total), amount(m.Mean), amount(m.SD))
			})
			fmt.Fprintf(&b, "fixed: %s, per_byte: %s, noise: {%s: [%s]}}\n", FormatNumber(n.Intercept), FormatNumber(n.Slope),
				n.Shape, strings.Join(modes, ", "))
		}
	}
	return textutil.Write(w, b.String())
}

const (
	mostModes      = 4       // of the noise of a range
	leastModeSize  = 5       // timings of a mode
	leastTimings   = 20      // of a range; fewer say nothing about a distribution
	maxNoise       = 1 << 23 // timings of an operation
	narrowestMode  = 0.1     // deviation of a mode, in parts of the middle half of the residuals
	narrowestOfAll = 1e-3    // the same in parts of their deviation
)

// messageTiming is one timing of a range: a line's time depends on its size.
type messageTiming struct {
	bytes   int64
	seconds float64
}

// OperationNoise is the noise of an operation.
type OperationNoise struct {
	Operation Operation    `json:"operation"`
	Ranges    []RangeNoise `json:"ranges"`
}

// RangeNoise is how the timings of a range of sizes scatter about its line.
type RangeNoise struct {
	From       float64          `json:"from_bytes"` // exclusive
	Intercept  float64          `json:"intercept_s"`
	Slope      float64          `json:"slope_s_per_byte"`
	Timings    int              `json:"timings"`
	Relative   bool             `json:"relative"` // modes are parts of the line's time, not seconds
	Shape      string           `json:"shape"`    // Normal or HalfNormal
	Modes      []NoiseMode      `json:"modes"`    // none: no noise
	Candidates []NoiseCandidate `json:"candidates,omitempty"`
	Note       string           `json:"note,omitempty"`
}

// NoiseMode is a law of a mixture.
type NoiseMode struct {
	Weight float64 `json:"weight"`
	Mean   float64 `json:"mean"` // of what is added to the line's time
	SD     float64 `json:"sd"`
}

// NoiseCandidate is a mixture that was tried.
type NoiseCandidate struct {
	Relative bool    `json:"relative"`
	Modes    int     `json:"modes"`
	BIC      float64 `json:"bic"`
	Refused  string  `json:"refused,omitempty"`
}
