package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

const hplOracle = "../testdata/oracle/smpi-hpl"

// hplCase is a run of HPL inside SMPI: see the README of the cases.
type hplCase struct {
	Case        string
	P, Q        int
	Platform    string
	KernelModel string    `json:"kernel_model"`
	Config      []string  `json:"smpi_config"`
	Makespan    float64   `json:"makespan_seconds"`
	RankEnds    []float64 `json:"rank_end_seconds"`
	Messages    int64
	Bytes       int64 `json:"message_bytes"`
	N, NB       int
	NBMin, NDiv int
	PMap        string
	PFact       string
	RFact       string
	Bcast       int `json:"bcast_code"`
	Depth       int
	Swap        int `json:"swap_code"`
	Threshold   int `json:"swap_threshold"`
	L1, U       string
	Equil       bool
	Align       int
	Hits        int64 `json:"iprobe_hits"`
	Misses      int64 `json:"iprobe_misses"`
	Trace       string
}

func hplCases(t *testing.T) []hplCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(hplOracle, "smpi-[0-9]*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	if testing.Short() {
		files = files[10:13] // the small ones
	}
	cases := make([]hplCase, len(files))
	for i, file := range files {
		if err := json.Unmarshal([]byte(readFile(t, file)), &cases[i]); err != nil {
			t.Fatal(file, err)
		}
	}
	return cases
}

// machine returns the machine and the options of a case; rank r is on host node-r.
func (c *hplCase) machine(t *testing.T) (replay.Machine, replay.Options) {
	t.Helper()
	p, err := platforms.Load(filepath.Join(hplOracle, "platforms", c.Platform))
	noError(t, err)
	set, err := kernels.Load(filepath.Join("../testdata/kernels", c.KernelModel+".yaml"))
	noError(t, err)
	m := replay.Machine{Platform: p, Kernels: set}
	for r := range c.P * c.Q {
		h, ok := p.HostIndex(fmt.Sprintf("node-%d", r))
		if !ok {
			t.Fatal("no host for rank", r)
		}
		m.Hosts = append(m.Hosts, int32(h))
	}
	o := replay.DefaultOptions()
	for _, text := range c.Config {
		name, value, _ := strings.Cut(text, ":")
		noError(t, o.Network.Set(name, value))
	}
	return m, o
}

// replayRecorded replays the actions that the ranks of a case did.
func (c *hplCase) replayRecorded(t *testing.T, spin bool) *replay.Result {
	t.Helper()
	dir := t.TempDir()
	unzip(t, filepath.Join(hplOracle, c.Trace), dir)
	l := listing{spin: spin}
	lists := make([][]trace.Action, c.P*c.Q)
	for r := range lists {
		var err error
		if lists[r], err = l.read(readFile(t, filepath.Join(dir, fmt.Sprintf("rank-%d.txt", r)))); err != nil {
			t.Fatal(err)
		}
	}
	l.header.Ranks = len(lists)
	m, o := c.machine(t)
	res, err := replay.RunSource(t.Context(), &l.header, replay.NewLists(lists), m, o)
	noError(t, err)
	return res
}

// check compares the makespan and the ends of the ranks with the case.
func (c *hplCase) check(t *testing.T, res *replay.Result, tolerance float64) {
	t.Helper()
	if res.Messages != c.Messages || res.Bytes != c.Bytes {
		t.Errorf("%d messages of %d bytes, want %d of %d", res.Messages, res.Bytes, c.Messages, c.Bytes)
	}
	worst := 0.0
	for r, want := range c.RankEnds {
		worst = max(worst, math.Abs(res.Ranks[r].End/want-1))
	}
	t.Logf("makespan %.9f, want %.9f: %+.1e; worst rank %.1e", res.Makespan, c.Makespan, res.Makespan/c.Makespan-1, worst)
	if worst > tolerance || len(c.RankEnds) != len(res.Ranks) {
		t.Errorf("ends differ by %.1e", worst)
	}
}

