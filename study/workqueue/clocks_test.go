package workqueue

import (
	"strings"
	"testing"
	"time"
)

// TestClocks: clocks that differ by a minute are an error that says which way.
func TestClocks(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for skew, want := range map[time.Duration]string{
		0: "", 59 * time.Second: "", -59 * time.Second: "",
		time.Minute: "1m0s ahead of", -90 * time.Second: "1m30s behind", 1000 * time.Hour: "1000h0m0s ahead of",
	} {
		switch err := clocks(now, now.Add(skew)); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%v: %v, want %q", skew, err, want)
		}
	}
}
