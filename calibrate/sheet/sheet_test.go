package sheet

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
)

// example is the sheet of docs/calibrate.md.
const example = `nodes: 64
sockets: 2
cores: 32
clock: 2.45GHz
clock_kind: nominal
flop_per_cycle: 16
l3: 256MB
memory: 256GB
memory_bandwidth: 205GBps
network: 100Gbps infiniband
latency: 1.3us
topology: fat-tree leaf=16 up=8
software: typical
`

func parse(t *testing.T, text string) *Sheet {
	t.Helper()
	s, warnings, err := Parse(strings.NewReader(text), "s.yaml")
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return s
}

// edited is the example with a line in place of the one of its key, or without that line.
func edited(key, line string) string {
	var list []string
	for old := range strings.Lines(example) {
		if !strings.HasPrefix(old, key+":") {
			list = append(list, old)
		} else if line != "" {
			list = append(list, line+"\n")
		}
	}
	return strings.Join(list, "")
}

// TestParse: values in the package's units, peak 16 x 2.45 GHz, and ranks on all cores.
func TestParse(t *testing.T) {
	s := parse(t, example)
	if s.Peak() != 16*2.45e9 || s.Memory != 256e9 || s.MemoryBandwidth != 205e9 || s.Network != 12.5e9 ||
		math.Abs(s.Latency-1.3e-6) > 1e-18 || s.RanksPerHost != 64 || s.Threads() != 1 || s.NetworkKind != rdma || len(s.Assumed) > 0 {
		t.Errorf("%+v", s)
	}
	if s := parse(t, example+"ranks_per_host: 4\n"); s.Threads() != 16 || s.spec().Cores != 4 || s.spec().Speed != 16*16*2.45e9 {
		t.Errorf("4 ranks on 64 cores: %d threads, %+v", s.Threads(), s.spec())
	}
	// A key that the sheet leaves out gets a default, which machine.md names.
	few := parse(t, "nodes: 2\ncores: 4\nclock: 2.4GHz\nflop_per_cycle: 8\nmemory: 8GB\n")
	if few.MemoryBandwidth <= 0 || few.Network <= 0 || few.Latency <= 0 || few.L3 <= 0 || len(few.Assumed) < 7 {
		t.Errorf("%+v", few)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ key, line, want string }{
		{"memory", "", "s.yaml:1: no key memory"},
		{"clock", "", "s.yaml:1: no key clock"},
		{"flop_per_cycle", "", "s.yaml:1: no key flop_per_cycle"},
		{"memory_bandwidth", "memory_bandwidth: 205GB", `s.yaml:9: memory_bandwidth: "205GB" is an amount of memory`},
		{"memory_bandwidth", "memory_bandwidth: 205Gbps", `s.yaml:9: memory_bandwidth: "205Gbps" is a bandwidth in bits`},
		{"memory", "memory: 256GBps", `s.yaml:8: memory: "256GBps" is a bandwidth in bytes`},
		{"memory", "memory: 256", `s.yaml:8: memory: "256" is a number without a unit`},
		{"clock", "clock: 2450GHz", `s.yaml:4: clock: "2450GHz" is not possible, want 0.02 to 10GHz`},
		{"clock_kind", "clock_kind: fast", `s.yaml:5: clock_kind: "fast", want load or nominal`},
		{"cores", "cores: 10000", `s.yaml:3: cores: want a whole number in [1,512]`},
		{"flop_per_cycle", "flop_per_cycle: 2450", `s.yaml:6: flop_per_cycle: 2450 is not possible`},
		{"software", "efficiency: 120%", `s.yaml:13: efficiency: "120%"`},
		{"network", "network: 100Gbps carrier pigeon", `s.yaml:10: network:`},
		{"latency", "latency: 1.3GBps", `s.yaml:11: latency: "1.3GBps" is a bandwidth in bytes`},
		{"topology", "topology: hypercube", `s.yaml:12: topology: "hypercube", want switch`},
		{"topology", "topology: torus 4x4x5", `s.yaml:12: topology: `},
		{"software", "software: best", `s.yaml:13: software: "best", want typical or tuned`},
		{"software", "sofware: tuned", `s.yaml:13: unknown key "sofware": is it software?`},
		{"software", "gpus: 8", `s.yaml:1: no key gpu_peak: a machine without it cannot be predicted`},
		{"software", "nics: 4", `s.yaml:13: nics: the sheet has no gpus`},
		{"software", "gpus: 4\ngpu_peak: {fp32: 95Tflop/s}\ngpu_memory: 64GB\ngpu_memory_bandwidth: 1.6TBps", `s.yaml:14: gpu_peak: no fp64`},
		{"software", "gpus: 4\ngpu_peak: {fp64: 47.9TB}\ngpu_memory: 64GB\ngpu_memory_bandwidth: 1.6TBps", `s.yaml:14: gpu_peak: fp64: "47.9TB" is an amount of memory`},
		{"software", "gpus: 4\ngpu_peak: {fp64: 47.9}\ngpu_memory: 64GB\ngpu_memory_bandwidth: 1.6TBps", `s.yaml:14: gpu_peak: fp64: "47.9" is a number without a unit`},
		{"software", "gpus: 4\ngpu_peak: {fp64: 47.9Tflop/s}\ngpu_memory: 64GB\ngpu_memory_bandwidth: 1.6TBps\nranks_per_host: 8", `s.yaml:17: ranks_per_host: 8 ranks for 4 GPUs`},
		{"software", "watts: {idle: 780, full: 220}", `s.yaml:13: watts: full: 220`},
		{"software", "switch_ports: 20", "s.yaml:12: topology: 16 down and 8 up need 24 ports, a switch has 20"},
		{"topology", "switch_ports: 36", `s.yaml:12: switch_ports: is of a fat tree, topology is "switch"`},
		{"software", "from_memory: [watts]", `s.yaml:13: from_memory: "watts" is no key of this sheet`},
	} {
		_, _, err := Parse(strings.NewReader(edited(c.key, c.line)), "s.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.line, err, c.want)
		}
	}
	for _, c := range []struct{ key, line, want string }{
		{"memory_bandwidth", "memory_bandwidth: 2TBps", ""},
		{"memory_bandwidth", "memory_bandwidth: 5GBps", "s.yaml:9: memory_bandwidth: 0.00399 byte/flop of the socket's peak of 1254 Gflop/s"},
		{"software", "colour: blue", `s.yaml:13: unknown key "colour" has no effect`},
		{"software", "ranks_per_host: 65", "s.yaml:13: ranks_per_host: 65 ranks on 64 cores"},
	} {
		_, warnings, err := Parse(strings.NewReader(edited(c.key, c.line)), "s.yaml")
		if err != nil || (c.want == "") != (len(warnings) == 0) || c.want != "" && !strings.HasPrefix(warnings[0].String(), c.want) {
			t.Errorf("%s: %v, %v, want %s", c.line, err, warnings, c.want)
		}
	}
}

