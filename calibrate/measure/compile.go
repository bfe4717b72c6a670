package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Compile makes a program, a path, of C source beside it, with the libraries, and returns
// the compiler's first line about itself.
func Compile(ctx context.Context, compiler string, source []byte, program string, libraries ...string) (about string, err error) {
	file := program + ".c"
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	args := append([]string{"-O2", "-o", program, file}, libraries...)
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	out, err := cmd.CombinedOutput()
	switch line := firstLine(string(out)); {
	case ctx.Err() != nil:
		return "", errors.New("interrupted while it was compiled: nothing was timed")
	case err != nil && line != "":
		return "", fmt.Errorf("%s: %w: %s", compiler, err, line)
	case err != nil:
		return "", fmt.Errorf("%s: %w", compiler, err)
	}
	out, err = exec.CommandContext(ctx, compiler, "--version").Output()
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
	return "", errors.New("no C compiler (cc, gcc or clang): install one, as by apt install gcc, or name it (--cc)")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
