package slurm

import (
	"strconv"
	"strings"
	"time"
)

// parseLimit reads a limit of time as Slurm writes it: minutes, minutes:seconds,
// hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds. Of
// anything else, ok is false.
func parseLimit(text string) (limit time.Duration, ok bool) {
	units := map[int][]time.Duration{1: {time.Minute}, 2: {time.Minute, time.Second},
		3: {time.Hour, time.Minute, time.Second}}
	days, rest, hasDays := strings.Cut(text, "-")
	if hasDays {
		n, ok := number(days)
		if !ok {
			return 0, false
		}
		limit = time.Duration(n) * 24 * time.Hour
		units = map[int][]time.Duration{1: {time.Hour}, 2: {time.Hour, time.Minute}, 3: {time.Hour, time.Minute, time.Second}}
		text = rest
	}
	parts := strings.Split(text, ":")
	for i, unit := range units[len(parts)] {
		n, ok := number(parts[i])
		if !ok {
			return 0, false
		}
		limit += time.Duration(n) * unit
	}
	return limit, len(parts) <= 3
}

// number reads a number of at most six digits, of days or less.
func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && len(text) <= 6
}
