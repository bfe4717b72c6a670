//go:build !race

package hugepages

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
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

const asking = "HUGEPAGES_TEST"

// TestAsk asks in a process of its own, whose heap has been in use, and looks whether the system knows that what
// is allocated afterwards is to lie in huge pages, where it gives any.
func TestAsk(t *testing.T) {
	if os.Getenv(asking) == "" {
		command := exec.Command(os.Args[0], "-test.run", "^TestAsk$", "-test.v")
		command.Env = append(os.Environ(), asking+"=1")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if bytes.Contains(out, []byte("SKIP")) {
			t.Skipf("%s", out)
		}
		return
	}
	use(40 << 20)
	Ask()
	memory := make([]byte, 64<<20) // untouched; it may begin in what has been in use, and is larger
	if setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || !given(setting) {
		t.Skip("the system does not give huge pages to those who ask")
	}
	if flags := flagsOf(t, uintptr(unsafe.Pointer(&memory[len(memory)-1]))); !slices.Contains(flags, "hg") {
		t.Errorf("the last byte is in memory of %v, want hg among them", flags)
	}
	runtime.KeepAlive(memory)
}

// TestLimited asks where a process must not have that much memory, and goes on without. Where that is just enough
// for a process, one in some does not begin for want of it.
func TestLimited(t *testing.T) {
	if os.Getenv(asking) != "" {
		Ask()
		return
	}
	for _, kilobytes := range []int{1000000, 1100000, 1200000, 1300000, 1400000} {
		self := fmt.Sprintf("ulimit -v %d && exec '%s' -test.run ", kilobytes, os.Args[0])
		if works(self+"TestGiven") && !works(self+"TestLimited") {
			t.Errorf("no process that asks runs in %d kB", kilobytes)
		}
	}
}

// works reports whether one in five processes ends well.
func works(script string) bool {
	for range 5 {
		command := exec.Command("sh", "-c", script)
		if command.Env = append(os.Environ(), asking+"=1"); command.Run() == nil {
			return true
		}
	}
	return false
}

// use touches so many bytes of the heap and gives them back to it.
//
//go:noinline
func use(size int) {
	memory := make([]byte, size)
	for i := range memory {
		memory[i] = 1
	}
	runtime.KeepAlive(memory)
	runtime.GC()
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
