package page

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"reprise/internal/wording"
)

// setTicks labels an axis and lets it reach from the first tick to the last.
func setTicks(axis *plot.Axis, ticks plot.ConstantTicks) {
	axis.Min, axis.Max, axis.Tick.Marker = ticks[0].Value, ticks[len(ticks)-1].Value, ticks
}

// ticksAt returns a tick for each point.
func ticksAt(points plotter.XYs) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, pt := range points {
		ticks = append(ticks, plot.Tick{Value: pt.X, Label: wording.Thousands(int64(pt.X))})
	}
	return ticks
}

// logTicks returns the ticks 1, 2, 5, 10, ... of a logarithmic axis around positive
// values; over more than two decades powers of ten only.
func logTicks(low, high float64) plot.ConstantTicks {
	steps := []float64{1, 2, 5}
	if high > 100*low {
		steps = steps[:1]
	}
	var ticks plot.ConstantTicks
	for decade := math.Floor(math.Log10(low)); ; decade++ {
		for _, s := range steps {
			v := s * math.Pow(10, decade)
			if len(ticks) == 1 && v <= low {
				ticks = nil // one below is enough
			}
			if ticks = append(ticks, tick(v)); v >= high {
				return ticks
			}
		}
	}
}

// evenTicks returns up to seven ticks from zero to the first above a positive value.
func evenTicks(high float64) plot.ConstantTicks {
	step := math.Pow(10, math.Floor(math.Log10(high))-1)
	for _, factor := range []float64{2, 2.5, 2, 2, 2.5} { // 2, 5, 10, 20, 50
		if step *= factor; high <= 6*step {
			break
		}
	}
	ticks := plot.ConstantTicks{tick(0)}
	for i := 1.0; ticks[len(ticks)-1].Value < high; i++ {
		ticks = append(ticks, tick(i*step))
	}
	return ticks
}

// plainTicks returns the round values between two of any sign, about six.
func plainTicks(low, high float64) []plot.Tick {
	if low == high {
		return []plot.Tick{tick(low)}
	}
	step := math.Pow(10, math.Floor(math.Log10(high-low))-1)
	for _, factor := range []float64{2, 2.5, 2, 2, 2.5} { // 2, 5, 10, 20, 50
		if step *= factor; high-low <= 7*step {
			break
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(low / step); k*step <= high; k++ {
		ticks = append(ticks, tick(k*step))
	}
	return ticks
}

func tick(v float64) plot.Tick {
	return plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)}
}
