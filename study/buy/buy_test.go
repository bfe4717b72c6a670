package buy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/replay"
)

// small is the sheet of a machine whose replays take milliseconds.
const small = `nodes: 2
sockets: 2
cores: 2
clock: 2GHz
flop_per_cycle: 8
memory: 20MB
memory_bandwidth: 20GBps
network: 10Gbps infiniband
latency: 1.5us
topology: fat-tree leaf=1 up=1
watts: {idle: 50, full: 120}
`

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// request asks about machines by their sheets.
func request(t *testing.T, sheets ...string) Request {
	t.Helper()
	r := Request{Fill: 0.8, Tolerance: 0.02, Level: 0.8, Draws: 3, Jobs: 1, Dir: t.TempDir(), Tool: "test"}
	for i, text := range sheets {
		r.Sheets = append(r.Sheets, Sheet{File: []string{"a.yaml", "b.yaml", "a.yml"}[i], Text: []byte(text)})
	}
	return r
}

// TestRun: a result has an answer with an interval for both programs, a verdict for each parameter, and each change that
// is possible; it has the same bits again.
func TestRun(t *testing.T) {
	other := strings.Replace(small, "topology: fat-tree leaf=1 up=1\n", "", 1)
	r := must(Run(context.Background(), request(t, small, other)))
	if len(r.Machines) != 2 || len(r.Missing) > 0 || r.Stopped {
		t.Fatalf("%d machines, missing %v", len(r.Machines), r.Missing)
	}
	for _, m := range r.Machines {
		// 2 nodes of 2 x 2 cores with 2 GHz x 8 flop.
		if m.Peak != 128 || m.Ranks != 8 {
			t.Errorf("%s: peak %g, %d ranks", m.Name, m.Peak, m.Ranks)
		}
		for _, f := range []*Figure{m.HPL, m.HPCG, m.Usual, m.Tuned.HPL, m.Tuned.HPCG} {
			if !f.Known || f.Draws != 3 || !(f.Low < f.Gflops && f.Gflops < f.High) || math.Abs(f.Share-f.Gflops/128) > 1e-12 {
				t.Errorf("%s: %+v", m.Name, f)
			}
			if f.Low <= 0 || f.High > 128 {
				t.Errorf("%s: an interval beyond what is possible: %+v", m.Name, f)
			}
		}
		// Rate and time are of one replay; HPL counts 2/3 N^3 + 3/2 N^2 flop.
		if n := 1792.; math.Abs(m.HPL.Gflops*m.HPL.Seconds*1e9/(2./3*n*n*n+1.5*n*n)-1) > 1e-3 {
			t.Errorf("%s: %g Gflop/s, %g s", m.Name, m.HPL.Gflops, m.HPL.Seconds)
		}
		// This HPL waits for messages more than it computes; both are within the tolerance.
		if m.Software != "typical" || m.Tuned.HPL.Gflops < 0.98*m.HPL.Gflops || m.Tuned.HPCG.Gflops <= m.HPCG.Gflops {
			t.Errorf("%s: %s software %+v, tuned %+v", m.Name, m.Software, m.HPL, m.Tuned.HPL)
		}
		// 50 to 120 W a node.
		if w := m.HPL.Watts; w < 100 || w > 240 || m.HPL.GflopsPerWatt != m.HPL.Gflops/w {
			t.Errorf("%s: %g W, %g Gflops/W", m.Name, w, m.HPL.GflopsPerWatt)
		}
		if m.HPL.Gflops > 128 || m.HPL.Seconds < 2./3*1792*1792*1792/128e9 {
			t.Errorf("%s: HPL beyond peak: %+v", m.Name, m.HPL)
		}
		names := ""
		for _, f := range m.Factors {
			names += f.Name + " "
			if f.Decided != (f.Difference.High < 0) || f.Value == f.Instead {
				t.Errorf("%s: %+v %+v", m.Name, f, f.Difference)
			}
			differ, best := 0, strings.Split(m.HPL.Configuration, ", ")
			for i, value := range strings.Split(f.Difference.Configuration, ", ") {
				if value != best[i] {
					differ++
				}
			}
			if differ != 1 {
				t.Errorf("%s: %s: %s against %s", m.Name, f.Name, f.Difference.Configuration, m.HPL.Configuration)
			}
		}
		// The second machine is compared with the first on the same draws: of the rates as stated.
		if d := m.AgainstHPL; (d == nil) != (m.Name == "a") || d != nil && (!d.Known || math.Abs(d.Value-(m.HPL.Gflops/r.Machines[0].HPL.Gflops-1)) > 1e-12) {
			t.Errorf("%s: against the first %+v", m.Name, d)
		}
		if names != "PxQ NB BCAST DEPTH " {
			t.Errorf("%s: factors %s", m.Name, names)
		}
		for _, c := range m.Changes {
			if c.Name == "a second uplink" && m.Name == "b" {
				if c.Impossible != "no fat tree" || c.HPL != nil {
					t.Errorf("%s: %+v", m.Name, c)
				}
				continue
			}
			h := c.HPL
			if h == nil || c.HPCG == nil || !(h.Low <= h.Value && h.Value <= h.High) || c.Impossible != "" {
				t.Errorf("%s: %+v", m.Name, c)
				continue
			}
			switch c.Name {
			case "a second uplink", "memory 1.5 times as fast", "twice the nodes":
				if h.Value < -1e-3 {
					t.Errorf("%s: %s: %g", m.Name, c.Name, h.Value)
				}
			case "1 node at 0.95 of the speed": // of equal nodes, by 5 % at most, as nothing else is slower
				if h.Value >= 0 || h.Value < -0.0501 {
					t.Errorf("%s: %s: %g", m.Name, c.Name, h.Value)
				}
			}
		}
	}
	again := must(Run(context.Background(), request(t, small, other)))
	if a, b := must(json.Marshal(r.Machines)), must(json.Marshal(again.Machines)); !bytes.Equal(a, b) {
		t.Errorf("twice:\n%s\n%s", a, b)
	}

	// What people see has all of it, and the page asks for nothing.
	var text, page bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a: 2 nodes of 2 x 2 cores, peak 128 Gflop/s", "What changes bring", "HPL against a ", "a second uplink: HPL",
		"calibrate machine a-typical --sheet a-typical.yaml", "HPL with tuned software: ", "Changes that matter by more", "tracegen hpl -N 1792 ", "study tune a-search.yaml --within 1%", "software: typical"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, &text)
		}
	}
	if strings.Contains(page.String(), "://") || strings.Contains(page.String(), "<script") || !strings.Contains(page.String(), "What changes bring") {
		t.Errorf("%s", &page)
	}
}

