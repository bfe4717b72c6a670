package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckOverwrite returns an error if output is the same regular file as one of the inputs: it
// would replace what is read. "-" is the standard output, which replaces nothing, or the
// standard input, which may come from a file. What names no file is never the same.
func CheckOverwrite(output string, inputs ...string) error {
	to, err := os.Stat(output)
	if output == "-" || err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, input := range inputs {
		if from, err := statInput(input); err == nil && os.SameFile(to, from) {
			return fmt.Errorf("%s would replace the input %s: name another file", output, input)
		}
	}
	return nil
}

func statInput(name string) (os.FileInfo, error) {
	if name == "-" {
		return os.Stdin.Stat()
	}
	return os.Stat(name)
}

// Distinct returns an error if two of the outputs are the same file: the one that is
// written last would replace the other. Files that are not there yet are told by their
// paths, symbolic links followed. "", "-" and what is no regular file, such as
// /dev/null, is never the same.
func Distinct(outputs ...string) error {
	for i, a := range outputs {
		for _, b := range outputs[:i] {
			if same(a, b) {
				return fmt.Errorf("%s and %s are the same file: name another one", b, a)
			}
		}
	}
	return nil
}

// same reports whether Write replaces the same file for both paths.
func same(a, b string) bool {
	if a == "" || a == "-" || b == "" || b == "-" {
		return false
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	switch {
	case errA == nil && !x.Mode().IsRegular() || errB == nil && !y.Mode().IsRegular():
		return false
	case errA == nil && errB == nil && os.SameFile(x, y):
		return true
	}
	return Place(a) == Place(b)
}

// Place returns the absolute path of where Write puts a file, symbolic links followed, as far as it
// can be told.
func Place(path string) string {
	if at, err := follow(path); err == nil {
		path = at
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if at, err := filepath.Abs(path); err == nil {
		return at
	}
	return filepath.Clean(path)
}
