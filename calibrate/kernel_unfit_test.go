package calibrate

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/warning"
)

// TestUnfitKernels: kernels that no model fits, or hosts of a kernel, change nothing for the others, whatever
// is wrong with them: too few sizes, times of 0 s, times that fall.
func TestUnfitKernels(t *testing.T) {
	good := polynomialTable()
	for name, bad := range map[string]string{
		"too few sizes": "dtrsm,n-1,0,1,1,1,1e-6\n",
		"no time":       "dtrsm,n-1,0,1,1,1,0\ndtrsm,n-1,0,2,2,2,0\ndtrsm,n-1,0,3,3,3,0\ndtrsm,n-1,0,4,4,4,0\n",
		"falling times": "dtrsm,n-1,0,1,1,1,4\ndtrsm,n-1,0,2,2,2,3\ndtrsm,n-1,0,3,3,3,2\ndtrsm,n-1,0,4,4,4,1\n",
		"no host":       "dtrsm,,0,1,1,1,1\n",
		"a bad host":    "dgemm,n-9,0,1,1,1,1e-6\n",
		"two bad CPUs":  "dgemm,n-9,0,1,1,1,1e-6\ndgemm,n-9,1,1,1,1,1e-6\n",
	} {
		o := KernelOptions{For: ForCPU, Model: Auto, Criterion: "bic"}
		want, err := FitKernels(read(t, good, ReadOptions{}), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FitKernels(read(t, good+bad, ReadOptions{}), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want.Functions, got.Functions, cmpopts.IgnoreUnexported(FunctionReport{}, Fit{}, Candidate{})); diff != "" {
			t.Errorf("%s: other fits:\n%s", name, diff)
		}
		if n := strings.Count(bad, "n-9"); len(got.Unfit) != max(n, 1) || len(got.Warnings) != max(n, 1) {
			t.Errorf("%s: unfit %v, warnings %q", name, got.Unfit, got.Warnings)
		}
		var file bytes.Buffer
		if err := got.WriteYAML(&file, FileOptions{}); err != nil || !strings.Contains(file.String(), "no model") {
			t.Errorf("%s: %v, %s", name, err, file.String())
		}
	}
}

// TestNothingFits: the error is about the first kernel, and the others are warned of.
func TestNothingFits(t *testing.T) {
	_, err := FitKernels(read(t, "function,n,seconds\nf,1,1\ng,1,1\n", ReadOptions{}), DefaultKernelOptions())
	if !errors.Is(err, ErrMeaningless) || !strings.HasPrefix(err.Error(), "f: no meaningful fit") {
		t.Errorf("got %v", err)
	}
	if list := warning.Of(err); len(list) != 1 || !strings.HasPrefix(list[0].Text, "g: no model: ") {
		t.Errorf("warnings %q", list)
	}
}

// TestLargeErrors: a constant for times of 1 s and 3 s is 2 s, off by 1 and 1/3, on average 66.7 %, and
// by 2 s of 4 s in all; one for 1 s and 1.1 s is off by 0.05/1 and 0.05/1.1, less than a tenth.
func TestLargeErrors(t *testing.T) {
	o := DefaultKernelOptions()
	o.Terms = map[string][]string{"f": {"1"}}
	for table, want := range map[string]string{
		"f,1,1\nf,2,3\n":   "f: 1 of 1 fits are more than 10 % off the timings on average; that to all timings by 66.7 %, at worst 100 %, and 50 % of all time: ",
		"f,1,1\nf,2,1.1\n": "",
	} {
		r, err := FitKernels(read(t, "function,n,seconds\n"+table, ReadOptions{}), o)
		if err != nil {
			t.Fatal(err)
		}
		if list := r.Warnings; (len(list) > 0) != (want != "") || want != "" && !strings.HasPrefix(list[0].Text, want) {
			t.Errorf("%q: warnings %q, want %q", table, list, want)
		}
	}
}

// TestUnfitCPUs: a CPU without a model of its own is still one of those that the ranks of a
// host take in turn, the first and the last, too.
func TestUnfitCPUs(t *testing.T) {
	fits := "dgemm,n-1,1,1,1,1,1e-6\ndgemm,n-1,1,2,2,2,8e-6\ndgemm,n-1,1,3,3,3,27e-6\ndgemm,n-1,1,4,4,4,64e-6\n"
	table := "function,host,cpu,m,n,k,seconds\n" + fits + "dgemm,n-1,0,1,1,1,1e-6\ndgemm,n-1,2,1,1,1,1e-6\n"
	r, err := FitKernels(read(t, table, ReadOptions{}), KernelOptions{For: ForCPU, Model: LinearOne, Criterion: "bic"})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := r.WriteYAML(&file, FileOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := file.String(); !strings.Contains(text, "\ncpus_per_host: 3\n") || strings.Count(text, "cpu: ") != 1 {
		t.Errorf("want 3 CPUs, and a model of CPU 1:\n%s", text)
	}
}
