package main

import "testing"

func TestHighWaterMark(t *testing.T) {
	for _, test := range []struct {
		status string
		want   int64
		ok     bool
	}{
		{"Name:\treplay\nVmPeak:\t 1642088 kB\nVmHWM:\t   22828 kB\nVmRSS:\t   22000 kB\n", 22828 * 1024, true},
		{"Name:\treplay\nVmRSS:\t22000 kB\n", 0, false},
		{"Name:\treplay\nVmHWM:\tmuch\n", 0, false},
	} {
		if got, ok := highWaterMark([]byte(test.status)); got != test.want || ok != test.ok {
			t.Errorf("%q: got %d, %t, want %d, %t", test.status, got, ok, test.want, test.ok)
		}
	}
}
