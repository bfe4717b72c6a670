package capture

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

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
