package capture

import (
	"debug/elf"
	"fmt"
	"os/exec"
)

// checkPrograms looks at the programs that a command line names, and refuses those in which
// nothing can be interposed.
func checkPrograms(args []string) error {
	for _, arg := range args {
		path, err := exec.LookPath(arg)
		if err != nil {
			continue
		}
		f, err := elf.Open(path)
		if err != nil {
			continue // a script
		}
		why := static(f)
		f.Close()
		if why != "" {
			return fmt.Errorf("%s %s: its calls cannot be seen; link it with MPI's shared library", path, why)
		}
	}
	return nil
}

// static returns why nothing can be interposed in a program, "" if it can be.
func static(f *elf.File) string {
	interpreted := false
	for _, p := range f.Progs {
		interpreted = interpreted || p.Type == elf.PT_INTERP
	}
	if f.Type == elf.ET_EXEC && !interpreted {
		return "is linked statically"
	}
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if (s.Name == "MPI_Init" || s.Name == "PMPI_Init") && s.Section != elf.SHN_UNDEF {
			return "has MPI's library in it (" + s.Name + ")"
		}
	}
	return ""
}
