package measure

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// TestDescribe: the facts of the files of a Linux, in their form there.
func TestDescribe(t *testing.T) {
	root := fstest.MapFS{
		"proc/cpuinfo": file("processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\nmicrocode\t: 0x2006e05\ncpu MHz\t\t: 2100.000\n\n" +
			"processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\ncpu MHz\t\t: 2800.500\n"),
		"proc/meminfo":                                             file("MemTotal:       196608000 kB\nMemAvailable:   100 kB\n"),
		"proc/loadavg":                                             file("0.10 0.20 0.30 1/100 1234\n"),
		"proc/sys/kernel/ostype":                                   file("Linux\n"),
		"proc/sys/kernel/osrelease":                                file("5.10.0\n"),
		"proc/sys/kernel/version":                                  file("#1 SMP\n"),
		"etc/os-release":                                           file("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
		"sys/devices/system/cpu/online":                            file("0-1\n"),
		"sys/devices/system/cpu/smt/active":                        file("0\n"),
		"sys/devices/system/node/online":                           file("0\n"),
		"sys/kernel/mm/transparent_hugepage/enabled":               file("always [madvise] never\n"),
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":     file("performance\n"),
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq":     file("1000000\n"),
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq":     file("2100000\n"),
		"sys/devices/system/cpu/intel_pstate/no_turbo":             file("1\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/level":           file("1\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/type":            file("Data\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/size":            file("32K\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list": file("0\n"),
	}
	got := map[string]string{}
	for _, f := range Describe(root) {
		got[f.Name] = f.Value
	}
	delete(got, "go")
	want := map[string]string{
		"cpu": "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "microcode": "0x2006e05", "cores online": "0-1", "hyper-threading": "off",
		"frequency now (MHz)": "2100 to 2800.5", "frequency range (MHz)": "1000 to 2100", "governor": "performance", "turbo": "off",
		"caches of core 0": "L1 Data 32K of cores 0", "memory": "196608000 kB", "memory available": "100 kB", "NUMA nodes online": "0",
		"huge pages": "always [madvise] never", "load average": "0.10 0.20 0.30 1/100 1234", "kernel": "Linux 5.10.0 #1 SMP",
		"system": "Debian GNU/Linux 12 (bookworm)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Available(root); got != 102400 {
		t.Errorf("%d bytes available, want 102400", got)
	}
}

// TestNothingToRead: facts of missing files are unknown.
func TestNothingToRead(t *testing.T) {
	empty := fstest.MapFS{}
	for _, f := range Describe(empty) {
		if f.Name != "go" && f.Value != unknown {
			t.Errorf("%s: %q, want unknown", f.Name, f.Value)
		}
	}
	if got := Available(empty); got != 0 {
		t.Errorf("%d bytes available, want 0", got)
	}
	if got := HostName(""); got != unknown {
		t.Errorf("name %q, want unknown", got)
	}
}
