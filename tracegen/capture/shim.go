package capture

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"reprise/internal/atomicfile"
)

//go:embed shim/*.c shim/*.h
var shim embed.FS

// compileFlags make one library for every MPI: it is compiled without MPI's own headers.
var compileFlags = []string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-shared", "-fPIC", "-pthread"}

// buildShim compiles the recorder into a file, or copies it from where an earlier run has
// left it in the user's cache.
func buildShim(ctx context.Context, path string, blas bool) error {
	flags := compileFlags
	if blas {
		flags = append(slices.Clone(flags), "-DWITH_BLAS")
	}
	cached := cachePath(flags)
	if data, err := os.ReadFile(cached); err == nil && cached != "" {
		return os.WriteFile(path, data, 0o755)
	}
	sources, err := os.MkdirTemp("", "reprise-shim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(sources)
	if err := os.CopyFS(sources, shim); err != nil {
		return err
	}
	if err := compile(ctx, flags, filepath.Join(sources, "shim", "shim.c"), path); err != nil {
		return err
	}
	if cached == "" || os.MkdirAll(filepath.Dir(cached), 0o755) != nil {
		return nil // it is compiled again the next time
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_ = atomicfile.Write(cached, func(w io.Writer) error { _, err := w.Write(data); return err })
	return nil
}

func compile(ctx context.Context, flags []string, source, path string) error {
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	cmd := exec.CommandContext(ctx, compiler, append(flags[:len(flags):len(flags)], "-o", path, source, "-ldl")...)
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the recorder is compiled when it is needed: %w; install a C compiler, or name one in CC", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// cachePath returns where the compiled recorder is kept, by its sources; empty if there is
// no place for it.
func cachePath(flags []string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOARCH, os.Getenv("CC"), flags)
	_ = fs.WalkDir(shim, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := shim.ReadFile(path)
			hash.Write(data)
		}
		return nil
	})
	return filepath.Join(dir, "reprise", "capture-"+hex.EncodeToString(hash.Sum(nil)[:12])+".so")
}
