package main

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// testCase is a program with arguments, run in a directory.
type testCase struct {
	name, dir, program string
	args               []string
	json               bool   // what it prints is JSON
	file               string // keeps what it prints, if any
}

// traces are runs of HPL: both kinds of broadcasts and swaps, look-ahead, pivots from
// random numbers and from the matrix, and one that is long enough for an estimate.
var traces = map[string]string{
	"ring": "-N 4000 --NB 64 -P 4 -Q 4",
	"long": "-N 3000 --NB 48 -P 3 -Q 5 --BCAST longM --DEPTH 2 --SWAP bin --seed 7",
	"lu":   "-N 500 --NB 24 -P 2 -Q 3 --BCAST 2ring --DEPTH 0 --pivots lu",
	"many": "-N 96000 --NB 32 -P 2 -Q 2",
}

func traceFile(work, name string) string { return filepath.Join(work, name+".trace.zst") }

// traceCases write the traces.
func traceCases(work string) []testCase {
	var cases []testCase
	for name, options := range traces {
		cases = append(cases, testCase{
			name: "tracegen hpl " + options, program: "tracegen", args: append([]string{"hpl", "--quiet"}, strings.Fields(options)...),
			file: traceFile(work, name),
		})
	}
	return cases
}

// playCases sum the traces up and play them: with polls, with noise in kernels and network,
// several times, and by windows.
func playCases(work, docs string) []testCase {
	noise := []string{"--kernels", filepath.Join(docs, "noisy.yaml"), "--network-noise", filepath.Join(docs, "network-noise.yaml")}
	var cases []testCase
	replay := func(trace string, options ...string) {
		cases = append(cases, testCase{
			name: fmt.Sprintf("replay %s of %s", strings.Join(options, " "), trace), program: "replay",
			args: append(append([]string{"--json"}, options...), traceFile(work, trace)), json: true,
		})
	}
	for _, trace := range []string{"ring", "long", "lu"} {
		cases = append(cases,
			testCase{name: "trace stat of " + trace, program: "trace", args: []string{"stat", "--json", traceFile(work, trace)}, json: true},
			testCase{name: "trace cat of " + trace, program: "trace", args: []string{"cat", "--rank", "1", traceFile(work, trace)}})
		for _, machine := range []string{"default", "dahu", "stampede"} {
			replay(trace, "--platform", machine)
		}
		replay(trace, append(noise, "--platform", "dahu", "--seed", "7")...)
		replay(trace, append(noise, "--platform", "dahu", "--runs", "4")...)
	}
	replay("many", "--platform", "dahu", "--tolerance", "2%")
	replay("many", append(noise, "--platform", "dahu", "--tolerance", "2%")...)
	return cases
}

// recordedCases unpacks the recorded scenarios of SimGrid into the directory.
func recordedCases(oracle, work string) ([]testCase, error) {
	var cases []testCase
	for _, name := range []string{"smpi-replay.zip", "profiles/cases.zip"} {
		dir := filepath.Join(work, strings.TrimSuffix(name, ".zip"))
		if err := unzip(filepath.Join(oracle, name), dir); err != nil {
			return nil, err
		}
		indexes, err := filepath.Glob(filepath.Join(dir, "*", "trace.index"))
		if err != nil {
			return nil, err
		}
		if len(indexes) == 0 {
			return nil, fmt.Errorf("%s has no cases", name)
		}
		for _, index := range indexes {
			c, err := recordedCase(filepath.Dir(index))
			if err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// recordedCase plays the scenario in a directory, with the options of its file cfg.
func recordedCase(dir string) (testCase, error) {
	args := []string{"--json", "--platform", "platform.xml", "--hostfile", "hostfile"}
	cfg, err := os.ReadFile(filepath.Join(dir, "cfg"))
	if err != nil {
		return testCase{}, err
	}
	for _, option := range strings.Fields(string(cfg)) {
		args = append(args, "--cfg", option)
	}
	return testCase{name: filepath.Base(dir), dir: dir, program: "replay", args: append(args, "trace.index"), json: true}, nil
}

// unzip unpacks an archive into a directory.
func unzip(name, dir string) error {
	r, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return os.CopyFS(dir, r)
}