// TestSameAsReplay: the figure of HPL is that of the commands beside it.
func TestSameAsReplay(t *testing.T) {
	b := must(prepare(request(t, small)))
	s := b.machines[0].usual
	for _, draws := range []int{0, b.Draws} {
		if err := b.play(context.Background(), s, draws); err != nil {
			t.Fatal(err)
		}
	}
	f := b.machines[0].figure(s)
	tr := s.open(context.Background(), b)
	first := must(tr())
	defer first.Close()
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Machine: filepath.Join(b.Dir, "a-typical")}, first)
	if err != nil {
		t.Fatal(err)
	}
	u := must(replay.Uncertain(context.Background(), first.Header(), m, o, replay.UncertaintyOptions{Draws: b.Draws, Workers: 1, Level: b.Level},
		func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
			again := must(tr())
			defer again.Close()
			r, err := replay.Run(ctx, again, m, o)
			if err != nil {
				return nil, err
			}
			return replay.PlayedExactly(r), nil
		}))
	// The value is that of one replay. The interval is that of three logarithms, by Student's t of two degrees of freedom:
	// 1.885618 for 80 %.
	again := must(tr())
	defer again.Close()
	if r := must(replay.Run(context.Background(), again, m, o)); f.Gflops != r.Gflops || f.Seconds != r.Makespan {
		t.Errorf("%v Gflop/s in %v s, replay %v in %v s", f.Gflops, f.Seconds, r.Gflops, r.Makespan)
	}
	mean, squares := 0., 0.
	for _, d := range u.Draws {
		mean += math.Log(d.Gflops/f.Gflops) / 3
	}
	for _, d := range u.Draws {
		squares += math.Pow(math.Log(d.Gflops/f.Gflops)-mean, 2) / 2
	}
	half := 1.885618 * math.Sqrt(squares) * math.Sqrt(1+1./3)
	low, high := f.Gflops*math.Exp(min(0, mean-half)), min(f.Gflops*math.Exp(max(0, mean+half)), 128)
	if math.Abs(f.Low/low-1) > 1e-6 || math.Abs(f.High/high-1) > 1e-6 {
		t.Errorf("%v to %v, replay --uncertainty %v to %v", f.Low, f.High, low, high)
	}
}

