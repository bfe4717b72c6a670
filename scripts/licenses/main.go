// Command licenses writes THIRD_PARTY_LICENSES.txt, which goes with the programs: the
// licenses of Go and of the modules that are linked into them.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// output stands at the root of the source tree.
const output = "THIRD_PARTY_LICENSES.txt"

const intro = `The programs in bin contain, besides what is under LICENSE, Go and its standard
library, and the modules below. This file is written by "make licenses".
`

func main() {
	log.SetFlags(0)
	log.SetPrefix("licenses: ")
	ofGo, err := goLicense()
	if err != nil {
		log.Fatal(err)
	}
	ofModules, err := moduleLicenses()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(output, []byte(intro+ofGo+ofModules), 0o666); err != nil {
		log.Fatal(err)
	}
}

// goLicense returns the license of Go.
func goLicense() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	return section("Go, go.dev", strings.TrimSpace(string(root)), []string{"LICENSE", "PATENTS"})
}

// module is one that is linked.
type module struct {
	Path, Version, Dir string
}

// linked is a package with its module.
type linked struct {
	Dir    string
	Module *module
}

// moduleLicenses returns the licenses of the modules that are linked, in the order of
// their names. A build with fewer of them, by a tag, is covered, too.
func moduleLicenses() (string, error) {
	packages, err := linkedPackages()
	if err != nil {
		return "", err
	}
	files := map[module][]string{}
	for _, p := range packages {
		names, err := licenseFiles(p)
		if err != nil {
			return "", err
		}
		files[*p.Module] = append(files[*p.Module], names...)
	}
	var all strings.Builder
	for _, m := range slices.SortedFunc(maps.Keys(files), func(a, b module) int { return strings.Compare(a.Path, b.Path) }) {
		names := files[m]
		slices.Sort(names)
		text, err := section(m.Path+" "+m.Version, m.Dir, slices.Compact(names))
		if err != nil {
			return "", err
		}
		all.WriteString(text)
	}
	return all.String(), nil
}

// platforms are those of a release.
var platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"}

// linkedPackages returns the packages of other modules that are linked on some platform;
// those of several come as often.
func linkedPackages() ([]linked, error) {
	var all []linked
	for _, platform := range platforms {
		packages, err := linkedOn(platform)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", platform, err)
		}
		all = append(all, packages...)
	}
	return all, nil
}

func linkedOn(platform string) ([]linked, error) {
	system, processor, _ := strings.Cut(platform, "/")
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", "reprise/cmd/...")
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []linked
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p linked
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && p.Module.Version != "" {
			packages = append(packages, p)
		}
	}
}

// isLicense matches the names of files and directories with licenses.
var isLicense = regexp.MustCompile(`(?i)^(third_party_)?(licen[sc]es?|copying|notice|patents|copyright)([.-].*)?$`)

// licenseFiles returns the files with licenses in the directories from a package up to
// the root of its module, by their names from there.
func licenseFiles(p linked) ([]string, error) {
	var names []string
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !isLicense.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			err := filepath.WalkDir(filepath.Join(dir, entry.Name()), func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					path, err = filepath.Rel(p.Module.Dir, path)
					names = append(names, filepath.ToSlash(path))
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		if dir == p.Module.Dir {
			break
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no license", p.Module.Path)
	}
	return names, nil
}

// section returns the texts of files under a title.
func section(title, dir string, names []string) (string, error) {
	const line = "================================================================================\n"
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s%s\n%s", line, title, line)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n--- %s\n\n%s\n", name, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	return b.String(), nil
}
