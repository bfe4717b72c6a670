package measure

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// This file describes the machine that is measured, as Linux tells of it: Describe.

// unknown is the value of a fact that cannot be read.
const unknown = "unknown"

// Fact is a line of the description of a machine.
// Names and values are text for people; no program takes them apart.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Comments returns facts as comments at the head of a table, each on one line.
func Comments(facts []Fact) string {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, strings.Join(strings.Fields(f.Value), " "))
	}
	return b.String()
}

// Describe returns the facts of a machine that an experimenter needs, from the files of its Linux
// below root ("/"). Facts that cannot be read are "unknown".
func Describe(root fs.FS) []Fact {
	m := machine{root}
	const cpu = "sys/devices/system/cpu/"

	// The lowest and the highest frequency of all cores.
	frequencies := unknown
	var list []float64
	for _, text := range m.lines("proc/cpuinfo", "cpu MHz") {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			list = append(list, f)
		}
	}
	if len(list) > 0 {
		frequencies = fmt.Sprintf("%g to %g", slices.Min(list), slices.Max(list))
	}

	// The bounds of the frequency of core 0, which Linux has in kHz, in MHz.
	var bounds []string
	for _, name := range []string{"min", "max"} {
		text := m.text(cpu + "cpu0/cpufreq/scaling_" + name + "_freq")
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			text = fmt.Sprintf("%g", f/1000)
		}
		bounds = append(bounds, text)
	}

	// Intel's driver has a switch that forbids turbo, others have one that permits it.
	turbo := m.named(cpu+"intel_pstate/no_turbo", "on", "off")
	if turbo == unknown {
		turbo = m.named(cpu+"cpufreq/boost", "off", "on")
	}

	// The caches of core 0, with the cores that share each.
	// Which cores share a cache decides how many ranks compete for it.
	var caches []string
	dirs, _ := fs.Glob(m.root, cpu+"cpu0/cache/index*") // the pattern is right
	for _, d := range dirs {
		text := func(name string) string { return m.text(path.Join(d, name)) }
		caches = append(caches, fmt.Sprintf("L%s %s %s of cores %s", text("level"), text("type"), text("size"),
			text("shared_cpu_list")))
	}

	return []Fact{
		{"cpu", m.field("proc/cpuinfo", "model name")},
		{"microcode", m.field("proc/cpuinfo", "microcode")},
		{"cores online", m.text(cpu + "online")},
		{"hyper-threading", m.named(cpu+"smt/active", "off", "on")},
		{"frequency now (MHz)", frequencies},
		{"frequency range (MHz)", joined(" to ", bounds...)},
		{"governor", m.text(cpu + "cpu0/cpufreq/scaling_governor")},
		{"turbo", turbo},
		{"caches of core 0", cmp.Or(strings.Join(caches, "; "), unknown)},
		{"memory", m.field("proc/meminfo", "MemTotal")},
		{"memory available", m.field("proc/meminfo", "MemAvailable")},
		{"NUMA nodes online", m.text("sys/devices/system/node/online")},
		{"huge pages", m.text("sys/kernel/mm/transparent_hugepage/enabled")},
		{"load average", m.text("proc/loadavg")},
		{"kernel", joined(" ", m.text("proc/sys/kernel/ostype"), m.text("proc/sys/kernel/osrelease"),
			m.text("proc/sys/kernel/version"))},
		{"system", strings.Trim(m.field("etc/os-release", "PRETTY_NAME"), `"`)},
		{"go", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
	}
}

// joined joins texts, of which some may be unknown; if all are, so is the whole.
func joined(join string, texts ...string) string {
	if !slices.ContainsFunc(texts, func(text string) bool { return text != unknown }) {
		return unknown
	}
	return strings.Join(texts, join)
}

// machine reads files of Linux below a directory.
// The directory is that of the running Linux, or of files of a test.
type machine struct{ root fs.FS }

// mostRead bounds the files that are read, in bytes.
const mostRead = 1 << 20

// read returns a file, "" for one that cannot be read.
func (m machine) read(name string) string {
	text, err := fs.ReadFile(m.root, name)
	if err != nil || len(text) > mostRead {
		return ""
	}
	return string(text)
}

// text returns the content of a small file as one line.
func (m machine) text(name string) string {
	return cmp.Or(strings.Join(strings.Fields(m.read(name)), " "), unknown)
}

// lines returns the values of the lines "key : value" or "key=value" of a file.
func (m machine) lines(name, key string) (values []string) {
	// Keys of /proc/cpuinfo have tabs before the colon; those of /etc/os-release an equals sign.
	for line := range strings.Lines(m.read(name)) {
		if i := strings.IndexAny(line, ":="); i >= 0 && strings.TrimSpace(line[:i]) == key {
			values = append(values, strings.TrimSpace(line[i+1:]))
		}
	}
	return values
}

// field returns the first of the values.
func (m machine) field(name, key string) string {
	return cmp.Or(append(m.lines(name, key), "")[0], unknown)
}

// named returns the name of a file's content, "0" or "1", or another content as it is.
func (m machine) named(name, off, on string) string {
	text := m.text(name)
	return cmp.Or(map[string]string{"0": off, "1": on}[text], text)
}

// Available returns the bytes of memory that can be taken without swapping, 0 if that is unknown.
func Available(root fs.FS) int64 {
	number, unit, _ := strings.Cut(machine{root}.field("proc/meminfo", "MemAvailable"), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	// Sizes of /proc/meminfo are in kB, which are KiB.
	if err != nil || unit != "kB" || n < 0 || n > 1<<50 {
		return 0
	}
	return n << 10
}

// LargestCache returns the bytes of the largest cache of core 0, 32 MiB if that is unknown.
func LargestCache(root fs.FS) int64 {
	// Sizes of caches are as 32768K.
	sizes, _ := fs.Glob(root, "sys/devices/system/cpu/cpu0/cache/index*/size") // the pattern is right
	largest := int64(0)
	for _, name := range sizes {
		number, isKiB := strings.CutSuffix(machine{root}.text(name), "K")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && isKiB && n > 0 && n < 1<<30 {
			largest = max(largest, n<<10)
		}
	}
	return cmp.Or(largest, 32<<20)
}