// TestStopped: a result has what there is, whenever the time ends.
func TestStopped(t *testing.T) {
	for _, after := range []int{2, 5, 9, 15, 40} {
		ctx, cancel := context.WithCancel(context.Background())
		r := request(t, small)
		r.Progress = func(done, all int, left time.Duration) {
			if done >= after {
				cancel()
			}
		}
		res, err := Run(ctx, r)
		cancel()
		if err != nil || !res.Stopped || len(res.Missing) == 0 || res.Machines[0].HPL == nil || !strings.Contains(res.Unfinished(), ": a: ") {
			t.Errorf("after %d: %v %+v", after, err, res)
		}
	}
}

// TestPredict: what will be replayed is said before.
func TestPredict(t *testing.T) {
	p := must(Predict(request(t, small)))
	if p.Replays < 50 || !(p.Time > 0) || !strings.Contains(p.Text, "N 1792, NB 192, 2 x 4") {
		t.Errorf("%+v", p)
	}
}

// TestForecast: what is left shrinks to nothing as replays are made, and follows the pace.
func TestForecast(t *testing.T) {
	b := must(prepare(request(t, small)))
	before, guessed, _ := b.forecast(0, false)
	s := b.machines[0].usual
	if err := b.play(context.Background(), s, 0); err != nil {
		t.Fatal(err)
	}
	if after, _, _ := b.forecast(0, false); after != before-1 {
		t.Errorf("%d replays, %d after one", before, after)
	}
	// All take three times as long as guessed, 1 us a message, so what is left does.
	b = must(prepare(request(t, small)))
	b.pace["hpl"].Add(1e6, 3)
	b.pace["hpcg"].Add(2e6, 6)
	if _, slow, _ := b.forecast(0, false); math.Abs(slow.Seconds()/guessed.Seconds()-3) > 1e-6 {
		t.Errorf("%v at a third of the pace, %v before", slow, guessed)
	}
	// The plan has everything once before it has anything more closely, but for the intervals of the programs.
	stages := ""
	for _, task := range b.todo(false) {
		if !strings.HasSuffix(stages, task.stage+"; ") {
			stages += task.stage + "; "
		}
	}
	if want := "HPL and HPCG; their intervals; search of HPL's parameters; other parameters, changes; their intervals, too; "; stages != want {
		t.Errorf("%s, want %s", stages, want)
	}
}

// TestBasis: what would take too long has a rank a socket in place of the sheet's ranks, and says so.
func TestBasis(t *testing.T) {
	r := request(t, small)
	r.Budget = time.Millisecond
	b := must(prepare(r))
	m := b.machines[0]
	last := m.changes[len(m.changes)-1]
	if m.ranks() != 4 || m.stated != 4 || !strings.Contains(m.basis, "with a rank a socket") || last.name != "a rank a core" || !last.last {
		t.Errorf("%d ranks, %d stated, %q, %+v", m.ranks(), m.stated, m.basis, last)
	}
	// The machine of the change is that of the sheet, and what makes it begins with the sheet.
	if last.hpl.run.Ranks != 8 || !strings.HasPrefix(m.usual.commands[0], "(cat a.yaml; ") || len(last.hpl.script()) != 6 {
		t.Errorf("%d ranks, %q, %q", last.hpl.run.Ranks, m.usual.commands, last.hpl.script())
	}
}