// TestRecordedHPL replays what the ranks did in the very simulation, failed
// probes included. What remains are the nanoseconds by which SimGrid shifts
// events that nearly coincide.
func TestRecordedHPL(t *testing.T) {
	for _, c := range hplCases(t) {
		if c.Trace != "" {
			t.Run(c.Case, func(t *testing.T) { c.check(t, c.replayRecorded(t, false), 1e-5) })
		}
	}
}

// TestBusyWaits replays the same where all failed probes are turns of busy waits
// (DEPTH 0), and lets the replay find out how many there were.
func TestBusyWaits(t *testing.T) {
	for _, c := range hplCases(t) {
		if c.Trace == "" || c.Depth > 0 || c.Misses == 0 {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			res := c.replayRecorded(t, true)
			c.check(t, res, 1e-5)
			if d := math.Abs(float64(res.Polls)/float64(c.Hits+c.Misses) - 1); d > 1e-4 {
				t.Errorf("%d polls, want %d", res.Polls, c.Hits+c.Misses)
			}
		})
	}
}

// pivotRow is the rule by which the runs of testdata/oracle/smpi-hpl chose the
// pivot of a column; see the README there.
func pivotRow(column, n int) int32 {
	z := uint64(column) + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int32(column + int((z^z>>31)%uint64(n-column)))
}

// params returns the parameters of HPL in a case.
func (c *hplCase) params(t *testing.T) hpl.Params {
	t.Helper()
	p := hpl.DefaultParams(c.N, c.P, c.Q)
	parse := func(err error) {
		noError(t, err)
	}
	order := "col"
	if strings.HasPrefix(c.PMap, "row") {
		order = "row"
	}
	parse(p.Set("PMAP", order))
	parse(p.Set("PFACT", c.PFact))
	parse(p.Set("RFACT", c.RFact))
	parse(p.Set("BCAST", strconv.Itoa(c.Bcast)))
	parse(p.Set("SWAP", strconv.Itoa(c.Swap)))
	p.L1, p.U = form(c.L1), form(c.U)
	p.NB, p.NBMin, p.NDiv, p.Depth = c.NB, c.NBMin, c.NDiv, c.Depth
	p.SwapThreshold, p.Equil, p.Align = c.Threshold, c.Equil, c.Align
	p.Pivots = hpl.Pivots{Kind: hpl.GivenPivots, Name: "rule", Rows: make([]int32, c.N)}
	for column := range p.Pivots.Rows {
		p.Pivots.Rows[column] = pivotRow(column, c.N)
	}
	return p
}

func form(word string) hpl.Form {
	if word == "transposed" {
		return hpl.Transposed
	}
	return hpl.NoTransposed
}

// TestGeneratedHPL generates the trace of each case and replays it: here the
// polls are decided by the replay. A poll whose message is posted within a
// nanosecond of it may come out differently, which shifts a broadcast by one
// probe.
func TestGeneratedHPL(t *testing.T) {
	for _, c := range hplCases(t) {
		if c.N > 8192 {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			var file bytes.Buffer
			noError(t, hpl.Generate(t.Context(), &file, c.params(t), hpl.Options{}))
			tr, err := trace.NewReader(&file, c.Case)
			noError(t, err)
			m, o := c.machine(t)
			res, err := replay.Run(t.Context(), tr, m, o)
			noError(t, err)
			c.check(t, res, 1e-3)
		})
	}
}

// listing collects the actions of recorded runs of HPL, in the form of
// testdata/oracle/hpl: a line per action, kernels with their attributes and
// dimensions, failed probes with a count.
type listing struct {
	header trace.Header
	kernel map[string]uint16 // by name and attributes
	// spin turns the probes into a busy wait that the replay decides: right where
	// nothing lies between them.
	spin bool
}

