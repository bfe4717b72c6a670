package command

import "runtime/debug"

// version and commit are set by make and scripts/dist; a program that go install has
// built knows them from there.
var version, commit string

// Version returns the version of the program: a tag, or what git describe says.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unknown"
}

// versionAndCommit is what --version says.
func versionAndCommit() string {
	at := commit
	if info, ok := debug.ReadBuildInfo(); ok && at == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				at = s.Value
			}
		}
	}
	if at == "" {
		at = "unknown"
	}
	return Version() + " (commit " + at + ")"
}
