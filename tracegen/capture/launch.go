package capture

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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
