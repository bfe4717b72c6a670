package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// This file finds how long a worker may work: ParseUntil reads the user's time, Left asks Slurm for the job's.

// UntilLimit, in place of a time, has a worker end with the job of Slurm that it runs in; see Left.
const UntilLimit = "slurm"

// ParseUntil reads the time at which a worker is to have ended: a duration from now on, or a time
// of this host's clock, with or without a zone; the zero time for "".
func ParseUntil(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d <= 0 {
			return now, fmt.Errorf("%s, want a duration such as 55m", text)
		}
		return now.Add(d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return now, fmt.Errorf("%q, want a duration such as 55m, a time such as 2026-12-01T08:00:00, or %s", text, UntilLimit)
}

// Left returns how long the job in which this process runs may work until it gets the signal before its end; ok is
// false if its time is not limited. It is a duration rather than a time because clocks of hosts differ.
func Left(ctx context.Context) (left time.Duration, ok bool, err error) {
	job := os.Getenv("SLURM_JOB_ID")
	if job == "" {
		return 0, false, errors.New("this is no job of Slurm: SLURM_JOB_ID is not set")
	}
	if array := os.Getenv("SLURM_ARRAY_JOB_ID"); array != "" { // which is also the ID of one of its tasks
		job = array + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	out, err := run(ctx, "", "squeue", "--noheader", "--jobs="+job, "--format=%L|%l")
	if err != nil {
		return 0, false, err
	}
	return parseLeft(strings.TrimSpace(out))
}

// parseLeft reads the time that is left of a job, and its limit, as LEFT|LIMIT.
func parseLeft(text string) (left time.Duration, ok bool, err error) {
	rest, whole, _ := strings.Cut(text, "|")
	if rest == "UNLIMITED" || rest == "NOT_SET" {
		return 0, false, nil
	}
	// The lead was fixed when the job was submitted, by its limit, and follows from that again here.
	left, ok = parseLimit(rest)
	limit, limited := parseLimit(whole)
	if !ok || !limited {
		return 0, false, fmt.Errorf("squeue: %q, want the time that is left of a job, and its limit", text)
	}
	return max(left-leadOf(limit), 0), true, nil
}

// parseLimit reads a limit of time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
// days-hours:minutes, days-hours:minutes:seconds. For any other text, ok is false.
func parseLimit(text string) (limit time.Duration, ok bool) {
	// A number has at most six digits, so that no sum overflows.
	number := func(text string) (time.Duration, bool) {
		n, err := strconv.Atoi(text)
		return time.Duration(n), err == nil && n >= 0 && len(text) <= 6
	}
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	days, rest, hasDays := strings.Cut(text, "-")
	if hasDays {
		n, ok := number(days)
		if !ok {
			return 0, false
		}
		limit, text = n*24*time.Hour, rest
	}
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return 0, false
	}
	if !hasDays && len(parts) < 3 {
		units = units[1:] // without days, one or two numbers begin with minutes
	}
	for i, part := range parts {
		n, ok := number(part)
		if !ok {
			return 0, false
		}
		limit += n * units[i]
	}
	return limit, true
}
