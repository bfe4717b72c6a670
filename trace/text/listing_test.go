package text

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// TestListingOracle takes recorded rank files of real HPL runs apart into flat
// actions, repeated polls into single ones, and lists them again: the text must
// be the recorded one.
func TestListingOracle(t *testing.T) {
	cases, err := filepath.Glob("../../testdata/oracle/hpl/pub-*.zip")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	missLines := 0
	for _, path := range cases {
		z := tracetest.Must(zip.OpenReader(path))
		for _, f := range z.File {
			if !strings.Contains(f.Name, "/rank-") || strings.HasPrefix(f.Name, "hit/") {
				continue
			}
			r := tracetest.Must(f.Open())
			text := tracetest.Must(io.ReadAll(r))
			r.Close()
			missLines += bytes.Count(text, []byte("\nmiss "))
			if got := relist(t, text); got != string(text) {
				t.Errorf("%s %s: %s", path, f.Name, cmp.Diff(string(text), got))
			}
		}
		z.Close()
	}
	// grep -h "^miss" late/rank-*.txt real/rank-*.txt | wc -l, over all cases.
	if want := 48178; missLines != want {
		t.Errorf("%d miss lines seen, want %d", missLines, want)
	}
}

// relister feeds the actions that lines of text stand for to a listing.
type relister struct {
	t       *testing.T
	l       *listing
	kernels map[string]int // by prefix and number of dimensions
	group   []trace.Action // zero-sized kernels directly before
}

// relist returns what a listing makes of the actions of a rank file.
func relist(t *testing.T, text []byte) string {
	var out bytes.Buffer
	r := &relister{t: t, kernels: map[string]int{}, l: &listing{w: &out, comms: []string{" row", " col"}, requests: map[int32]request{}}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		r.feed(lines.Text())
	}
	r.l.settle()
	r.l.flush()
	return out.String()
}

var relistKinds = map[string]trace.Kind{"send": trace.KindSend, "ssend": trace.KindSsend, "issend": trace.KindIssend, "irecv": trace.KindIrecv, "recv": trace.KindRecv}

func (r *relister) feed(line string) {
	f := strings.Fields(line)
	kind := relistKinds[f[0]]
	switch {
	case f[0] == "#" || f[0] == "begin" || f[0] == "end" || f[0] == "panel" || f[0] == "bwait":
		// A marker: its text comes from the cursor; only what it does to polls counts.
		r.l.settle()
		r.l.group = r.l.group[:0]
		r.l.word(line).line()
		r.group = nil
	case f[0] == "miss":
		r.miss(f)
	case f[0] == "iprobe":
		r.action(trace.Action{Kind: trace.KindProbed, Peer: r.int32(f[1]), Tag: r.int32(f[2]), Sym: r.comm(f[3])})
	case f[0] == "wait":
		r.action(trace.Action{Kind: trace.KindWait, Req: 7})
	case kind != trace.KindNone:
		r.action(trace.Action{Kind: kind, Req: 7, Peer: r.int32(f[1]), X: [4]int64{r.int(f[2])}, Tag: r.int32(f[3]), Sym: r.comm(f[4])})
	default:
		r.kernel(f)
	}
}

// miss polls COUNT times, with the group of zero-sized kernels in between.
func (r *relister) miss(f []string) {
	a := trace.Action{Kind: trace.KindPoll, Peer: r.int32(f[1]), Tag: r.int32(f[2]), Sym: r.comm(f[3])}
	count := r.int(f[4][1:])
	r.l.miss(&a)
	for range count - 1 {
		for i := range r.group {
			tracetest.Check(r.t, r.l.compute(&r.group[i]))
		}
		r.l.miss(&a)
	}
	r.group = nil
}

func (r *relister) action(a trace.Action) {
	r.group = nil
	tracetest.Check(r.t, r.l.action(&a))
}

// kernel calls the kernel of a line: trailing integers are dimensions; the role
// at the end of dlocswp lines is one with names.
func (r *relister) kernel(f []string) {
	a := trace.Action{Kind: trace.KindCompute}
	roles := []string{"swap", "same", "in", "out", "none"}
	end := len(f)
	role := slices.Index(roles, f[end-1])
	if role >= 0 {
		end--
	}
	first := end
	for first > 1 && isInt(f[first-1]) {
		first--
	}
	var dims []trace.Dim
	for i, s := range f[first:end] {
		a.X[i] = r.int(s)
		dims = append(dims, trace.Dim{Name: "d" + strconv.Itoa(i)})
	}
	if role >= 0 {
		a.X[len(dims)] = int64(role)
		dims = append(dims, trace.Dim{Name: "role", Enum: roles})
	}
	prefix := strings.Join(f[:first], " ")
	sym, ok := r.kernels[prefix]
	if !ok {
		sym = len(r.l.kernels)
		r.kernels[prefix] = sym
		r.l.kernels = append(r.l.kernels, kernelText{prefix, dims})
	}
	a.Sym = uint16(sym)
	if role < 0 && slices.Contains(a.X[:len(dims)], 0) {
		r.group = append(r.group, a)
	} else {
		r.group = nil
	}
	tracetest.Check(r.t, r.l.action(&a))
}

func isInt(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func (r *relister) int(s string) int64 { return tracetest.Must(strconv.ParseInt(s, 10, 64)) }

func (r *relister) int32(s string) int32 { return int32(r.int(s)) }

func (r *relister) comm(s string) uint16 { return uint16(slices.Index([]string{"row", "col"}, s)) }
