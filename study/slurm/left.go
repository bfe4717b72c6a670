package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// errOutside says that Left was asked outside of a job.
var errOutside = errors.New("this is no job of Slurm: SLURM_JOB_ID is not set")

// Left returns how long the job in which this process runs may work until it gets the signal
// before its end; ok is false if its time is not limited. It is a length of time, as
// clocks of hosts differ.
func Left(ctx context.Context) (left time.Duration, ok bool, err error) {
	job := os.Getenv("SLURM_JOB_ID")
	if job == "" {
		return 0, false, errOutside
	}
	if array := os.Getenv("SLURM_ARRAY_JOB_ID"); array != "" { // which is the id of one of its tasks, too
		job = array + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	out, err := run(ctx, "", "squeue", "--noheader", "--jobs="+job, "--format=%L|%l")
	if err != nil {
		return 0, false, err
	}
	return parseLeft(strings.TrimSpace(out))
}

// parseLeft reads the time that is left of a job, and its limit.
func parseLeft(text string) (left time.Duration, ok bool, err error) {
	rest, whole, _ := strings.Cut(text, "|")
	if rest == "UNLIMITED" || rest == "NOT_SET" {
		return 0, false, nil
	}
	left, ok = parseLimit(rest)
	limit, limited := parseLimit(whole)
	if !ok || !limited {
		return 0, false, fmt.Errorf("squeue: %q, want the time that is left of a job, and its limit", text)
	}
	return max(left-leadOf(limit), 0), true, nil
}
