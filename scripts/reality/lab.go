package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lab calibrates, predicts and measures, and keeps what it has in a directory.
type lab struct {
	*config
	plan *plan
	out  io.Writer
}

func (l *lab) path(name string) string { return filepath.Join(l.work, name) }

// command runs a program of the project or of the system, and says so.
func (l *lab) command(dir, name string, args ...string) ([]byte, error) {
	program := name
	if own := filepath.Join(l.bin, name); exists(own) {
		program = own
	}
	fmt.Fprintln(l.out, "$", name, strings.Join(args, " "))
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, environment()
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return text, nil
}

// environment is that of a user with a rank per core: a BLAS without threads of its own. Open
// MPI asks root for two words of consent.
func environment() []string {
	env := append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	if os.Getuid() == 0 {
		env = append(env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	return env
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// predictions returns the Gflop/s of each point, from the file that they were written to
// before anything was measured, or else of now.
func (l *lab) predictions() (map[string]float64, error) {
	kept, list := l.path("predictions.json"), map[string]float64{}
	text, err := os.ReadFile(kept)
	if err == nil {
		return list, json.Unmarshal(text, &list)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if exists(l.runFile(l.plan.rankCounts()[0], 0)) {
		return nil, fmt.Errorf("%s holds runs of HPL, but no predictions: they would not be blind (use another -o)", l.work)
	}
	if err := l.trace(); err != nil {
		return nil, err
	}
	if err := l.calibrate(); err != nil {
		return nil, err
	}
	for _, c := range l.plan.points() {
		if list[c.String()], err = l.predict(c); err != nil {
			return nil, err
		}
	}
	text, err = json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, err
	}
	return list, os.WriteFile(kept, append(text, '\n'), 0o666)
}

func (l *lab) traceFile(c point) string { return l.path(c.String() + ".trace.zst") }

// trace writes the traces of all points.
func (l *lab) trace() error {
	for _, c := range l.plan.points() {
		file := l.path(c.String() + ".dat")
		if err := os.WriteFile(file, []byte(dat([]int{c.n}, []int{c.nb}, []grid{c.grid})), 0o666); err != nil {
			return err
		}
		if _, err := l.command("", "tracegen", "hpl", "--quiet", "--hpl-dat", file, "-o", l.traceFile(c)); err != nil {
			return err
		}
	}
	return nil
}

// machine is the directory of the machine of a point: one for each grid and size of the matrix, as a kernel finds
// its operands elsewhere in another.
func (l *lab) machine(c point) string { return l.path(fmt.Sprintf("machine-%v-n%d", c.grid, c.n)) }

// calibrate makes the machines, each at the sizes of its runs.
func (l *lab) calibrate() error {
	for _, g := range l.plan.grids {
		for _, n := range l.plan.sizes {
			if err := l.calibrateFor(g, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// calibrateFor makes the machine of the runs of a grid and a size.
func (l *lab) calibrateFor(g grid, n int) error {
	args := []string{"machine", l.machine(point{n: n, grid: g}), "--budget", l.budget}
	for _, nb := range l.plan.blocks {
		args = append(args, "--for", l.traceFile(point{n, nb, g}))
	}
	if _, err := l.command("", "calibrate", append(args, "--", "mpirun", "-np", "2")...); err != nil {
		return err
	}
	return nil
}

// predict returns the Gflop/s of a point.
func (l *lab) predict(c point) (float64, error) {
	text, err := l.command("", "replay", "--quiet", "--json", "--machine", l.machine(c), l.traceFile(c))
	if err != nil {
		return 0, err
	}
	var r struct {
		Gflops float64 `json:"gflops"`
	}
	return r.Gflops, json.Unmarshal(text, &r)
}