// TestSheets: names of machines differ, and a sheet that is wrong is an error with its line.
func TestSheets(t *testing.T) {
	b := must(prepare(request(t, small, small, small)))
	if names := b.machines[0].name + " " + b.machines[1].name + " " + b.machines[2].name; names != "a b a-2" {
		t.Error(names)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, "a-2-uplinks", "platform.xml")); err != nil {
		t.Error(err)
	}
	_, err := Run(context.Background(), request(t, strings.Replace(small, "20GBps", "20GB", 1)))
	if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:7: memory_bandwidth: ") {
		t.Error(err)
	}
	// One port down and two up do not fit into two ports.
	c := must(prepare(request(t, small+"switch_ports: 2\n"))).machines[0].changes[0]
	if c.hpl != nil || !strings.Contains(c.impossible, "1 down and 2 up need 3 ports") {
		t.Errorf("%q", c.impossible)
	}
	// A sheet in one line has no lines to change: that is said, and all else is answered.
	flow := "{" + strings.Join(strings.Split(strings.TrimSpace(small), "\n"), ", ") + "}\n"
	m := must(prepare(request(t, flow))).machines[0]
	for _, c := range m.changes {
		if (c.impossible == "") != (c.hostSpeed != "") {
			t.Errorf("%s: %q", c.name, c.impossible)
		}
	}
}

// TestEdits: what a changed sheet says.
func TestEdits(t *testing.T) {
	for _, of := range [][2]string{
		{"fat-tree leaf=24 up=12", "fat-tree leaf=24 up=24"},
		{"fat-tree leaf=24 up=12x200Gbps routing=static", "fat-tree leaf=24 up=24x200Gbps routing=static"},
		{"fat-tree leaf=16 up=400Gbps group=8 up=4", "fat-tree leaf=16 up=2x400Gbps group=8 up=8"},
		{"torus 4x4x4", ""},
	} {
		if got := doubleUplinks(of[0]); got != of[1] {
			t.Errorf("%s: %q, want %q", of[0], got, of[1])
		}
	}
	text, command := edited([]byte("nodes: 2 # two\ncores: 4\n"), "s.yaml", "nodes", "4", "t.yaml")
	if string(text) != "nodes: 4\ncores: 4\n" || command != "sed 's/^nodes:.*/nodes: 4/' s.yaml > t.yaml" {
		t.Errorf("%s, %s", text, command)
	}
	text, _ = edited([]byte("nodes: 2\n"), "s.yaml", "ranks_per_host", "1", "t.yaml")
	if said(text, "ranks_per_host") != "1" || said([]byte("topology: 'torus 4x4' # small\n"), "topology") != "torus 4x4" {
		t.Errorf("%s", text)
	}
}

// TestGrids: those near a square, or the nearest.
func TestGrids(t *testing.T) {
	for ranks, want := range map[int]string{4096: "[[64 64] [32 128]]", 8: "[[2 4] [4 2] [1 8]]", 13: "[[1 13]]", 1: "[[1 1]]"} {
		m := must((&buyer{}).parse("s", []byte(strings.NewReplacer("nodes: 2", "nodes: 1", "cores: 2", "cores: 1", "sockets: 2", "sockets: 1", "topology: fat-tree leaf=1 up=1", "").Replace(small))))
		m.sheet.Nodes, m.sheet.RanksPerHost = 1, ranks
		if got := strings.TrimSpace(strings.ReplaceAll(strings.Trim(string(must(json.Marshal(m.grids()))), " "), ",", " ")); got != want {
			t.Errorf("%d: %s, want %s", ranks, got, want)
		}
	}
}
