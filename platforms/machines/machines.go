// Package machines finds machine directories, and has those that are built in.
//
//	platform, kernels, err := machines.Find("cluster") // cluster/platform.xml, cluster/kernels.yaml
//
// A machine directory holds a machine as replay --machine takes it:
//
//	platform.xml   hosts, links, routes and simulator options (package platforms)
//	kernels.yaml   how long computations take (package kernels)
//	machine.md     for people: which machine, measured when and how
//
// A built-in machine may have further sets of kernel models: kernels-c1.yaml of dahu is the set dahu-c1.
//
// # Units
//
// The package reads none of the files: their packages say which units they have.
//
// # Errors
//
// An error says what a directory lacks, or which machines are built in. Those of a name that
// is not built in wrap [fs.ErrNotExist].
//
// # Source
//
// The machine.md of a built-in machine names the publication that its figures are from.
package machines

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
)

// Names of the files of a machine directory.
const (
	PlatformFile = "platform.xml"
	KernelsFile  = "kernels.yaml"
)

//go:embed */platform.xml */kernels*.yaml */machine.md
var builtin embed.FS

// Find returns what a machine directory, or a built-in machine if there is no directory of that name, has as its
// platform and as its kernel models: names of files, or of what is built in. Without kernels.yaml, kernels is "".
func Find(name string) (platform, kernels string, err error) {
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		platform, kernels = filepath.Join(name, PlatformFile), filepath.Join(name, KernelsFile)
		if !regular.IsFile(platform) {
			err := fmt.Errorf("%s is no machine directory: it has no %s", name, PlatformFile)
			if name := filepath.Base(name); slices.Contains(Names(), name) {
				err = fmt.Errorf("%w; a directory goes before what is built in: call it something else for the built-in machine %s",
					err, name)
			}
			return "", "", err
		}
		if !regular.IsFile(kernels) {
			kernels = ""
		}
		return platform, kernels, nil
	case err == nil:
		return "", "", fmt.Errorf("%s is a file, want a machine directory, with %s and %s, or a built-in machine: %s", name,
			PlatformFile, KernelsFile, strings.Join(Names(), ", "))
	case !slices.Contains(Names(), name):
		return "", "", fmt.Errorf("no machine directory and no built-in machine %q: want a directory with %s and %s, or %s",
			name, PlatformFile, KernelsFile, strings.Join(Names(), ", "))
	}
	return name, name, nil
}

// Names returns the names of the built-in machines, sorted.
func Names() []string { return textutil.Texts(glob("*/"+PlatformFile), path.Dir) }

// Platform returns the description of a built-in machine, which is an error that wraps fs.ErrNotExist if there is none.
func Platform(name string) ([]byte, error) { return builtin.ReadFile(name + "/" + PlatformFile) }

// KernelSets returns the names of the built-in sets of kernel models, sorted.
func KernelSets() []string {
	return slices.Sorted(slices.Values(textutil.Texts(glob("*/kernels*.yaml"), setName)))
}

// Kernels returns a built-in set of kernel models, which is an error that wraps fs.ErrNotExist if there is none.
func Kernels(set string) ([]byte, error) {
	for _, file := range glob("*/kernels*.yaml") {
		if setName(file) == set {
			return builtin.ReadFile(file)
		}
	}
	return nil, fmt.Errorf("kernel models %q: %w", set, fs.ErrNotExist)
}

// setName returns the name of the set in a file: dahu of dahu/kernels.yaml, dahu-c1 of dahu/kernels-c1.yaml.
func setName(file string) string {
	variant := strings.TrimPrefix(strings.TrimSuffix(path.Base(file), ".yaml"), "kernels")
	return path.Dir(file) + variant
}

// glob returns the built-in files of a pattern, sorted.
func glob(pattern string) []string {
	files, err := fs.Glob(builtin, pattern)
	if err != nil {
		panic("machines: " + err.Error())
	}
	return files
}
