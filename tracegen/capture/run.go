package capture

import (
	"cmp"
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

// This file runs the program to be recorded under the recorder, which it compiles (Record).

// Command is a program to record: the arguments that a user would type to run it.
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

// Record runs a command and has each of its ranks record into a file in dir. All hosts must see dir, and its path
// must have no blanks and no colons, which separate names in LD_PRELOAD. If the command fails, the error is its
// *exec.ExitError, within a *Failure if no rank had recorded anything by then. If nothing was recorded for
// another reason, the error says why, as far as that can be told.
func Record(ctx context.Context, dir string, c Command) (err error) {
	defer textutil.Stopped(&err)
	dir = textutil.Must(filepath.Abs(dir))
	if strings.ContainsAny(dir, " :") {
		return fmt.Errorf("%s: programs are recorded by LD_PRELOAD, which takes no path with blanks or colons: record into another directory (--recordings)", dir)
	}
	// Programs in which nothing can be interposed are refused: those that have MPI in them, and the first one behind
	// the launcher if it is linked statically. A later one may be no more than an argument.
	programs, first := c.Args, true
	if isLauncher(programs[0]) || filepath.Base(programs[0]) == "srun" {
		programs = programs[1:]
	}
	textutil.Check(eachProgram(programs, func(f *elf.File) string {
		if why := static(f); first && why != "" {
			return why
		}
		first = false
		symbols, _ := f.Symbols()
		for _, s := range symbols {
			if (s.Name == "MPI_Init" || s.Name == "PMPI_Init") && s.Section != elf.SHN_UNDEF {
				return "has MPI's library in it (" + s.Name + ")"
			}
		}
		return ""
	}))
	// The recorder lies beside the recordings, where all hosts see it.
	library := filepath.Join(dir, "recorder.so")
	textutil.Check(buildShim(ctx, library, c.BLAS, c.Compiling))

	// The number of the run is in each recording, so that those of two runs are not merged.
	var run [8]byte
	rand.Read(run[:])
	args, env := commandLine(ctx, c.Args, dir, library, binary.NativeEndian.Uint64(run[:]))
	// The program keeps the streams of the user. Of a launcher's standard error the end is remembered, for a Failure.
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var said tail
	if isLauncher(c.Args[0]) && c.Stderr != nil { // a program keeps the terminal that it has
		cmd.Stderr = io.MultiWriter(c.Stderr, &said)
		if c.Stdout == c.Stderr { // one writer is never called by two at once
			cmd.Stdout = cmd.Stderr
		}
		cmd.WaitDelay = 5 * time.Second // a launcher may leave processes running with its standard error
	}
	textutil.Check(cmd.Start())
	if c.Started != nil {
		c.Started(cmd.Process)
	}
	err = cmd.Wait()

	// The recording of a rank is called by its number, and other files of the directory by letters.
	entries, _ := os.ReadDir(dir)
	recorded := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name()[0] >= '0' && e.Name()[0] <= '9' })
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && !recorded:
		failure := &Failure{Command: c.Args[0], Exit: exit}
		for line := range strings.Lines(string(said)) { // the last one with a letter in it
			if strings.ContainsFunc(line, unicode.IsLetter) {
				failure.Last = textutil.Cut(textutil.Visible(strings.TrimSpace(line)), 200)
			}
		}
		return failure
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return err
	}
	// The command succeeded. If rank 0 has recorded nothing all the same, a program that is linked statically
	// is the likely reason.
	if _, err := os.Stat(filepath.Join(dir, "0")); err == nil {
		return nil
	}
	return eachProgram(c.Args, static)
}

// tail is a writer that keeps the end of what is written.
type tail []byte

// tailSize is how much a tail keeps, in bytes.
const tailSize = 4 << 10

// Write appends p and drops what is before the last tailSize bytes.
func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(0, len(p)-tailSize):]...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-tailSize):]...)
	return len(p), nil
}

