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
	"syscall"

	"reprise/internal/atomicfile"
)

//go:embed shim/*.c shim/*.h
var shim embed.FS

// compileFlags make one library for every MPI: it is compiled without MPI's own headers.
var compileFlags = []string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-shared",
	"-fPIC", "-pthread"}

// buildShim compiles the recorder into a file, or copies it from where an earlier run has
// left it. It calls compiling before it compiles, if that is set: that takes seconds.
func buildShim(ctx context.Context, path string, blas bool, compiling func()) error {
	flags := compileFlags
	if blas {
		flags = append(slices.Clone(flags), "-DWITH_BLAS")
	}
	name := cacheName(flags)
	for _, dir := range cacheDirs() {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			return os.WriteFile(path, data, 0o755)
		}
	}
	if compiling != nil {
		compiling()
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
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, dir := range cacheDirs() {
		if os.MkdirAll(dir, 0o700) != nil {
			continue
		}
		if atomicfile.Write(filepath.Join(dir, name),
			func(w io.Writer) error { _, err := w.Write(data); return err }) == nil {
			break // else it is compiled again the next time
		}
	}
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

// cacheDirs returns directories that may keep the compiled recorder: in the user's cache, and for users without a
// home, as services have none, in one beside temporary files that nobody else can write to.
func cacheDirs() []string {
	var dirs []string
	_, err := os.Stat(os.Getenv("HOME"))
	if os.Getenv("XDG_CACHE_HOME") != "" || err == nil { // a home that does not exist is not made
		if cache, err := os.UserCacheDir(); err == nil {
			dirs = append(dirs, filepath.Join(cache, "reprise"))
		}
	}
	own := filepath.Join(os.TempDir(), fmt.Sprintf("reprise-%d", os.Geteuid()))
	_ = os.Mkdir(own, 0o700)
	if info, err := os.Lstat(own); err == nil && info.IsDir() && info.Mode().Perm()&0o022 == 0 {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == os.Geteuid() {
			dirs = append(dirs, own)
		}
	}
	return dirs
}

// cacheName returns what the compiled recorder is called, by its sources.
func cacheName(flags []string) string {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOARCH, os.Getenv("CC"), flags)
	_ = fs.WalkDir(shim, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := shim.ReadFile(path)
			hash.Write(data)
		}
		return nil
	})
	return "capture-" + hex.EncodeToString(hash.Sum(nil)[:12]) + ".so"
}
