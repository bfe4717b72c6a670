package measure

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed helper/dgemm.c
var helperSource []byte

// compile compiles the helper into dir and returns its path and the compiler's
// first line about itself.
func compile(ctx context.Context, compiler, dir string) (helper, about string, err error) {
	if compiler, err = findCompiler(compiler); err != nil {
		return "", "", err
	}
	helper = filepath.Join(dir, "helper")
	about, err = Compile(ctx, compiler, helperSource, helper, "-ldl")
	return helper, about, err
}

// Compile makes a program, a path, of C source beside it, with the libraries, and returns
// the compiler's first line about itself.
func Compile(ctx context.Context, compiler string, source []byte, program string, libraries ...string) (about string, err error) {
	file := program + ".c"
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	args := append([]string{"-O2", "-o", program, file}, libraries...)
	if out, err := exec.CommandContext(ctx, compiler, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", compiler, err, firstLine(string(out)))
	}
	out, err := exec.CommandContext(ctx, compiler, "--version").Output()
	if err != nil {
		return compiler + " (version unknown)", nil
	}
	return firstLine(string(out)), nil
}

func findCompiler(name string) (string, error) {
	if name != "" {
		return exec.LookPath(name)
	}
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no C compiler (cc, gcc or clang) to load a BLAS with: install one, name it (--cc), or measure without --blas")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
