package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testInstalled: manual pages and completion have each flag of each command, as help
// lists them, and no other.
func testInstalled(t *testing.T, bin string) {
	s := &shell{bin, t.TempDir()}
	for _, tool := range []string{"calibrate", "replay", "study", "trace", "tracegen"} {
		for _, kind := range []string{"man", "bash", "zsh", "fish"} {
			text := s.mustRun(t, tool+" --generate "+kind, 0)
			must(t, os.WriteFile(filepath.Join(s.dir, tool+"."+kind), []byte(text), 0o600))
		}
		for _, path := range s.commandsIn(t, tool) {
			want := s.flagNames(t, path)
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				s.checkInstalled(t, tool, path, want)
			})
		}
	}
}

// commandsIn returns a command and those that its help lists, with those in them.
func (s *shell) commandsIn(t *testing.T, path string) []string {
	t.Helper()
	paths := []string{path}
	_, rest, _ := strings.Cut(s.mustRun(t, path+" --help", 0), "COMMANDS:\n")
	list, _, _ := strings.Cut(rest, "\n\n")
	for line := range strings.Lines(list) {
		paths = append(paths, s.commandsIn(t, path+" "+strings.Fields(line)[0])...)
	}
	return paths
}

// flagNames returns all names of the flags of a command, sorted.
func (s *shell) flagNames(t *testing.T, path string) []string {
	t.Helper()
	all := []string{"--help", "-h"}
	if !strings.Contains(path, " ") {
		all = append(all, "--generate", "--version", "-v")
	}
	for _, names := range s.flags(t, path) {
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *shell) checkInstalled(t *testing.T, tool, path string, want []string) {
	checkNames(t, "manual page", manualNames(t, filepath.Join(s.dir, tool+".man"), tool, path), want)
	line := path + " -"
	if out, ok := s.answer(t, "bash", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _$1; printf '%s\n' "${COMPREPLY[@]}"`,
		append([]string{filepath.Join(s.dir, tool+".bash")}, strings.Fields(line)...)); ok {
		checkNames(t, "bash", strings.Fields(out), want)
	}
	if out, ok := s.answer(t, "zsh", `compdef() { }; _describe() { print -l -- "${(@)list%%:*}" }; _files() { }; source $1; shift; words=("$@"); CURRENT=$#; _$1`,
		append([]string{filepath.Join(s.dir, tool+".zsh")}, strings.Fields(line)...)); ok {
		checkNames(t, "zsh", strings.Fields(out), want)
	}
	if out, ok := s.answer(t, "fish", `source $argv[1]; complete -C $argv[2]; complete -C $argv[2]-`, []string{filepath.Join(s.dir, tool+".fish"), line}); ok {
		var names []string // each line has a description behind its name
		for line := range strings.Lines(out) {
			names = append(names, strings.Fields(line)[0])
		}
		checkNames(t, "fish", names, want)
	}
}

// answer returns the output of a script of a shell, if the shell is installed.
func (s *shell) answer(t *testing.T, name, script string, args []string) (string, bool) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Logf("%s is not installed: its completion is not tried", name)
		return "", false
	}
	before := []string{"-c", script}
	if name != "fish" {
		before = append(before, name) // $0
	}
	cmd := exec.Command(name, append(before, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
	return string(out), err == nil
}

func checkNames(t *testing.T, where string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%s: has %v, want %v", where, got, want)
	}
}

// manualNames returns the names of flags in the section of a command in a manual page.
func manualNames(t *testing.T, file, tool, path string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	begin := "\n.SH OPTIONS\n"
	if path != tool {
		begin = "\n.SS " + strings.ReplaceAll(path, "-", `\-`) + "\n"
	}
	_, section, _ := strings.Cut(string(text), begin)
	section, _, _ = strings.Cut("\n"+section, "\n.S")
	var names []string
	for _, part := range strings.Split(section, "\n.TP\n")[1:] { // behind the text before the flags
		forms, _, _ := strings.Cut(part, "\n")
		for _, form := range strings.Split(forms, ", ") {
			name, _, _ := strings.Cut(strings.TrimPrefix(form, `\fB`), `\fR`)
			names = append(names, strings.ReplaceAll(name, `\-`, "-"))
		}
	}
	return names
}
