package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"reprise/internal/textutil"
)

// FuzzFlags: what --terms, --product, --model and --where say ends in a fit or in a message that can be read.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{"daxpy=N", "daxpy=N,1", "daxpy=", "=", "daxpy=N^2*N,1", "daxpy=N^99999999999", "function=daxpy", "N=1000", "n=1000=1", "M-1", "daxpy=" + strings.Repeat("N*", 5000) + "N", "M", "all"} {
		for flag := range uint8(4) {
			f.Add(flag, text)
		}
	}
	f.Fuzz(func(t *testing.T, flag uint8, text string) {
		name := []string{"--terms", "--product", "--where", "--model"}[flag%4]
		var out, errs bytes.Buffer
		err := run(context.Background(), []string{"calibrate", "kernels", name + "=" + text, "-"}, strings.NewReader(timings), &out, &errs)
		if err != nil && len(textutil.Brief(err).Error()) > 4000 {
			t.Errorf("a message of %d bytes: %.100s", len(err.Error()), err)
		}
	})
}
