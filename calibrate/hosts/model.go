// Package hosts models how the hosts of a machine differ from one another, and from day to day: a
// hierarchical Gaussian over coefficients of kernels, from which new machines can be drawn.
//
//	sample, err := hosts.NewSample(variables, false, hosts.HalfNormal)
//	err = sample.Read(table, hosts.ReadOptions{Columns: columns})  // or hosts.FromFits(report, false)
//	report, err := hosts.Estimate(sample, hosts.Options{})
//	err = report.Model.WriteYAML(w)                                // hosts.Parse reads it
//	machine, err := report.Model.Draw(hosts.DrawOptions{Hosts: 256, Seed: 7, Day: 1})
//	err = machine.WriteYAML(w, hosts.FileOptions{HostName: "node-{}"})
//
// The vector x of coefficients of host h on day d is
//
//	x(h,d) = mean + between(h) + within(h,d),   between ~ N(0, spatial), within ~ N(0, temporal)
//
// and a machine with slow nodes is a mixture of such classes. The unit is a host,
// or one of its CPUs. docs/calibrate.md has the methods and the file.
//
// A [Sample] has coefficients of units and days, a [Report] the [Model] that was estimated from it, a [Machine] the
// hosts that were drawn from a model. Timings are fitted by calibrate; the kernel file of a machine is for replays.
//
// # Units
//
// Coefficients are in seconds per unit of their term, such as a product of dimensions; days are numbers.
//
// # Errors
//
// An error in a file begins with its name and line. A sample from which nothing can be estimated is an error; a part of
// the model that it does not tell, as from a single day, is a note in the report.
//
// # Source
//
// T. Cornebize, "High Performance Computing: Towards Better Performance Predictions and
// Experiments", PhD thesis, Université Grenoble Alpes, 2021.
package hosts

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"

	"reprise/calibrate"
	"reprise/internal/regular"
)

// Limits of a model.
const (
	// Two covariances of a class have maxVariables² numbers each. The number of a variable has 6
	// bits of the name of a draw, that of a CPU 10 (see name).
	maxVariables = 64
	maxClasses   = 64
	maxCPUs      = 1 << 10
)

// Variable is a coordinate of the vector of a host: a coefficient of the time
// of a kernel, or of the standard deviation of its noise; in seconds per unit of the term.
type Variable struct {
	Kernel string `json:"kernel"`
	Term   string `json:"term"` // as kernel files write it: M*N*K, or 1
	Noise  bool   `json:"noise,omitempty"`
}

// String returns dgemm:M*N*K, or dgemm:M*N*K (noise).
func (v Variable) String() string {
	text := v.Kernel + ":" + v.Term
	if v.Noise {
		text += " (noise)"
	}
	return text
}

// Model is the law that hosts are drawn from. The zero value is no valid model: Estimate and Parse
// make them, and Validate says what is missing. Models are not changed after that, so that any
// number of draws may be made of one at the same time.
type Model struct {
	Description string     `json:"description,omitempty"`
	Source      string     `json:"source,omitempty"`
	PerCPU      bool       `json:"per_cpu"`       // the unit is a CPU of a host
	CPUsPerHost int        `json:"cpus_per_host"` // 1 unless the unit is a CPU
	Shape       string     `json:"noise_shape"`   // of the noise: "normal" or "half-normal"
	Variables   []Variable `json:"variables"`
	Classes     []Class    `json:"classes"`
}

// Class is a hierarchical Gaussian; vectors and matrices are in the order of the model's variables.
type Class struct {
	Name     string      `json:"name"`
	Weight   float64     `json:"weight"`   // share of the units
	Mean     []float64   `json:"mean"`     // seconds per unit of the term
	Spatial  [][]float64 `json:"spatial"`  // covariance between units
	Temporal [][]float64 `json:"temporal"` // covariance between the days of a unit
}

// Shapes of noise.
const (
	Normal     = calibrate.Normal
	HalfNormal = calibrate.HalfNormal
)

// Validate returns the first error of the model: each class must have a mean and
// two covariances that are positive semi-definite, and all weights together are 1.
func (m *Model) Validate() error {
	if err := cmp.Or(m.validateHead(), checkVariables(m.Variables)); err != nil {
		return err
	}
	if len(m.Classes) == 0 || len(m.Classes) > maxClasses {
		return fmt.Errorf("%d classes, want 1 to %d", len(m.Classes), maxClasses)
	}
	// The weights are the shares of all units: draws of classes go by them.
	total, names := 0.0, map[string]bool{}
	for i := range m.Classes {
		c := &m.Classes[i]
		if err := c.validate(m.Variables); err != nil {
			return err
		}
		if names[c.Name] {
			return fmt.Errorf("two classes of the name %q", c.Name)
		}
		names[c.Name] = true
		total += c.Weight
	}
	if !(math.Abs(total-1) < 1e-6) {
		return fmt.Errorf("weights of the classes add up to %g, want 1", total)
	}
	return nil
}

