package capture

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"reprise/internal/atomicfile"
	"reprise/internal/textutil"
)

// Command is a program to record: what a user would type to run it.
type Command struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Started        func(*os.Process) // called when it runs, if set
	BLAS           bool              // record calls of BLAS, LAPACK and FFTW with their dimensions
	Compiling      func()            // called before the recorder is compiled, which takes seconds, if set
}

// Failure is the error of a command that has failed before any rank recorded anything: a launcher that
// refuses its options, a program that does not exist.
type Failure struct {
	Command string          // its first word
	Exit    *exec.ExitError // how it ended
	Last    string          // the last line with words in it that a launcher wrote on standard error; ""
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("%s: %v, before any rank recorded anything", f.Command, f.Exit)
	if f.Last != "" {
		text += "; its last line: " + f.Last
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Exit }

// Record runs a command and has each of its ranks record into a file in dir, which must be
// seen by all hosts and have a path without blanks and colons, as LD_PRELOAD wants it. It returns
// the command's own error, an *exec.ExitError if it failed, in a *Failure if nothing was recorded then, or why it
// has recorded nothing, if that can be told.
func Record(ctx context.Context, dir string, c Command) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if strings.ContainsAny(dir, " :") {
		return fmt.Errorf("%s: programs are recorded by LD_PRELOAD, which takes no path with blanks or colons: record into another directory (--recordings)", dir)
	}
	if err := checkPrograms(c.Args); err != nil {
		return err
	}
	library := filepath.Join(dir, "recorder.so")
	if err := buildShim(ctx, library, c.BLAS, c.Compiling); err != nil {
		return err
	}
	var run [8]byte
	rand.Read(run[:])
	preload := library
	if other := os.Getenv("LD_PRELOAD"); other != "" {
		preload += ":" + other
	}
	args, env := launch(ctx, preloading(c.Args, library, preload), []string{
		"LD_PRELOAD=" + preload, "REPRISE_CAPTURE=" + dir, "REPRISE_CAPTURE_RUN=" +
			strconv.FormatUint(binary.NativeEndian.Uint64(run[:]), 10)})
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var said tail
	if isLauncher(c.Args[0]) && c.Stderr != nil { // a program keeps the terminal that it has
		cmd.Stderr = io.MultiWriter(c.Stderr, &said)
		if c.Stdout == c.Stderr { // one writer is never called by two at once
			cmd.Stdout = cmd.Stderr
		}
		cmd.WaitDelay = 5 * time.Second // for what a launcher leaves running with its standard error
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.Started != nil {
		c.Started(cmd.Process)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch entries, _ := os.ReadDir(dir); {
	case errors.As(err, &exit) && !slices.ContainsFunc(entries, isRecording):
		return &Failure{c.Args[0], exit, said.lastLine()}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return err
	}
	return checkRecorded(dir, c.Args)
}

// isRecording reports whether a file is called like the recording of a rank.
func isRecording(e fs.DirEntry) bool { return e.Name()[0] >= '0' && e.Name()[0] <= '9' }

// tail is a writer that keeps the end of what is written.
type tail []byte

// tailSize is how much a tail keeps, in bytes.
const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(0, len(p)-tailSize):]...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-tailSize):]...)
	return len(p), nil
}

// lastLine returns the last line in which there is a letter.
func (t tail) lastLine() string {
	lines := strings.Split(string(t), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return textutil.Cut(textutil.Visible(strings.TrimSpace(line)), 200)
		}
	}
	return ""
}

// preloading returns a command line in which what it preloads itself comes behind the recorder,
// whoever sets it: a flag of the launcher, or env. Of a flag that names the variable alone, that
// is everything to preload.
func preloading(args []string, library, preload string) []string {
	args = slices.Clone(args)
	for i := 1; i < len(args); i++ {
		args[i] = preloads.ReplaceAllLiteralString(args[i], "LD_PRELOAD="+library+":")
		if args[i] != "LD_PRELOAD" {
			continue
		}
		switch strings.TrimLeft(args[i-1], "-") {
		case "x":
			args[i] += "=" + preload
		case "env", "genv":
			if i++; i < len(args) {
				args[i] = library + ":" + args[i]
			}
		}
	}
	return args
}

var preloads = regexp.MustCompile(`\bLD_PRELOAD=`)

// launch adds variables to a command line: those launchers that have a flag for it give them
// to ranks only; others get them in their own environment. A flag of Open MPI is for one of
// the programs that colons part.
func launch(ctx context.Context, args, variables []string) (with, env []string) {
	var flags []string
	each := false
	switch launcher(ctx, args[0]) {
	case openMPI:
		each = true
		for _, v := range variables {
			flags = append(flags, "-x", v)
		}
	case hydra:
		for _, v := range variables {
			name, value, _ := strings.Cut(v, "=")
			flags = append(flags, "-genv", name, value)
		}
	default:
		return args, variables
	}
	for i, arg := range args {
		if with = append(with, arg); i == 0 || each && arg == ":" {
			with = append(with, flags...)
		}
	}
	return with, nil
}

const (
	otherLauncher = iota
	openMPI
	hydra // of MPICH and its relatives
)

// launcher asks a command that is called like a launcher which one it is.
func launcher(ctx context.Context, command string) int {
	if !isLauncher(command) {
		return otherLauncher
	}
	out, _ := exec.CommandContext(ctx, command, "--version").CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "Open MPI"), strings.Contains(text, "OpenRTE"):
		return openMPI
	case strings.Contains(text, "HYDRA"):
		return hydra
	}
	return otherLauncher
}

// isLauncher reports whether a command is called like a launcher of an MPI.
func isLauncher(command string) bool {
	name := filepath.Base(command)
	return strings.HasPrefix(name, "mpirun") || strings.HasPrefix(name, "mpiexec") || strings.HasPrefix(name, "orterun")
}

// checkPrograms looks at the programs that a command line names, and refuses those in which nothing
// can be interposed: those that have MPI in them, and the first behind the launcher if it is linked
// statically. A later one may be no more than an argument.
func checkPrograms(args []string) error {
	if isLauncher(args[0]) || filepath.Base(args[0]) == "srun" {
		args = args[1:]
	}
	first := true
	return eachProgram(args, func(f *elf.File) string {
		if first && isStatic(f) {
			return linkedStatically
		}
		first = false
		symbols, _ := f.Symbols()
		for _, s := range symbols {
			if (s.Name == "MPI_Init" || s.Name == "PMPI_Init") && s.Section != elf.SHN_UNDEF {
				return "has MPI's library in it (" + s.Name + ")"
			}
		}
		return ""
	})
}

// checkRecorded returns why a command that has ended may have recorded nothing.
func checkRecorded(dir string, args []string) error {
	if _, err := os.Stat(filepath.Join(dir, "0")); err == nil {
		return nil
	}
	return eachProgram(args, func(f *elf.File) string {
		if isStatic(f) {
			return linkedStatically
		}
		return ""
	})
}

const linkedStatically = "is linked statically"

func isStatic(f *elf.File) bool {
	return f.Type == elf.ET_EXEC &&
		!slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// eachProgram returns what is wrong with the first program of a command line of which there is
// something to say. A script has nothing.
func eachProgram(args []string, wrong func(f *elf.File) string) error {
	for _, arg := range args {
		path, err := exec.LookPath(arg)
		if err != nil {
			continue
		}
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		why := wrong(f)
		f.Close()
		if why != "" {
			return fmt.Errorf("%s %s: its calls cannot be seen; link it with MPI's shared library", path, why)
		}
	}
	return nil
}

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