// listedKernels says of each kernel which fields of its line are attributes (by
// name) and dimensions (with *).
var listedKernels = map[string]string{
	"dgemm": "transa transb *M *N *K", "dtrsm": "side uplo trans diag *M *N", "dgemv": "trans *M *N", "dger": "*M *N",
	"dtrsv": "uplo trans diag *N", "dscal": "*N", "daxpy": "*N", "dcopy": "*N", "idamax": "*N",
	"dlacpy": "*M *N", "dlatcpy": "*M *N", "dlocmax": "*M *COL", "dlocswpN": "*JB *COL", "dlocswpT": "*JB *COL",
	"dlaswp04N": "*M0 *M1 *N", "dlaswp04T": "*M0 *M1 *N",
}

// read parses the lines of one rank.
func (l *listing) read(text string) ([]trace.Action, error) {
	var actions []trace.Action
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		a, count, err := l.line(f)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", i+1, line, err)
		}
		for range count {
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// requestSlots are the slots of "wait send" and "wait recv".
var requestSlots = map[string]int32{"send": 0, "recv": 1}

// line parses a line; count is how often its action happened.
func (l *listing) line(f []string) (a trace.Action, count int, err error) {
	kinds := map[string]trace.Kind{
		"send": trace.KindSend, "ssend": trace.KindSsend, "issend": trace.KindIssend, "recv": trace.KindRecv, "irecv": trace.KindIrecv,
	}
	switch verb := f[0]; verb {
	case "#", "begin", "end", "panel", "bwait":
		return a, 0, nil
	case "send", "ssend", "issend", "recv", "irecv":
		n, err := integers(f[1:4])
		if err != nil {
			return a, 0, err
		}
		a = trace.Action{Kind: kinds[verb], Peer: int32(n[0]), Tag: int32(n[2]), X: [4]int64{n[1]}}
		if verb == "irecv" {
			a.Req = requestSlots["recv"]
		}
		return a, 1, nil
	case "wait":
		return trace.Action{Kind: trace.KindWait, Req: requestSlots[f[1]]}, 1, nil
	case "iprobe", "miss":
		if l.spin && verb == "miss" {
			return a, 0, nil
		}
		n, err := integers(f[1:3])
		if err != nil {
			return a, 0, err
		}
		count = 1
		if verb == "miss" {
			count, err = strconv.Atoi(strings.TrimPrefix(f[4], "x"))
		}
		a = trace.Action{Kind: trace.KindIprobe, Peer: int32(n[0]), Tag: int32(n[1])}
		if l.spin {
			a.Kind, a.Flags = trace.KindPoll, trace.FlagSpin
		}
		return a, count, err
	}
	return l.compute(f)
}

func (l *listing) compute(f []string) (a trace.Action, count int, err error) {
	form, ok := listedKernels[f[0]]
	if !ok && strings.HasPrefix(f[0], "dlaswp") {
		form, ok = "*M *N", true
	}
	if !ok {
		return a, 0, fmt.Errorf("unknown verb")
	}
	k := trace.Kernel{Name: f[0]}
	var dims []string
	for i, field := range strings.Fields(form) {
		if dim, ok := strings.CutPrefix(field, "*"); ok {
			k.Dims = append(k.Dims, trace.Dim{Name: dim})
			dims = append(dims, f[1+i])
		} else {
			k.Attrs = append(k.Attrs, trace.Param{Name: field, Value: f[1+i]})
		}
	}
	n, err := integers(dims)
	if err != nil {
		return a, 0, err
	}
	a = trace.Action{Kind: trace.KindCompute, Sym: l.symbol(k)}
	copy(a.X[:], n)
	return a, 1, nil
}

// symbol returns the number of a kernel in the header.
func (l *listing) symbol(k trace.Kernel) uint16 {
	key := fmt.Sprint(k.Name, k.Attrs)
	sym, ok := l.kernel[key]
	if !ok {
		sym = uint16(len(l.header.Kernels))
		if l.kernel == nil {
			l.kernel = map[string]uint16{}
		}
		l.kernel[key] = sym
		l.header.Kernels = append(l.header.Kernels, k)
	}
	return sym
}

func integers(fields []string) ([]int64, error) {
	list := make([]int64, len(fields))
	for i, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}