// seconds returns the time of a call of a kernel by the models of a sheet.
func seconds(t *testing.T, s *Sheet, sig kernels.Signature, dims ...int64) float64 {
	t.Helper()
	var text strings.Builder
	if err := s.writeKernels(&text); err != nil {
		t.Fatal(err)
	}
	set, err := kernels.Parse(strings.NewReader(text.String()), "k.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := set.Bind(kernels.Host{Name: "node-0", Speed: 1}, sig)
	if err != nil {
		t.Fatal(err)
	}
	var d [4]int64
	copy(d[:], dims)
	return m.Seconds(&d)
}

var dgemm = kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}}

// TestDgemm: the rate of a product rises with each dimension, and stays below the part of the peak that the sheet
// states: 80 % of 39.2 Gflop/s. Half of the memory makes it slower, and so do more ranks on a node of it.
func TestDgemm(t *testing.T) {
	s := parse(t, edited("software", "efficiency: 80%"))
	rate := func(s *Sheet, m, n, k int64) float64 {
		return 2 * float64(m) * float64(n) * float64(k) / seconds(t, s, dgemm, m, n, k)
	}
	top := 0.8 * 39.2e9
	base := rate(s, 2000, 2000, 192)
	for _, d := range [][3]int64{{4000, 2000, 192}, {2000, 4000, 192}, {2000, 2000, 384}} {
		if r := rate(s, d[0], d[1], d[2]); !(r > base && r < top) {
			t.Errorf("%v: %g flop/s, want more than %g and less than %g", d, r, base, top)
		}
	}
	if r := rate(s, 1e6, 1e6, 1e6); math.Abs(r/top-1) > 1e-3 {
		t.Errorf("a large product: %g flop/s, want %g", r, top)
	}
	slow := parse(t, strings.Replace(edited("software", "efficiency: 80%"), "205GBps", "102GBps", 1))
	if r := rate(slow, 2000, 2000, 192); !(r < base) {
		t.Errorf("half of the memory bandwidth: %g flop/s, want less than %g", r, base)
	}
	// A rank of 16 cores has 16 times the flop and the memory of a rank of one.
	four := parse(t, edited("software", "efficiency: 80%")+"ranks_per_host: 4\n")
	if r := rate(four, 1e6, 1e6, 1e6); math.Abs(r/(16*top)-1) > 1e-3 {
		t.Errorf("a large product on 16 cores: %g flop/s, want %g", r, 16*top)
	}
}

// TestHPCG: a sweep over a level that no cache holds takes its bytes, 2 (12 NNZ + 49 ROWS), at the part of the memory's
// peak that HPCG gets of 2 x 205 GB/s for 64 ranks, less the part of that in the 49 GB/s that a core can load.
func TestHPCG(t *testing.T) {
	s := parse(t, example)
	symgs := kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}}
	const rows, nnz = 1124864, 30080231
	const share = 2 * 205e9 / 64
	want := 2 * (12*nnz + 49*rows) / (hpcgTypical * share / (1 + share/49e9))
	if got := seconds(t, s, symgs, 0, rows, nnz, rows); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("%g s, want %g", got, want)
	}
}

