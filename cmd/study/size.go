package main

import (
	"fmt"
	"strconv"
	"strings"
)

// sizeUnits are those of a size of memory, the longer names first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"B", 1},
}

// parseSize reads a size of memory, such as 8GB, in bytes.
func parseSize(text string) (int64, error) {
	number, unit := text, 1.0
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = n, u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if v *= unit; err != nil || !(v >= 1 && v < 1e18) {
		return 0, fmt.Errorf("%q, want a size such as 8GB", text)
	}
	return int64(v), nil
}
