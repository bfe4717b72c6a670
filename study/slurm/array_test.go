package slurm

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParseLimit: forms of sbatch's --time, as its manual page lists them.
func TestParseLimit(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1":          time.Minute,
		"90":         90 * time.Minute,
		"2:30":       2*time.Minute + 30*time.Second,
		"1:02:03":    time.Hour + 2*time.Minute + 3*time.Second,
		"2-3":        51 * time.Hour,
		"2-3:04":     51*time.Hour + 4*time.Minute,
		"2-03:04:05": 51*time.Hour + 4*time.Minute + 5*time.Second,
	} {
		if got, ok := parseLimit(text); !ok || got != want {
			t.Errorf("parseLimit(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "UNLIMITED", "-1", "1-", "1:2:3:4", "1h", "9999999", "1-2-3"} {
		if got, ok := parseLimit(text); ok {
			t.Errorf("parseLimit(%q) = %v, want none", text, got)
		}
	}
}

// TestLead: the signal is never sent at the beginning of a task.
func TestLead(t *testing.T) {
	for limit, want := range map[string]string{"": "120", "8": "120", "4": "60", "1": "15"} {
		args, err := Array{Name: "s", Workers: 1, Dir: "/d", Time: limit}.arguments()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(args, "--signal=B:TERM@"+want) {
			t.Errorf("--time %q: %v, want %s s", limit, args, want)
		}
	}
}

// TestArguments: further arguments come first, none may be an own one, and a percent sign
// in the directory is none of sbatch's patterns.
func TestArguments(t *testing.T) {
	a := Array{Name: "study-a", Workers: 3, Dir: "/shared/100%j", Partition: "p", Account: "me", Memory: 3000, Arguments: []string{"--qos=low", "--exclusive"}}
	args, err := a.arguments()
	if err != nil {
		t.Fatal(err)
	}
	want := "--qos=low --exclusive --parsable --requeue --open-mode=append --cpus-per-task=1 --job-name=study-a --array=0-2" +
		" --chdir=/shared/100%j --output=/shared/100%%j/slurm/%A_%a.log --signal=B:TERM@120 --partition=p --account=me --mem=3K"
	if got := strings.Join(args, " "); got != want {
		t.Errorf("arguments are\n%s, want\n%s", got, want)
	}
	for _, arg := range []string{"--array=0-99", "--arr=0-99", "-a0-99", "-p", "work", "--", "--wrap=true", "--no-requeue", "--wait", "--partition=q", "--chdir=/"} {
		a.Arguments = []string{arg}
		if _, err := a.arguments(); err == nil || !strings.Contains(err.Error(), arg) {
			t.Errorf("argument %q: %v", arg, err)
		}
	}
	for _, n := range []int{-1, 0, MaxTasks + 1} {
		if _, err := (Array{Workers: n}).arguments(); err == nil {
			t.Errorf("%d workers are no error", n)
		}
	}
}

func TestName(t *testing.T) {
	for dir, want := range map[string]string{
		"/data/dahu.1":                  "study-dahu.1",
		"/data/a, b":                    "study-a__b",
		"/data/é":                       "study-_",
		"/" + strings.Repeat("0", 1000): "study-" + strings.Repeat("0", 40),
	} {
		if got := Name(dir); got != want {
			t.Errorf("Name(%.20q) = %q, want %q", dir, got, want)
		}
	}
}

// TestMessages: what commands of Slurm say, as those of 22.05 say it.
func TestMessages(t *testing.T) {
	said := "sbatch: error: invalid partition specified: no\nsbatch: error: Batch job submission failed: Invalid partition name specified\n"
	if got, want := messageOf(said, nil), "invalid partition specified: no; Batch job submission failed: Invalid partition name specified"; got != want {
		t.Errorf("messageOf: %q, want %q", got, want)
	}
}

// TestParseLeft: what squeue prints of a job's time, less that of the signal before its end.
func TestParseLeft(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"3:59:00|4:00:00":       3*time.Hour + 57*time.Minute, // 2 min before
		"0:50|1:00":             35 * time.Second,             // a quarter of a minute before
		"0:10|1:00":             0,
		"1-00:00:00|2-00:00:00": 24*time.Hour - 2*time.Minute,
	} {
		if got, ok, err := parseLeft(text); err != nil || !ok || got != want {
			t.Errorf("parseLeft(%q) = %v, %v, %v, want %v", text, got, ok, err, want)
		}
	}
	if _, ok, err := parseLeft("UNLIMITED|UNLIMITED"); ok || err != nil {
		t.Errorf("unlimited: %v, %v", ok, err)
	}
	for _, text := range []string{"", "INVALID|1:00", "1:00|"} {
		if _, _, err := parseLeft(text); err == nil {
			t.Errorf("parseLeft(%q) is no error", text)
		}
	}
}
