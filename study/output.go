package study

import (
	"fmt"
	"path/filepath"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/study/workqueue"
)

// own are the names of what a study's directory has.
var own = []string{PlanFile, CSVFile, ParquetFile, inputsDir, journalsDir, checkpointsDir, workqueue.WorkersDir,
	workqueue.LeasesDir}

// CheckOutput returns an error if a file that is to be written would be one of the study's own, or
// among them.
func (p *Plan) CheckOutput(path string) error {
	at := atomicfile.Place(path)
	for _, name := range own {
		mine := atomicfile.Place(filepath.Join(p.dir, name))
		if at == mine || strings.HasPrefix(at, mine+string(filepath.Separator)) {
			return fmt.Errorf("%s would be among the study's own files: name another one", path)
		}
	}
	return nil
}
