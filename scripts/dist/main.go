// Command dist writes the archives of a release: for each platform the four commands,
// their manual pages, completion for shells, documentation and licenses, and a file of
// checksums. The same commit and the same Go give the same bytes wherever they are made:
// they hold no path, no user and no time but that of the commit.
//
//	dist [-o DIR] [-platforms linux/amd64,...]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// all are the platforms of a release.
const all = "darwin/amd64,darwin/arm64,linux/amd64,linux/arm64"

func main() {
	log.SetFlags(0)
	log.SetPrefix("dist: ")
	out := flag.String("o", "out/dist", "write the archives into this `directory`")
	platforms := flag.String("platforms", all, "`platforms`, as Go calls them")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	if err := release(*out, strings.Split(*platforms, ",")); err != nil {
		log.Fatal(err)
	}
}

// source is what is released.
type source struct {
	version, commit string
	at              time.Time // of the commit
}

// release writes the archives and SHA256SUMS.
func release(out string, platforms []string) error {
	s, err := committed()
	if err != nil {
		return err
	}
	if err := empty(out); err != nil {
		return err
	}
	share, err := s.share()
	if err != nil {
		return err
	}
	defer os.RemoveAll(share)
	var names []string
	for _, platform := range platforms {
		name, err := s.archive(out, platform, share)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		names = append(names, name)
	}
	return writeSums(out, names)
}

// empty makes an empty directory, instead of one of an earlier release.
func empty(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, sums)); err != nil && len(files) > 0 {
		return fmt.Errorf("%s holds something else than a release: name another directory", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o777)
}

// committed returns what is checked out, which must be a commit and no more.
func committed() (s source, err error) {
	changes, err := git("status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changes != "" {
		return s, fmt.Errorf("not committed, so that nobody could make the same archives:\n%s", changes)
	}
	if s.commit, err = git("rev-parse", "HEAD"); err != nil {
		return s, err
	}
	if s.version, err = git("describe", "--tags", "--always", "--abbrev=12"); err != nil {
		return s, err
	}
	text, err := git("show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return s, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	s.at = time.Unix(seconds, 0)
	return s, err
}

func git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// share returns a directory with manual pages and completion, which are the same on all
// platforms; the commands write them.
func (s source) share() (string, error) {
	bin, err := s.build(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(bin)
	dir, err := os.MkdirTemp("", "dist")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("scripts/share.sh", bin, dir)
	cmd.Stderr = os.Stderr
	return dir, cmd.Run()
}

// build returns a directory with the commands for a platform. What the environment could
// change about them is set.
func (s source) build(platform string) (string, error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("want SYSTEM/PROCESSOR")
	}
	dir, err := os.MkdirTemp("", "dist")
	if err != nil {
		return "", err
	}
	const command = "reprise/internal/command"
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs",
		"-ldflags", fmt.Sprintf("-s -w -buildid= -X %s.version=%s -X %s.commit=%s", command, s.version, command, s.commit),
		"-o", dir+string(filepath.Separator), "./cmd/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	cmd.Stderr = os.Stderr
	return dir, cmd.Run()
}
