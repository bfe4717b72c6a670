package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

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

// TestCollectLate: the first collection waits for 16 MB, and those after it for no more
// than the runtime would let them.
func TestCollectLate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	t.Setenv("GOGC", "70")
	if collectLate(); percent() != 100 {
		t.Errorf("GOGC is set, and %d%% instead of it", percent())
	}
	t.Setenv("GOGC", "")
	if collectLate(); percent() != 400 {
		t.Errorf("%d%% at first, want 400%%", percent())
	}
	runtime.GC()
	for end := time.Now().Add(time.Minute); percent() != 100; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d%% a minute after a collection, want 100%%", percent())
		}
	}
}
