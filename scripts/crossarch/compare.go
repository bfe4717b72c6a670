package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// measured are the keys of what a run took here: time, memory and what follows from them.
var measured = []string{"wall_s", "peak_rss_bytes", "messages_per_wall_s"}

// compareJSON compares two documents to the last digit, but for what is measured.
func compareJSON(amd64, arm64 []byte) error {
	a, err := decode(amd64)
	if err != nil {
		return fmt.Errorf("amd64: %w", err)
	}
	b, err := decode(arm64)
	if err != nil {
		return fmt.Errorf("arm64: %w", err)
	}
	return compareValues("", a, b)
}

// decode keeps numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// compareValues returns an error with the path of the first difference.
func compareValues(path string, a, b any) error {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(a)) {
			if slices.Contains(measured, key) {
				continue
			}
			if _, there := b[key]; !there {
				return fmt.Errorf("%s.%s: amd64 %v, arm64 has none", path, key, a[key])
			}
			if err := compareValues(path+"."+key, a[key], b[key]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for i := range a {
			if err := compareValues(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); err != nil {
				return err
			}
		}
		return nil
	default:
		if a == b {
			return nil
		}
	}
	return fmt.Errorf("%s: amd64 %v, arm64 %v", path, a, b)
}

// compareBytes returns an error with the first bytes that differ.
func compareBytes(amd64, arm64 []byte) error {
	if bytes.Equal(amd64, arm64) {
		return nil
	}
	i := 0
	for i < min(len(amd64), len(arm64)) && amd64[i] == arm64[i] {
		i++
	}
	return fmt.Errorf("byte %d of %d and %d: amd64 %q, arm64 %q", i, len(amd64), len(arm64), amd64[i:min(i+32, len(amd64))], arm64[i:min(i+32, len(arm64))])
}
