package study

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/platforms"
	"reprise/study/workqueue"
	"reprise/trace/stat"
)

// work makes the runs of a plan that are free.
func work(t *testing.T, p *Plan, o WorkOptions) Work {
	t.Helper()
	o.Jobs, o.Lease = max(1, o.Jobs), time.Minute
	w, err := p.Work(context.Background(), o)
	noError(t, err)
	return w
}

// studyIn plans a study in a directory of the test.
func studyIn(t *testing.T, text string) *Plan {
	t.Helper()
	p := planOf(t, text)
	noError(t, errOf(p.Create(filepath.Join(t.TempDir(), "study"))))
	return p
}

// made returns a study in a directory of its own, all of whose runs are made.
func made(t *testing.T, text string) *Plan {
	t.Helper()
	p := studyIn(t, text)
	work(t, p, WorkOptions{})
	return p
}

// TestWork: the table does not depend on who makes which run; called again, nothing is made.
func TestWork(t *testing.T) {
	one := studyIn(t, smallStudy)
	if w := work(t, one, WorkOptions{}); w.Made != 4 || !w.Done || w.Failed > 0 {
		t.Errorf("%+v", w)
	}
	if w := work(t, one, WorkOptions{}); w.Made != 0 || !w.Done {
		t.Errorf("again: %+v", w)
	}
	many := studyIn(t, smallStudy)
	if w := work(t, many, WorkOptions{Jobs: 3}); w.Made != 4 || !w.Done {
		t.Errorf("%+v", w)
	}
	for _, name := range []string{CSVFile, ParquetFile} {
		a := readFile(t, one.Dir(), name)
		if b, err := os.ReadFile(filepath.Join(many.Dir(), name)); err != nil || string(a) != string(b) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	for _, dir := range []string{"leases", "workers", checkpointsDir} {
		if left, _ := filepath.Glob(filepath.Join(one.Dir(), dir, "*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// TestFailedRuns: a run that fails is a row without numbers; it is made again where that is asked
// for. Kernel models that lack one are no mistake of a plan: not all traces call it.
func TestFailedRuns(t *testing.T) {
	few := filepath.Join(t.TempDir(), "few.yaml")
	noError(t, os.WriteFile(few, []byte("version: 1\nunit: s\nkernels: {dgemm: free}\n"), 0o666))
	p := studyIn(t, "program: hpl\nparameters: {N: 100, NB: 8, P: 2, Q: 1}\nplatform: dahu\nfactors: {kernels: [dahu, "+few+"]}\n")
	w := work(t, p, WorkOptions{})
	if w.Made != 2 || !w.Done || w.Failed != 1 || !strings.Contains(w.Errors[0], "few.yaml, seed 1): ") || !strings.Contains(w.Errors[0], "no kernel model for dtrsm") {
		t.Errorf("%+v", w)
	}
	if w := work(t, p, WorkOptions{}); w.Made != 0 {
		t.Errorf("a worker has made a run again that had failed: %+v", w)
	}
	if w := work(t, p, WorkOptions{Retry: true}); w.Made != 1 || w.Failed != 1 {
		t.Errorf("retried: %+v", w)
	}
	r := resultsOf(t, p)
	if tab := p.NewTable(r); !tab.Known[0][0] || tab.Known[1][0] || tab.Errors[1] == "" {
		t.Errorf("%+v", tab)
	}
	// A run in which nothing takes time has failed.
	free := filepath.Join(t.TempDir(), "free.yaml")
	noError(t, os.WriteFile(free, []byte("version: 1\nunit: s\nkernels: {\"*\": free}\n"), 0o666))
	w = work(t, studyIn(t, "program: hpl\nparameters: {N: 100, P: 1, Q: 1}\nplatform: dahu\nkernels: "+free+"\n"), WorkOptions{})
	if w.Failed != 1 || !strings.Contains(w.Errors[0], "the makespan is 0 s: ") {
		t.Errorf("%+v", w)
	}
	// All failures are counted, ten are told.
	w = work(t, studyIn(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 1}\nplatform: dahu\nkernels: "+few+"\nfactors: {NB: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}\n"), WorkOptions{})
	if w.Failed != 11 || len(w.Errors) != 10 || w.Summary() != "made 11 runs, of which 11 failed" {
		t.Errorf("%d failed, %d told: %s", w.Failed, len(w.Errors), w.Summary())
	}
}

// TestNonsense: lines that do not say how a run has ended count as little as those that are torn, a
// second result that differs does not count, and what is no file is told.
func TestNonsense(t *testing.T) {
	p := made(t, smallStudy)
	table := readFile(t, p.Dir(), CSVFile)
	dir := filepath.Join(p.Dir(), journalsDir)
	id := p.Runs[0].ID
	lines := []string{
		`{"run":"` + id + `","outcome":{}}`,
		`{"run":"` + id + `","outcome":{"makespan_s":-1}}`,
		`{"run":"` + id + `","outcome":{"makespan_s":0}}`,
		`{"run":"` + id + `","outcome":{"makespan_s":1e999}}`,
		`{"run":"` + id + `","outcome":{"makespan_s":1},"error":"both"}`,
		`{"run":"` + id + `"}`, `{}`, `null`, `[]`, ``,
	}
	noError(t, errors.Join(
		os.WriteFile(filepath.Join(dir, "0.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o666), // read first
		os.WriteFile(filepath.Join(dir, "~.jsonl"), append(withSum([]byte(`{"run":"`+id+`","outcome":{"makespan_s":2,"interval_s":0,"gflops":1,"gflops_interval":0,"efficiency":0,"messages":1,"time_by_kind":[{"name":"a","mean_s":1}],"time_by_phase":null,"random":false},"wall_s":1,"worker":"me"}`)), '\n'), 0o666),
		os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine\n"), 0o666),
		os.Mkdir(filepath.Join(dir, "directory.jsonl"), 0o777),
		os.Symlink("nowhere", filepath.Join(dir, "link.jsonl")),
		syscall.Mkfifo(filepath.Join(dir, "pipe.jsonl"), 0o666),
	))
	w := work(t, p, WorkOptions{})
	if w.Made != 0 || !w.Done || len(w.Torn) != len(lines)+3 {
		t.Errorf("%+v, want %d lines told", w, len(lines)+3)
	}
	for _, want := range []string{"0.jsonl:1: a line of 43 bytes is no result", "~.jsonl:1: run " + id + " has another result than by ",
		"pipe.jsonl: want a regular file, this is a pipe", "directory.jsonl: want a regular file, this is a directory"} {
		if !strings.Contains(strings.Join(w.Torn, "\n"), want) {
			t.Errorf("%s, want %s", w.Torn, want)
		}
	}
	if again, err := os.ReadFile(filepath.Join(p.Dir(), CSVFile)); err != nil || string(again) != string(table) {
		t.Errorf("the table is another one: %v", err)
	}
}

// TestOneError: a disk that fails under several runs is told once, in a line.
func TestOneError(t *testing.T) {
	p := studyIn(t, smallStudy)
	w, err := p.join(context.Background(), WorkOptions{Jobs: 2, Lease: time.Minute})
	noError(t, err)
	w.journal.path = t.TempDir() // which cannot be written to
	var rows [2]int
	var leases [2]*workqueue.Lease
	for i := range rows {
		rows[i], leases[i] = w.next()
	}
	for i := range rows {
		w.make(rows[i], leases[i])
	}
	if err := w.me.Leave(); err != nil {
		t.Error(err)
	}
	if w.err == nil || !strings.HasPrefix(w.err.Error(), "a result could not be written down, and is to be made again: open ") || strings.Contains(w.err.Error(), "\n") {
		t.Error(w.err)
	}
}

// TestOfTune: a directory that has results already, and no plan, is none of a study.
func TestOfTune(t *testing.T) {
	dir := t.TempDir()
	noError(t, errOf(planOf(t, smallStudy).NewCachedEvaluator(dir)))
	refused(t, errOf(planOf(t, smallStudy).Create(dir)), "has journals and no plan.json, as that of study tune")
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); err == nil {
		t.Error("the plan is there all the same")
	}
}

// TestOtherStudy: a directory holds one study, of one version.
func TestOtherStudy(t *testing.T) {
	p := studyIn(t, smallStudy)
	if found, err := planOf(t, smallStudy).Create(p.Dir()); !found || err != nil {
		t.Errorf("the same study: %v, %v", found, err)
	}
	other := planOf(t, strings.Replace(smallStudy, "[0, 1]", "[0, 2]", 1))
	refused(t, errOf(other.Create(p.Dir())), "holds another study: its factors are others")
	refused(t, errOf(Open(p.Dir(), "other")), "was planned by Reprise test, and this is other")
	refused(t, errOf(Open(t.TempDir(), "test")), "is no study's directory")
	text := readFile(t, p.Dir(), PlanFile)
	forged := strings.Replace(string(text), `"value":"400"`, `"value":"500"`, 1)
	noError(t, os.WriteFile(filepath.Join(p.Dir(), PlanFile), []byte(forged), 0o666))
	refused(t, errOf(Open(p.Dir(), "test")), "the plan was changed by hand")
}

// changed has a copy changed and wants runs refused then.
func changed(t *testing.T, p *Plan, word string) {
	t.Helper()
	for i := range p.Inputs {
		if in := &p.Inputs[i]; in.Word == word {
			text := readFile(t, p.path(in))
			noError(t, os.WriteFile(p.path(in), append(text, '\n'), 0o666))
			defer os.WriteFile(p.path(in), text, 0o666)
		}
	}
	if _, err := p.NewEvaluator().Evaluate(context.Background(), p.Config(0), RunOptions{}); err == nil || !strings.Contains(err.Error(), word+" "+p.Dir()) || !strings.Contains(err.Error(), "is not what it was when the study was planned") {
		t.Errorf("%s: %v", word, err)
	}
}

// TestEachInput: a study takes the files along that its runs depend on, and each kind of them is held
// against what it was.
func TestEachInput(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"hosts.txt": "dahu-1\ndahu-2\ndahu-3\ndahu-4\n"}
	for word, path := range map[string]string{"platform.xml": "../platforms/machines/dahu/platform.xml", "kernels.yaml": "../platforms/machines/dahu/kernels.yaml", "noise.yaml": "../testdata/docs/network-noise.yaml"} {
		text := readFile(t, path)
		files[word] = string(text)
	}
	for name, text := range files {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	p := studyIn(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\nplatform: "+dir+"/platform.xml\nkernels: "+dir+"/kernels.yaml\nnetwork-noise: "+dir+"/noise.yaml\nhostfile: "+dir+"/hosts.txt\n")
	noError(t, os.RemoveAll(dir))
	opened, err := Open(p.Dir(), "test")
	noError(t, err)
	noError(t, errOf(opened.NewEvaluator().Evaluate(context.Background(), opened.Config(0), RunOptions{})))
	for _, word := range []string{"platform", "kernels", "network-noise", "hostfile"} {
		changed(t, opened, word)
	}
}

// TestCheckpoint: a replay whose context ends goes on from its state, to the same bits: before
// its first event, and then wherever it is after 50 ms.
func TestCheckpoint(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {N: 8000, NB: 64, P: 4, Q: 4}\nmachine: dahu\n")
	e := p.NewEvaluator()
	want, err := e.Evaluate(context.Background(), p.Config(0), RunOptions{Seed: 1}) // its trace is kept
	noError(t, err)
	e.worthSaving = 0
	o := RunOptions{Seed: 1, Checkpoint: filepath.Join(t.TempDir(), "checkpoints", "run")}
	ctx, end := context.WithCancel(context.Background())
	end()
	for left := 50 * time.Millisecond; left < time.Hour; left += left / 20 { // more and more: on a slow machine reading takes as long
		got, err := e.Evaluate(ctx, p.Config(0), o)
		if err == nil {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		noError(t, errOf(os.Stat(o.Checkpoint)))
		ctx, end = context.WithTimeout(context.Background(), left)
		defer end()
	}
	t.Error("the replay never ends")
}

// TestUntil: a worker begins nothing that would end too late.
func TestUntil(t *testing.T) {
	p := studyIn(t, strings.Replace(smallStudy, "N: 400, P: 2, Q: 2", "N: 200000, P: 16, Q: 16", 1))
	w := work(t, p, WorkOptions{Until: time.Now().Add(time.Second)})
	if w.Made != 0 || w.Late != 4 || w.Done {
		t.Errorf("%+v", w)
	}
}

// TestScaled: links of the levels that a pattern names have so many times their bandwidth and
// latency, the others as much as before; of several for a link the last counts.
func TestScaled(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {N: 200, P: 2, Q: 2}\nmachine: dahu\nbandwidth: '4, *host to switch=2'\nlatency: 0.5\n")
	before, err := platforms.Builtin("dahu", 4)
	noError(t, err)
	outline, err := p.Config(0).Run.Outline()
	noError(t, err)
	m, _, _, err := p.NewEvaluator().load(p.Config(0).Machine, outline)
	noError(t, err)
	after := m.Platform
	for l := range int32(before.NumLinks()) {
		want := 4.0
		if strings.HasSuffix(before.Levels()[before.LevelOf(l)], "host to switch") {
			want = 2
		}
		b, lat, _ := before.LinkFigures(l)
		if gotB, gotLat, _ := after.LinkFigures(l); gotB != want*b || gotLat != lat/2 {
			t.Errorf("link %d: %g byte/s, %g s, want %g and %g", l, gotB, gotLat, want*b, lat/2)
		}
	}
}

// TestMessages: the prediction of a run's messages is within 10 % of what its trace has.
func TestMessages(t *testing.T) {
	for _, c := range []string{
		"N: 4000, NB: 64, P: 2, Q: 2", "N: 4000, NB: 64, P: 8, Q: 8", "N: 8000, NB: 128, P: 4, Q: 16, SWAP: bin, BCAST: long", "N: 8000, NB: 128, P: 1, Q: 16", "N: 8000, NB: 128, P: 16, Q: 1", "N: 8000, NB: 32, P: 6, Q: 10, SWAP: long",
		"N: 8000, NB: 128, P: 16, Q: 4, SWAP: long, BCAST: longm, DEPTH: 1", "N: 8000, NB: 128, P: 2, Q: 32, SWAP: long, BCAST: long", "N: 8000, NB: 128, P: 4, Q: 8, SWAP: mix, BCAST: 2ringm",
	} {
		p := planOf(t, "program: hpl\nparameters: {"+c+"}\n")
		open, err := p.NewEvaluator().traceOf(context.Background(), p.Config(0).Run)
		noError(t, err)
		tr, err := open()
		noError(t, err)
		counted, err := stat.Of(tr, stat.Options{})
		noError(t, err)
		if ratio := p.Config(0).Run.Steps * p.Config(0).Run.Messages / float64(counted.Totals.Messages); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("%s: predicted %.3g times the %d messages", c, ratio, counted.Totals.Messages)
		}
	}
}

// TestCost: the forecast of what an estimate simulates is within a factor of 2 of what it does simulate.
func TestCost(t *testing.T) {
	for _, c := range []string{
		"program: hpl\nparameters: {N: 160768, NB: 192, P: 4, Q: 8, DEPTH: 0}\n",
		"program: hpl\nparameters: {N: 160768, NB: 192, P: 4, Q: 8, DEPTH: 1}\n",
		"program: hpcg\nparameters: {ranks: 64, nx: 64}\n",
	} {
		p := planOf(t, c+"tolerance: 2%\n")
		out, err := p.NewEvaluator().Evaluate(context.Background(), p.Config(0), RunOptions{Tolerance: p.Tolerance, Seed: 1})
		noError(t, err)
		if ratio := p.cost(0) / float64(out.Messages); out.Interval == 0 || ratio < 0.5 || ratio > 2 {
			t.Errorf("%s: predicted %.3g times the %d messages, interval %g s", c, ratio, out.Messages, out.Interval)
		}
	}
}

// TestEfficiency: a copy of a machine whose hosts have a nominal speed of 1 Gflop/s, far below
// what its kernels do, has no efficiency, as with replay; hosts of 100 Gflop/s have the share
// that Gflops are of 4 of them.
func TestEfficiency(t *testing.T) {
	dir := t.TempDir()
	for _, speed := range []string{"1Gf", "100Gf"} {
		path := filepath.Join(dir, speed+".xml")
		xml := `<platform version="4.1"><cluster id="c" prefix="n" radical="0-3" suffix="" speed="` + speed + `" bw="10GBps" lat="1us"/></platform>`
		noError(t, os.WriteFile(path, []byte(xml), 0o666))
		p := studyIn(t, "program: hpl\nparameters: {N: 2000, P: 2, Q: 2, NB: 128}\nplatform: "+path+"\nkernels: dahu\n")
		if w := work(t, p, WorkOptions{}); w.Failed > 0 {
			t.Fatalf("%+v", w)
		}
		r := resultsOf(t, p)
		o := r.Of(p.Runs[0].ID).Outcome
		want := o.Gflops / 400
		if speed == "1Gf" {
			want = 0
		}
		if o.Gflops <= 4 || math.Abs(o.Efficiency-want) > 1e-15 {
			t.Errorf("%s: %g Gflop/s, efficiency %g, want %g", speed, o.Gflops, o.Efficiency, want)
		}
	}
}

// TestHides: a study's directory that would be found in place of the machine that the study uses,
// where it is called again, is refused before it is made; elsewhere, or where nobody uses the
// machine, it is not.
func TestHides(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	p := planOf(t, smallStudy)
	exactly(t, errOf(p.Create("dahu")), "a directory dahu would be found in place of the built-in dahu, which the study uses: give the study's directory another name")
	if _, err := os.Stat("dahu"); err == nil {
		t.Error("the directory was made")
	}
	for _, name := range []string{"grisou", "sub/dahu"} {
		if _, err := p.Create(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	s, err := Parse(strings.NewReader(smallStudy), filepath.Join("elsewhere", "study.yaml"))
	noError(t, err)
	p, err = NewPlan(s, "test")
	noError(t, err)
	if _, err := p.Create(filepath.Join("elsewhere", "dahu")); err == nil {
		t.Error("beside the study's file: no error")
	}
}
