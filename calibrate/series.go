package calibrate

import (
	"fmt"

	"reprise/internal/wording"
)

// Series is what a plot of a fit shows.
type Series struct {
	Name    string    // of the fit, as dgemm-host-5-cpu-0; fit for the name of a file
	Title   string    // with the measure of the fit
	XLabel  string    // what X is
	X       []float64 // size of each point: the first term of the model, or bytes
	Seconds []float64 // measured, mean
	Fitted  []float64 // seconds
}

// Series returns the points of each fit that the kernel file has.
func (r *KernelReport) Series() []Series {
	var list []Series
	for i := range r.Functions {
		f := &r.Functions[i]
		list = append(list, f.series(&f.All, f.groups[0], f.Function+"-all"))
		for j := range f.Groups {
			g := &f.Groups[j]
			name := fmt.Sprintf("%s-host-%s", f.Function, wording.Plain(g.Host))
			if g.CPU != nil {
				name += fmt.Sprintf("-cpu-%d", *g.CPU)
			}
			list = append(list, f.series(g, f.groups[j+1], name))
		}
	}
	return list
}

func (f *FunctionReport) series(fit *Fit, points []point, name string) Series {
	term := fit.Coefficients[0].Term
	s := Series{Name: name, XLabel: term, Fitted: fit.fitted, Title: fmt.Sprintf("%s   %s   R2 %.4f", name, f.Model, fit.R2)}
	p, err := parseProduct(term, f.Dims)
	if err != nil {
		panic("calibrate: a fitted term does not parse: " + err.Error())
	}
	for i := range points {
		s.X = append(s.X, p.at(&points[i].size))
		s.Seconds = append(s.Seconds, points[i].seconds.mean)
	}
	return s
}

// Series returns the points of each operation.
func (r *NetworkReport) Series() []Series {
	var list []Series
	for i, op := range r.Operations {
		p := r.points[i]
		s := Series{Name: string(op.Operation), XLabel: "bytes", X: p.X, Seconds: p.Y, Title: fmt.Sprintf("%s   %d pieces   log error %.4f", op.Operation, len(op.Pieces), op.LogError)}
		for _, x := range p.X {
			s.Fitted = append(s.Fitted, r.pieces[i].At(x))
		}
		list = append(list, s)
	}
	return list
}
