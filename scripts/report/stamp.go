package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// stamp is the line below the tables of a part: what, when, where, how.
func (l *runner) stamp(part string) string {
	return fmt.Sprintf("\n*%s, version %s, %s: `go run ./scripts/report -only %s`*\n",
		machine(), l.version, time.Now().Format("2006-01-02"), part)
}

// machine describes the computer in a few words.
func machine() string {
	s := fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if model := procField("/proc/cpuinfo", "model name"); model != "" {
		s = model + ", " + s
	}
	var kB float64
	if _, err := fmt.Sscanf(procField("/proc/meminfo", "MemTotal"), "%f kB", &kB); err == nil {
		s += fmt.Sprintf(", %.0f GB", kB*1024/1e9)
	}
	return s
}

// procField returns the value of the first line "name : value" of a file, or
// nothing on a system that has no such file.
func procField(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commands lists in a paragraph what was measured.
func commands(lines ...string) string {
	return "\nMeasured: `" + strings.Join(lines, "`; `") + "`.\n"
}
