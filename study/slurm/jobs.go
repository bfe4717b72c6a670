package slurm

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reprise/internal/atomicfile"
)

// What was submitted stands in the study's directory, a file for each job.
const (
	jobPrefix = "job-"
	jobSuffix = ".json"
)

// record is what a file of a job holds.
type record struct {
	Job       string   `json:"job"`
	Arguments []string `json:"sbatch"`
}

func jobFile(dir, job string) string { return filepath.Join(dir, outputDir, jobPrefix+job+jobSuffix) }

// checkRemembering makes the directory for jobs and their output, and tries whether it
// can be written to.
func checkRemembering(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, outputDir), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.Check(jobFile(dir, "0"))
}

// remember writes down that a job was submitted.
func remember(dir, job string, args []string) error {
	return atomicfile.Replace(jobFile(dir, job), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(record{job, args})
	})
}

// Jobs returns the ids of the jobs that were submitted for the study in a directory.
func Jobs(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, outputDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var jobs []string
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), jobPrefix); ok && strings.HasSuffix(name, jobSuffix) {
			jobs = append(jobs, strings.TrimSuffix(name, jobSuffix))
		}
	}
	return jobs, err
}
