package slurm_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reprise/internal/studytest"
)

// smallDisk mounts a file system of 1 MB and returns its directory.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("needs a small file system, which this user cannot mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// fill fills the disk of a directory to the last byte, and returns the file that does.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	return f.Name()
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestFullDisk: workers on a disk that is full, or read-only, end with an error that says so,
// and what they had done stays.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	command, file, dir := studytest.Command(t), studytest.File(t, many), filepath.Join(disk, "s")
	studytest.Run(t, command, "plan", file, "-o", dir)
	filler := fill(t, disk)
	if out := studytest.Fail(t, 1, command, "worker", dir, "--quiet"); !strings.Contains(out, "no space left on device") || !strings.Contains(out, dir) {
		t.Errorf("a worker on a full disk says %s", out)
	}
	if err := os.Truncate(filler, 700<<10); err != nil {
		t.Fatal(err)
	}
	worker := exec.Command(command, "worker", dir, "--quiet")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	fill(t, disk+"/s") // while it works
	if err := worker.Wait(); err == nil || worker.ProcessState.ExitCode() != 1 {
		t.Errorf("a worker whose disk becomes full: %v", err)
	}
	remount(t, disk, "ro")
	if out := studytest.Fail(t, 1, command, "worker", dir, "--quiet"); !strings.Contains(out, "read-only file system") {
		t.Errorf("a worker on a read-only disk says %s", out)
	}
	studytest.Run(t, command, "status", dir)
	remount(t, disk, "rw")
	if err := errors.Join(os.Remove(filler), os.Remove(disk+"/s/filler")); err != nil {
		t.Fatal(err)
	}
	studytest.Run(t, command, "worker", dir, "--quiet")
	if studytest.Table(t, dir) != studytest.Undisturbed(t, command, file) {
		t.Errorf("the table is another one than that of a study whose disk was never full")
	}
	studytest.CheckOnce(t, dir)
}

func remount(t *testing.T, dir, how string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+how, dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
}

// fullDisk: a disk that becomes full under the workers of Slurm costs only the time until it
// has room again.
func fullDisk(e *engine) {
	disk := smallDisk(e.t)
	e.dir = filepath.Join(disk, "s")
	studytest.Run(e.t, e.study, "plan", e.file, "-o", e.dir)
	filler := fill(e.t, disk)
	if out := studytest.Fail(e.t, 1, e.study, "submit", e.dir, "--slurm"); !strings.Contains(out, "no space left on device") {
		e.t.Errorf("submitting on a full disk: %s", out)
	}
	if err := os.Truncate(filler, 800<<10); err != nil {
		e.t.Fatal(err)
	}
	e.submit("--workers", "4")
	e.working()
	full := fill(e.t, e.dir)
	e.wait("idle", e.idle)
	if s := e.status(); s.Waiting == 0 {
		e.t.Errorf("the disk was full, and all is done: %+v", s)
	}
	if err := errors.Join(os.Remove(filler), os.Remove(full)); err != nil {
		e.t.Fatal(err)
	}
	e.finish()
}
