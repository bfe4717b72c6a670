package calibrate

import (
	"errors"
	"fmt"
	"slices"

	"reprise/warning"
)

// ErrMeaningless is wrapped by the errors about data from which no model with a
// meaning can be fitted.
var ErrMeaningless = errors.New("no meaningful fit")

// ErrContradiction is wrapped by the errors about options that a table contradicts.
var ErrContradiction = errors.New("the table contradicts the command line")

// Grouping says for what there is a model of its own.
type Grouping int

const (
	ForAll  Grouping = iota // one model for all hosts
	ForHost                 // one for each host, and one for all others
	ForCPU                  // one for each CPU of each host, and one for all others
)

// Models that can be asked for; see docs/calibrate.md.
const (
	Auto        = "auto"
	Constant    = "M-0"
	LinearOne   = "M-1"
	Polynomial  = "M-2"
	customModel = "terms"
)

// KernelOptions says what FitKernels fits.
type KernelOptions struct {
	For       Grouping
	Model     string              // Auto, Constant, LinearOne or Polynomial
	Terms     map[string][]string // by function: the terms of its model, instead of Model
	Product   map[string]string   // by function: the product of M-1; default: of all dimensions
	NoOffset  bool                // leave the constant out of M-1 and M-2
	Criterion string              // "bic" or "aic", by which Auto chooses
	Relative  bool                // minimise relative residuals, not those in seconds
}

// DefaultKernelOptions returns the options of the command without flags.
func DefaultKernelOptions() KernelOptions { return KernelOptions{Model: Auto, Criterion: "bic"} }

// Validate reports what is wrong with the options.
func (o *KernelOptions) Validate() error {
	var errs []error
	if !slices.Contains([]string{Auto, Constant, LinearOne, Polynomial}, o.Model) {
		errs = append(errs, fmt.Errorf("model %q, want auto, M-0, M-1 or M-2", o.Model))
	}
	if o.Criterion != "bic" && o.Criterion != "aic" {
		errs = append(errs, fmt.Errorf("criterion %q, want bic or aic", o.Criterion))
	}
	return errors.Join(errs...)
}

// KernelReport is the result of FitKernels.
type KernelReport struct {
	Timings   int64             `json:"timings"`
	FirstDate string            `json:"first_date,omitempty"`
	LastDate  string            `json:"last_date,omitempty"`
	Weights   string            `json:"weights"`   // "equal" or "relative"
	Criterion string            `json:"criterion"` // "bic" or "aic"
	Functions []FunctionReport  `json:"functions"`
	Unfit     []Unfit           `json:"unfit"`    // to what no model fits, never nil
	Warnings  []warning.Warning `json:"warnings"` // what is unfit, and fits that are far off; never nil

	cpuNumbers []int // of CPUs that were timed, ascending, if these have models of their own
}

// Unfit is a kernel without a model, or a host or CPU without one of its own.
type Unfit struct {
	Function string `json:"function"`
	Group    string `json:"group,omitempty"` // as "host 3, CPU 1"; "": the kernel has none at all
	Why      string `json:"why"`
}

// FunctionReport is the model of one kernel.
type FunctionReport struct {
	Function   string      `json:"function"`
	Dims       []string    `json:"dims"`
	Model      string      `json:"model"`
	Candidates []Candidate `json:"candidates"`
	All        Fit         `json:"all"`              // of all points together
	Groups     []Fit       `json:"groups,omitempty"` // of each host or CPU

	groups [][]point // all points, then those of each group
	unfit  []Unfit   // groups that are not among them
}

// Candidate is a model that was tried.
type Candidate struct {
	Model     string   `json:"model"`
	Terms     []string `json:"terms"`
	Criterion float64  `json:"criterion"`         // sum over the fits; 0 if refused
	Refused   string   `json:"refused,omitempty"` // why

	level bool // refused only for times that fall by no more than the uncertainty of the fit
}

// Fit is one fit of one kernel.
type Fit struct {
	Host         string        `json:"host,omitempty"`
	CPU          *int          `json:"cpu,omitempty"`
	Day          string        `json:"day,omitempty"` // where days are kept apart
	Points       int           `json:"points"`        // different sizes, by host and CPU
	Timings      int64         `json:"timings"`       // all of them
	Coefficients []Coefficient `json:"coefficients"`
	R2           float64       `json:"r2"`
	Sigma        float64       `json:"residual_sd"`          // seconds; relative if the weights are
	MeanError    float64       `json:"mean_relative_error"`  // mean of |fit - mean| / mean
	WorstError   float64       `json:"worst_relative_error"` // largest of them
	TimeError    float64       `json:"time_error"`           // sum of |fit - mean| / sum of the means: what long calls are off
	// ResidualGrowth is how many times as large the residuals of the slower half of the
	// points are as those of the faster half; 0 if not known, or if the fit is to relative ones.
	ResidualGrowth float64 `json:"residual_growth,omitempty"`
	ConditionNo    float64 `json:"condition_number"` // of the scaled terms
	NegativeSizes  int     `json:"negative_sizes"`   // points whose fitted time is below zero, and so counts as none
	NoiseModel     *Noise  `json:"noise,omitempty"`  // of sizes timed at least twice
	AIC            float64 `json:"aic"`
	BIC            float64 `json:"bic"`

	fitted []float64 // seconds, of each point
}

// Coefficient is a term of a fit.
type Coefficient struct {
	Term   string  `json:"term"`
	Value  float64 `json:"value"`           // seconds per unit of the product
	StdErr float64 `json:"std_error"`       // seconds per unit of the product
	Fixed  bool    `json:"fixed,omitempty"` // the fit goes through the shortest time measured
}