// commandLine returns a command line, and variables of its environment, with which the ranks load the recorder.
func commandLine(ctx context.Context, command []string, dir, library string, run uint64) (args, env []string) {
	// The recorder must come first, so that its procedures are found before those of any other library.
	preload := library
	if other := os.Getenv("LD_PRELOAD"); other != "" {
		preload += ":" + other
	}
	// A command may set LD_PRELOAD itself, by env or by a flag of the launcher: its libraries come behind the recorder.
	// A flag may name the variable alone (-x LD_PRELOAD), which exports the value that it has.
	command = slices.Clone(command)
	for i := 1; i < len(command); i++ {
		command[i] = preloads.ReplaceAllLiteralString(command[i], "LD_PRELOAD="+library+":")
		if command[i] != "LD_PRELOAD" {
			continue
		}
		switch strings.TrimLeft(command[i-1], "-") {
		case "x":
			command[i] += "=" + preload
		case "env", "genv":
			if i++; i < len(command) {
				command[i] = library + ":" + command[i]
			}
		}
	}
	// Launchers that have a flag for variables give them to the ranks alone; others inherit them. Which launcher it
	// is, it says itself: Open MPI, or Hydra of MPICH and its relatives.
	variables := []string{"LD_PRELOAD=" + preload, "REPRISE_CAPTURE=" + dir,
		"REPRISE_CAPTURE_RUN=" + strconv.FormatUint(run, 10)}
	var says string
	if isLauncher(command[0]) {
		out, _ := exec.CommandContext(ctx, command[0], "--version").CombinedOutput()
		says = string(out)
	}
	openMPI := strings.Contains(says, "Open MPI") || strings.Contains(says, "OpenRTE")
	if !openMPI && !strings.Contains(says, "HYDRA") {
		return command, variables
	}
	// The flags come before the name of the program, behind which everything is an argument of the program.
	var flags []string
	for _, v := range variables {
		if openMPI {
			flags = append(flags, "-x", v)
		} else {
			name, value, _ := strings.Cut(v, "=")
			flags = append(flags, "-genv", name, value)
		}
	}
	for i, arg := range command {
		args = append(args, arg)
		if i == 0 || openMPI && arg == ":" { // Open MPI's flags hold for one of the programs that colons part
			args = append(args, flags...)
		}
	}
	return args, nil
}

// preloads finds an argument that sets LD_PRELOAD.
var preloads = regexp.MustCompile(`\bLD_PRELOAD=`)

// isLauncher reports whether a command is called like a launcher of an MPI.
func isLauncher(command string) bool {
	name := filepath.Base(command)
	return strings.HasPrefix(name, "mpirun") || strings.HasPrefix(name, "mpiexec") || strings.HasPrefix(name, "orterun")
}

// static returns why nothing can be interposed in a program that is linked statically, and so has no dynamic
// linker to load the recorder; "" for any other program.
func static(f *elf.File) string {
	if f.Type == elf.ET_EXEC && !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return "is linked statically"
	}
	return ""
}

// eachProgram returns the first fault that the function wrong finds in a program of a command line. Scripts and
// words that name no program are skipped.
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

// buildShim compiles the recorder into a file, or copies it from the cache, where an earlier run has left it. It
// calls compiling, if that is set, before it compiles.
func buildShim(ctx context.Context, path string, blas bool, compiling func()) (err error) {
	defer textutil.Stopped(&err)
	// There is one library for every MPI: it is compiled without MPI's own headers.
	flags := []string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-shared", "-fPIC", "-pthread"}
	if blas {
		flags = append(flags, "-DWITH_BLAS")
	}
	// The name in the cache has a hash of everything that the library depends on.
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOARCH, os.Getenv("CC"), flags)
	_ = fs.WalkDir(shim, ".", func(path string, d fs.DirEntry, err error) error {
		// WalkDir goes in lexical order, so the hash is the same in each run.
		if err == nil && !d.IsDir() {
			data, _ := shim.ReadFile(path)
			hash.Write(data)
		}
		return nil
	})
	name := "capture-" + hex.EncodeToString(hash.Sum(nil)[:12]) + ".so"
	for _, dir := range cacheDirs() {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			return os.WriteFile(path, data, 0o755)
		}
	}

	if compiling != nil {
		compiling()
	}
	sources := textutil.Must(os.MkdirTemp("", "reprise-shim-"))
	defer os.RemoveAll(sources)
	textutil.Check(os.CopyFS(sources, shim))
	flags = append(flags, "-o", path, filepath.Join(sources, "shim", "shim.c"), "-ldl")
	cmd := exec.CommandContext(ctx, cmp.Or(os.Getenv("CC"), "cc"), flags...)
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the recorder is compiled when it is needed: %w; install a C compiler, or name one in CC", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}

	// A recorder that no directory keeps is compiled again the next time.
	data := textutil.Must(os.ReadFile(path))
	for _, dir := range cacheDirs() {
		if os.MkdirAll(dir, 0o700) == nil && atomicfile.Write(filepath.Join(dir, name), atomicfile.Bytes(data)) == nil {
			break
		}
	}
	return nil
}

// cacheDirs returns directories that may keep the compiled recorder: in the user's cache, and for users without a home,
// as services have none, in one beside temporary files that nobody else can write to.
func cacheDirs() []string {
	var dirs []string
	_, err := os.Stat(os.Getenv("HOME"))
	if os.Getenv("XDG_CACHE_HOME") != "" || err == nil { // a home that does not exist is not made
		if cache, err := os.UserCacheDir(); err == nil {
			dirs = append(dirs, filepath.Join(cache, "reprise"))
		}
	}
	// The name in the directory of temporary files can be guessed, so another user may have made it: owner
	// and mode decide.
	own := filepath.Join(os.TempDir(), fmt.Sprintf("reprise-%d", os.Geteuid()))
	_ = os.Mkdir(own, 0o700)
	if info, err := os.Lstat(own); err == nil && info.IsDir() && info.Mode().Perm()&0o022 == 0 {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == os.Geteuid() {
			dirs = append(dirs, own)
		}
	}
	return dirs
}
