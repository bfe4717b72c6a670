package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"reprise/internal/atomicfile"
)

// runner replays runs.
type runner struct {
	data  string        // directory of the published data
	bin   string        // directory of the programs
	work  string        // directory of what they read and of their results
	plots string        // directory
	tools string        // hash of the programs
	slots chan struct{} // a place for each replay that goes on
	all   bool          // see config
	busy  sync.Map      // a mutex for each file, so that no two runs make the same
	mu    sync.Mutex    // of log
	log   io.Writer
}

func newRunner(o *config, log io.Writer) (*runner, error) {
	l := &runner{data: o.data, bin: o.bin, work: o.work, plots: strings.TrimSuffix(o.page, ".md"), all: o.all, log: log, slots: make(chan struct{}, o.jobs)}
	for _, dir := range []string{"runs", "files"} {
		if err := os.MkdirAll(filepath.Join(l.work, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if !o.prints() {
		if err := os.MkdirAll(l.plots, 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	l.tools, err = hashFiles(filepath.Join(l.bin, "tracegen"), filepath.Join(l.bin, "replay"))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (make build)", err)
	}
	return l, err
}

// hashFiles returns a hash of the files' contents.
func hashFiles(paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d ", len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashText returns a hash of texts, in 16 digits.
func hashText(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// run is a replay: what tracegen hpl and replay are given.
type run struct {
	hpl      string // flags of tracegen hpl, separated by blanks
	platform string // XML, or the name of a built-in machine
	kernels  string // YAML, or the name of a built-in set
	pivots   string // file of pivots, a line each; "": random
	hosts    string // file of hosts, a line each; "": ranks fill hosts in order
	links    string // noise of the network, YAML; "": none
	flags    string // further flags of replay, separated by blanks
}

// result is what replay tells of a run.
type result struct {
	Makespan float64 `json:"makespan_s"`
	Gflops   float64 `json:"gflops"`
	Kinds    []share `json:"time_by_kind"`

	IsEstimate bool    `json:"estimate"`
	Interval   float64 `json:"interval_s"` // half-width, if it is an estimate; so are these:
	Steps      int     `json:"steps"`
	Simulated  int     `json:"simulated_steps"`
}

// share is a row of the table of where the ranks' time went; in seconds.
type share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"`
}

// replayAll replays runs, as many at once as there are slots for all parts together,
// and returns their results in order. It begins with the last: tables mostly end with
// what takes longest, and it is better for all parts to end with short replays than
// with one long one.
func (l *runner) replayAll(runs []run) ([]result, error) {
	results, errs := make([]result, len(runs)), make([]error, len(runs))
	var wg sync.WaitGroup
	for i := len(runs) - 1; i >= 0; i-- {
		l.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-l.slots }()
			results[i], errs[i] = l.replay(runs[i])
		})
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

// replay returns the result of a run, from the directory of results if it is there.
func (l *runner) replay(r run) (result, error) {
	var res result
	path := l.resultPath(r)
	defer l.reserve(path).Unlock()
	out, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if out, err = l.play(r); err == nil {
			err = writeWhole(path, out)
		}
	}
	if err != nil {
		return res, err
	}
	if err := json.Unmarshal(out, &res); err != nil {
		return res, fmt.Errorf("%s: %w", path, err)
	}
	return res, nil
}

// resultPath returns the path of the result of a run.
func (l *runner) resultPath(r run) string {
	return filepath.Join(l.work, "runs", hashText(l.tools, r.hpl, r.platform, r.kernels, r.flags+r.hosts+r.links+r.pivots)+".json")
}

// within returns the flags of replay for a long run: an estimate will do, unless all
// is wanted.
func (l *runner) within(percent float64) string {
	if l.all {
		return ""
	}
	return tolerance(percent)
}

// tolerance returns the flags of replay for an estimate.
func tolerance(percent float64) string { return fmt.Sprintf("--tolerance %g%%", percent) }

// reserve waits until no other run makes a file, and locks it.
func (l *runner) reserve(path string) *sync.Mutex {
	busy, _ := l.busy.LoadOrStore(path, new(sync.Mutex))
	busy.(*sync.Mutex).Lock()
	return busy.(*sync.Mutex)
}

// play runs tracegen and replay and returns what the latter prints.
func (l *runner) play(r run) ([]byte, error) {
	platform, err := l.keep(r.platform, ".xml")
	if err != nil {
		return nil, err
	}
	kernels, err := l.keep(r.kernels, ".yaml")
	if err != nil {
		return nil, err
	}
	trace, err := l.trace(r)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--quiet", "--json", "--platform", platform, "--kernels", kernels}, strings.Fields(r.flags)...)
	for _, file := range []struct{ flag, text, suffix string }{{"--hostfile", r.hosts, ".hosts"}, {"--network-noise", r.links, ".noise.yaml"}} {
		if file.text == "" {
			continue
		}
		path, err := l.keep(file.text, file.suffix)
		if err != nil {
			return nil, err
		}
		args = append(args, file.flag, path)
	}
	return l.execute("replay", append(args, trace))
}

// trace generates the trace of a run, unless there is one, and returns its path.
func (l *runner) trace(r run) (string, error) {
	path := filepath.Join(l.work, "files", hashText(l.tools, r.hpl+r.pivots)+".trace.zst")
	defer l.reserve(path).Unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	args := append([]string{"hpl", "--quiet", "-o", path}, strings.Fields(r.hpl)...)
	if r.pivots != "" {
		pivots, err := l.keep(r.pivots, ".pivots")
		if err != nil {
			return "", err
		}
		args = append(args, "--pivots", "file:"+pivots)
	}
	_, err := l.execute("tracegen", args)
	return path, err
}

// keep writes a text to a file of its own and returns its path. The name of
// something built in is returned as it is.
func (l *runner) keep(text, suffix string) (string, error) {
	if !strings.Contains(text, "\n") {
		return text, nil
	}
	path := filepath.Join(l.work, "files", hashText(text)+suffix)
	return path, writeWhole(path, []byte(text))
}

// writeWhole writes a file so that it is complete as soon as it is there.
func writeWhole(path string, b []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// note writes a line of what goes on.
func (l *runner) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.log, line)
}

// execute runs one of the programs on one core and returns its standard output.
func (l *runner) execute(name string, args []string) ([]byte, error) {
	l.note("$ " + name + " " + strings.Join(args, " "))
	cmd := exec.Command(filepath.Join(l.bin, name), args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %.500s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}