// TestSure: software that is not said, facts from memory and assumed ones widen the interval; a stated efficiency makes
// it narrow.
func TestSure(t *testing.T) {
	sd := func(text string) float64 {
		list, _ := parse(t, text).deviations()
		return list[0].sd
	}
	typical, tuned := sd(example), sd(edited("software", "software: tuned"))
	either, memory := sd(edited("software", "")), sd(example+"from_memory: [clock, memory]\n")
	stated := sd(edited("software", "efficiency: 80%"))
	if !(stated < tuned && tuned < typical && typical < memory && typical < either) {
		t.Error(stated, tuned, typical, memory, either)
	}
}

// TestGPUs: a rank for each GPU, and for large products the stated part of the peak; a stream of the memory is 0.85 of its
// peak, read and written; the host's own products are those of 16 cores of 39.2 Gflop/s. All ports are one, and what a run
// must fit into is the memory of the GPUs.
func TestGPUs(t *testing.T) {
	s := parse(t, edited("software", "efficiency: 80%")+"gpus: 4\ngpu_peak: {fp64: 60Tflop/s, fp16: 1Pflop/s}\ngpu_memory: 80GB\n"+
		"gpu_memory_bandwidth: 3TBps\nhost_link: 50GBps\ngpu_fabric: 400GBps\nnics: 4\n")
	if s.RanksPerHost != 4 || s.GPU.Peak["fp32"] != 120e12 || s.GPU.Peak["fp16"] != 1e15 || len(s.Assumed) != 2 { // fp32, and the software
		t.Errorf("%+v", s)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("flop/s of a large product", 2e18/seconds(t, s, dgemm, 1e6, 1e6, 1e6), 0.8*60e12)
	half := kernels.Signature{Name: "shgemm", Dims: []string{"M", "N", "K", "SET"}}
	near("flop/s of a large product in half precision", 2e18/seconds(t, s, half, 1e6, 1e6, 1e6), 0.8*1e15)
	// An entry of the matrix takes 10 flop in double precision, at 0.8 of 60 Tflop/s.
	entries := kernels.Signature{Name: "otfgemv", Dims: []string{"M", "N"}}
	near("seconds of generated entries", seconds(t, s, entries, 1e6, 1e6), 1e13/(0.8*60e12))
	lacpy := kernels.Signature{Name: "dlacpy", Dims: []string{"M", "N"}}
	near("seconds of a large copy", seconds(t, s, lacpy, 1e5, 1e5), 16e10/(0.85*3e12))
	host := kernels.Signature{Name: "host dgemm", Dims: []string{"M", "N", "K"}}
	near("flop/s of the host", 2e18/seconds(t, s, host, 1e6, 1e6, 1e6), 0.8*16*39.2e9)
	spec := s.spec()
	near("port", spec.NIC.Bandwidth, 4*12.5e9)
	near("fabric", spec.Loopback.Bandwidth, 0.8*400e9)
	near("memory", atof(t, spec.Properties[0].Value), 4*80e9)
	dir := filepath.Join(t.TempDir(), "m")
	if err := Make(dir, s, nil); err != nil {
		t.Error(err)
	}
}

// TestTurns: more ranks than cores are warned of, where the sheet says how many ranks there are: also by its GPUs.
func TestTurns(t *testing.T) {
	const node = "nodes: 2\ncores: 4\nclock: 2.4GHz\nflop_per_cycle: 8\nmemory: 8GB\n"
	for text, line := range map[string]int{
		node + "ranks_per_host: 8\n": 6, node + "gpu_peak: {fp64: 60Tflop/s}\ngpus: 8\ngpu_memory: 80GB\ngpu_memory_bandwidth: 3TBps\n": 7,
	} {
		_, warnings, err := Parse(strings.NewReader(text), "s.yaml")
		want := fmt.Sprintf("s.yaml:%d: ranks_per_host: 8 ranks on 4 cores: they take turns", line)
		if err != nil || len(warnings) != 1 || warnings[0].String() != want {
			t.Errorf("%v %v, want %s", warnings, err, want)
		}
	}
}

func atof(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Error(err)
	}
	return v
}

// TestMake: the directory has a platform of 64 hosts with 64 cores, and its own sheet; it is replaced by another one, and
// a directory of other files is refused.
func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m")
	for _, text := range []string{edited("nodes", "nodes: 16"), example} {
		if err := Make(dir, parse(t, text), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := platforms.Find(filepath.Join(dir, "platform.xml"), 1)
	if err != nil || p.NumHosts() != 64 || p.Host(0).Cores != 64 {
		t.Fatal(err, p)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "sheet.yaml")); err != nil || string(text) != example {
		t.Error(err, string(text))
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "platform.xml"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Make(other, parse(t, example), nil); err == nil || !strings.Contains(err.Error(), "there is platform.xml") {
		t.Error(err)
	}
}