// validateHead checks the scalars of the model, which its file has before all lists: Parse reports
// them with their line.
func (m *Model) validateHead() error {
	switch {
	case m.CPUsPerHost < 1 || m.CPUsPerHost > maxCPUs:
		return fmt.Errorf("%d CPUs of a host, want 1 to %d", m.CPUsPerHost, maxCPUs)
	case !m.PerCPU && m.CPUsPerHost > 1:
		return fmt.Errorf("%d CPUs of a host, want 1 as the model is per host", m.CPUsPerHost)
	case m.Shape != Normal && m.Shape != HalfNormal:
		return fmt.Errorf("shape of the noise %q, want %s or %s", m.Shape, Normal, HalfNormal)
	}
	return nil
}

// checkVariables wants each variable once, and of each kernel a term of its time.
func checkVariables(list []Variable) error {
	if len(list) == 0 || len(list) > maxVariables {
		return fmt.Errorf("%d variables, want 1 to %d", len(list), maxVariables)
	}
	// Terms are compared in their normal form: M*N and N*M are the same. A noise is that of a call
	// whose time has a model, so that timed collects the kernels with a term of the time.
	seen, timed := map[Variable]Variable{}, map[string]bool{}
	for _, v := range list {
		if err := calibrate.CheckTerm(v.Kernel, v.Term); err != nil {
			return fmt.Errorf("variable %s: %w", v, err)
		}
		normal := v
		normal.Term = calibrate.NormalTerm(v.Term)
		if other, ok := seen[normal]; ok {
			return fmt.Errorf("variables %s and %s are the same", other, v)
		}
		seen[normal] = v
		timed[v.Kernel] = timed[v.Kernel] || !v.Noise
	}
	for _, v := range list {
		if !timed[v.Kernel] {
			return fmt.Errorf("variable %s: noise of a kernel of which there is no term of the time", v)
		}
	}
	return nil
}

// validate checks a class by itself; errors begin with its name. The number of variables is that of the model.
func (c *Class) validate(variables []Variable) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("class %q: %w", c.Name, err)
		}
	}()
	p := len(variables)
	switch {
	case !word.MatchString(c.Name):
		return errors.New("want a name of letters, digits, points, _ and -")
	case !(c.Weight >= 0 && c.Weight <= 1):
		return fmt.Errorf("weight %g, want 0 to 1", c.Weight)
	case len(c.Mean) != p:
		return fmt.Errorf("mean: %d numbers, want %d, one for each variable", len(c.Mean), p)
	}
	// A mean must be a vector that could be drawn.
	for i, v := range variables {
		if !isFinite(c.Mean[i]) || !inRange(variables, i, c.Mean[i]) {
			return fmt.Errorf("mean of %s: %g, want a finite number, and above zero", v, c.Mean[i])
		}
	}
	if err := checkCovariance(c.Spatial, p); err != nil {
		return fmt.Errorf("spatial covariance: %w", err)
	}
	if err := checkCovariance(c.Temporal, p); err != nil {
		return fmt.Errorf("temporal covariance: %w", err)
	}
	return nil
}

// unit is the word for the units.
func (m *Model) unit() string {
	if m.PerCPU {
		return "CPU"
	}
	return "host"
}

// inRange reports whether a value is one that a host can have: the first term
// of a kernel's time is above zero, the first of its noise and a constant of its time are not
// below. Other terms may have either sign, as those of fitted polynomials do.
func inRange(list []Variable, i int, x float64) bool {
	v := list[i]
	switch first := isFirst(list, i); {
	case first && !v.Noise:
		return x > 0
	case first, v.Term == "1" && !v.Noise:
		return x >= 0
	}
	return true
}

// isFirst reports whether a variable is the first of its kernel's time, or of its noise.
func isFirst(list []Variable, i int) bool {
	return !slices.ContainsFunc(list[:i],
		func(v Variable) bool { return v.Kernel == list[i].Kernel && v.Noise == list[i].Noise })
}

// isFinite reports whether a number is neither an infinity nor NaN, which files can say.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// word matches the name of a class.
var word = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// builtin has the models that T. Cornebize published for the cluster Dahu of Grid'5000, as
// docs/calibrate.md lists them.
//
//go:embed builtin/*.yaml
var builtin embed.FS

// BuiltinNames returns the names of the models that come with the package, in the order to list them.
func BuiltinNames() []string { return []string{"dahu-cpu", "dahu-cooling", "dahu-node"} }

// Find returns a built-in model, or the one in a file.
func Find(name string) (*Model, error) {
	if text, err := builtin.ReadFile("builtin/" + name + ".yaml"); err == nil {
		return Parse(bytes.NewReader(text), name)
	}
	m, err := regular.Load(name, Parse)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; built-in machine models: %s", err, strings.Join(BuiltinNames(), ", "))
	}
	return m, err
}

// SourceOfDraw returns the text of the key source in the kernel file of drawn hosts: the name and
// the source of the model.
func (m *Model) SourceOfDraw(name string) string {
	source := cmp.Or(strings.Join(strings.Fields(m.Source), " "), "source not said")
	return fmt.Sprintf("random numbers, no measurement of these hosts, by the machine model %s (%s)", name, source)
}
