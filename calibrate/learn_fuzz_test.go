package calibrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"reprise/kernels"
)

// FuzzLearn: whatever a table says, what is learned is finite and its kernel file is one, or there is an error.
func FuzzLearn(f *testing.F) {
	s := newSample(1, 0.02, 1)
	s.all("n1", 0, 1)
	f.Add(s.text.String(), 2)
	f.Add(polynomialTable(), 1)
	f.Add("function,m,n,k,seconds\ndgemm,1,1,1,0\ndgemm,2,2,2,2\ndgemm,3,3,3,1\n", 0)
	f.Add("function,side,n,role,seconds\na,L,1,3,1\na,L,9223372036854775807,3,2\na,L,5,0,1e9\na,,4,1,1e-15\n", 0)
	f.Fuzz(func(t *testing.T, text string, by int) {
		timings := NewTimings()
		if readInto(timings, text, ReadOptions{Keep: true}) != nil {
			return
		}
		o := DefaultLearnOptions()
		o.For = Grouping(uint(by) % 3)
		r, err := LearnKernels(timings, o)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		switch err := r.WriteYAML(&file, FileOptions{Noise: Auto}); {
		case errors.Is(err, ErrMeaningless): // of CPUs whose numbers have gaps
			return
		case err != nil:
			t.Fatal(err)
		}
		if _, err := kernels.Parse(bytes.NewReader(file.Bytes()), "learned.yaml"); err != nil {
			t.Fatalf("%v\n%s", err, file.Bytes())
		}
	})
}
