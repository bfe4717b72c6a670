package measure

import (
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// unknown stands for what cannot be read.
const unknown = "unknown"

// Fact is a line of the description of a machine.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Describe returns what an experimenter wants to know of a machine, from the
// files of its Linux below root ("/"). What cannot be read is "unknown".
func Describe(root fs.FS) []Fact {
	m := machine{root}
	return []Fact{
		{"cpu", m.field("proc/cpuinfo", "model name")},
		{"microcode", m.field("proc/cpuinfo", "microcode")},
		{"cores online", m.text("sys/devices/system/cpu/online")},
		{"hyper-threading", m.named("sys/devices/system/cpu/smt/active", map[string]string{"0": "off", "1": "on"})},
		{"frequency now (MHz)", m.frequencies()},
		{"frequency range (MHz)", m.frequencyRange()},
		{"governor", m.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
		{"turbo", m.turbo()},
		{"caches of core 0", m.caches()},
		{"memory", m.field("proc/meminfo", "MemTotal")},
		{"memory available", m.field("proc/meminfo", "MemAvailable")},
		{"NUMA nodes online", m.text("sys/devices/system/node/online")},
		{"huge pages", m.text("sys/kernel/mm/transparent_hugepage/enabled")},
		{"load average", m.text("proc/loadavg")},
		{"kernel", m.texts(" ", "proc/sys/kernel/ostype", "proc/sys/kernel/osrelease", "proc/sys/kernel/version")},
		{"system", strings.Trim(m.field("etc/os-release", "PRETTY_NAME"), `"`)},
		{"go", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
	}
}

type machine struct{ root fs.FS }

// mostRead is how much of a file is looked at, in bytes.
const mostRead = 1 << 20

// text returns the content of a small file as one line.
func (m machine) text(name string) string {
	text, err := fs.ReadFile(m.root, name)
	if err != nil || len(text) > mostRead || strings.TrimSpace(string(text)) == "" {
		return unknown
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// texts returns the contents of several files, joined, if any can be read.
func (m machine) texts(join string, names ...string) string {
	var list []string
	known := false
	for _, name := range names {
		text := m.text(name)
		known = known || text != unknown
		list = append(list, text)
	}
	if !known {
		return unknown
	}
	return strings.Join(list, join)
}

// lines returns the values of the lines "key : value" or "key=value" of a file.
func (m machine) lines(name, key string) []string {
	text, err := fs.ReadFile(m.root, name)
	if err != nil || len(text) > mostRead {
		return nil
	}
	var values []string
	for line := range strings.Lines(string(text)) {
		if i := strings.IndexAny(line, ":="); i >= 0 && strings.TrimSpace(line[:i]) == key {
			values = append(values, strings.TrimSpace(line[i+1:]))
		}
	}
	return values
}

// field returns the first of the lines.
func (m machine) field(name, key string) string {
	if list := m.lines(name, key); len(list) > 0 && list[0] != "" {
		return list[0]
	}
	return unknown
}

func (m machine) named(name string, names map[string]string) string {
	text := m.text(name)
	if n, ok := names[text]; ok {
		return n
	}
	return text
}

// frequencies returns the lowest and the highest of all cores.
func (m machine) frequencies() string {
	var list []float64
	for _, text := range m.lines("proc/cpuinfo", "cpu MHz") {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return unknown
	}
	return fmt.Sprintf("%g to %g", slices.Min(list), slices.Max(list))
}

// frequencyRange returns the bounds of core 0, which Linux has in kHz, in MHz.
func (m machine) frequencyRange() string {
	var list []string
	for _, name := range []string{"min", "max"} {
		text := m.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_" + name + "_freq")
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			text = fmt.Sprintf("%g", f/1000)
		}
		list = append(list, text)
	}
	if list[0] == unknown && list[1] == unknown {
		return unknown
	}
	return strings.Join(list, " to ")
}

func (m machine) turbo() string {
	if text := m.named("sys/devices/system/cpu/intel_pstate/no_turbo",
		map[string]string{"0": "on", "1": "off"}); text != unknown {
		return text
	}
	return m.named("sys/devices/system/cpu/cpufreq/boost", map[string]string{"0": "off", "1": "on"})
}

// caches returns "L1 Data 32K, ..." with the cores that share each.
func (m machine) caches() string {
	const dir = "sys/devices/system/cpu/cpu0/cache"
	list, err := fs.Glob(m.root, dir+"/index*")
	if err != nil || len(list) == 0 {
		return unknown
	}
	var texts []string
	for _, d := range list {
		text := func(name string) string { return m.text(path.Join(d, name)) }
		texts = append(texts, fmt.Sprintf("L%s %s %s of cores %s", text("level"), text("type"), text("size"),
			text("shared_cpu_list")))
	}
	return strings.Join(texts, "; ")
}

// Available returns the bytes of memory that can be taken without swapping, 0 if
// that is unknown.
func Available(root fs.FS) int64 {
	number, unit, _ := strings.Cut(machine{root}.field("proc/meminfo", "MemAvailable"), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || unit != "kB" || n < 0 || n > 1<<50 {
		return 0
	}
	return n << 10
}

// LargestCache returns the bytes of the largest cache of core 0, 32 MiB if that is unknown.
func LargestCache(root fs.FS) int64 {
	sizes, err := fs.Glob(root, "sys/devices/system/cpu/cpu0/cache/index*/size")
	largest := int64(0)
	for _, name := range sizes {
		number, isKiB := strings.CutSuffix(machine{root}.text(name), "K")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && isKiB && n > 0 && n < 1<<30 {
			largest = max(largest, n<<10)
		}
	}
	if err != nil || largest == 0 {
		return 32 << 20
	}
	return largest
}
