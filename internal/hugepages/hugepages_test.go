package hugepages

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

func TestGiven(t *testing.T) {
	for setting, want := range map[string]bool{
		"always [madvise] never\n": true, "[always] madvise never\n": false, "always madvise [never]\n": false, "": false,
	} {
		if given([]byte(setting)) != want {
			t.Errorf("%q: %v", setting, !want)
		}
	}
}

// TestAsk asks in a process of its own, and looks whether the system knows that what is allocated afterwards is
// to lie in huge pages, where it gives any.
func TestAsk(t *testing.T) {
	if os.Getenv("HUGEPAGES_TEST") == "" {
		command := exec.Command(os.Args[0], "-test.run", "^TestAsk$", "-test.v")
		command.Env = append(os.Environ(), "HUGEPAGES_TEST=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	before := debug.SetGCPercent(70)
	Ask()
	if percent := debug.SetGCPercent(before); percent != 70 {
		t.Errorf("garbage is collected at %d %%, want 70", percent)
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > reserve/4 {
		t.Errorf("%d bytes are in use", m.HeapAlloc)
	}
	memory := make([]byte, 16<<20)
	if setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || !given(setting) {
		t.Skip("the system does not give huge pages to those who ask")
	}
	for _, i := range []int{0, len(memory) - 1} {
		if flags := flagsOf(t, uintptr(unsafe.Pointer(&memory[i]))); !slices.Contains(flags, "hg") {
			t.Errorf("byte %d is in memory of %v, want hg among them", i, flags)
		}
	}
	runtime.KeepAlive(memory)
}

// flagsOf returns the flags of the memory at an address, which Linux names in two letters each.
func flagsOf(t *testing.T, address uintptr) []string {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= address && address < to
		}
		if flags, found := strings.CutPrefix(line, "VmFlags:"); found && inside {
			return strings.Fields(flags)
		}
	}
	t.Skip("the system does not say what memory is like")
	return nil
}
