package study

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"reprise/internal/sniff/snifftest"
	"reprise/tracegen/hpl"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// errOf returns the error of a call that returns a value as well.
func errOf[T any](_ T, err error) error { return err }

// refused fails the test unless there is an error with a text in it.
func refused(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// exactly fails the test unless an error has a text and no other.
func exactly(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	noError(t, err)
	return text
}

// resultsOf returns the results of a plan's directory.
func resultsOf(t testing.TB, p *Plan) *Results {
	t.Helper()
	r := p.NewResults()
	noError(t, r.Update())
	return r
}

const smallStudy = `program: hpl
parameters: {N: 400, P: 2, Q: 2}
machine: dahu
factors:
  NB: [32, 64]
  DEPTH: [0, 1]
`

// planOf plans a study that must be right.
func planOf(t testing.TB, text string) *Plan {
	t.Helper()
	s, err := Parse(strings.NewReader(text), "study.yaml")
	noError(t, err)
	p, err := NewPlan(s, "test")
	noError(t, err)
	return p
}

// TestDesigns: the rows of each design, by labels.
func TestDesigns(t *testing.T) {
	const factors = "factors: {NB: [32, 64], DEPTH: [0, 1], BCAST: [1ring, 2ring]}\n"
	for _, c := range []struct{ name, text, want string }{
		{"full", "factors: {NB: [32, 64], DEPTH: [0, 1]}\n", "32 0; 32 1; 64 0; 64 1"},
		{"one at a time", factors + "design: one at a time\n", "32 0 1ring; 64 0 1ring; 32 1 1ring; 32 0 2ring"},
		// C = AB: with both at their second level, and with both at the first, C is at the second.
		{"fractional", factors + "design: {fractional: 1/2}\n", "32 0 2ring; 32 1 1ring; 64 0 1ring; 64 1 2ring"},
		{"list", "design: {list: [{NB: 32, DEPTH: 1}, {DEPTH: 1, NB: 48}]}\n", "32 1; 48 1"},
		{"list, a level in two spellings", "design: {list: [{NB: 32, BCAST: 1ring}, {NB: +32, BCAST: 0}, {NB: 032, BCAST: 1rM}]}\n", "32 1ring; 32 1ring; 32 1rM"},
		{"named levels", "factors: {grid: {4x1: {P: 4, Q: 1}, 1x4: {P: 1, Q: 4}}}\n", "4x1; 1x4"},
		{"none", "", ""},
	} {
		p := planOf(t, "program: hpl\nparameters: {N: 400, P: 2, Q: 2}\n"+c.text)
		var rows []string
		for _, labels := range p.NewTable(NewResults("")).Labels {
			rows = append(rows, strings.Join(labels, " "))
		}
		if got := strings.Join(rows, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestHypercube: each of the four quarters of a range has one point, in its middle: 1000..1399
// has 400 numbers. Of two levels each is taken twice.
func TestHypercube(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {P: 2, Q: 2}\nfactors: {N: 1000..1399, DEPTH: [0, 1]}\ndesign: {latin hypercube: 4}\n")
	n, depth := map[string]int{}, map[string]int{}
	for _, labels := range p.NewTable(NewResults("")).Labels {
		n[labels[0]]++
		depth[labels[1]]++
	}
	if want := map[string]int{"1050": 1, "1150": 1, "1250": 1, "1350": 1}; !reflect.DeepEqual(n, want) {
		t.Errorf("%v, want %v", n, want)
	}
	if want := map[string]int{"0": 2, "1": 2}; !reflect.DeepEqual(depth, want) {
		t.Errorf("%v, want %v", depth, want)
	}
}

// TestHPLDat: the lists of an HPL.dat are factors, and their combinations those that HPL runs.
func TestHPLDat(t *testing.T) {
	path := filepath.Join("..", "docs", "theta", "HPL.dat")
	text := readFile(t, path)
	dat, err := hpl.ReadDat(strings.NewReader(string(text)), path)
	noError(t, err)
	p := planOf(t, "program: hpl\nhpl-dat: "+path+"\n")
	if len(p.Runs) != dat.Combinations() {
		t.Fatalf("%d runs, want %d", len(p.Runs), dat.Combinations())
	}
	for k := range p.Runs {
		want, err := dat.Combination(k + 1)
		noError(t, err)
		if got := *p.Config(k).Run.HPL; !reflect.DeepEqual(got, want) {
			t.Errorf("run %d: %+v, want %+v", k+1, got, want)
		}
	}
}

// TestIDs: a run has another name if anything differs that it depends on, and the same one
// otherwise.
func TestIDs(t *testing.T) {
	base := planOf(t, smallStudy)
	if again := planOf(t, "seed: 1\n"+smallStudy+"# a comment\n"); !reflect.DeepEqual(again.Runs, base.Runs) {
		t.Error("the same runs have other names")
	}
	machine := func(words string) string { return strings.Replace(smallStudy, "machine: dahu", words, 1) }
	const file = ": ../testdata/docs/cluster.xml"
	if a, b := planOf(t, machine("machine"+file)), planOf(t, machine("platform"+file)); !reflect.DeepEqual(a.Runs, b.Runs) {
		t.Error("the file of a platform as machine is not that platform")
	}
	seed := func(name string) string { return strings.Replace(smallStudy, "Q: 2", "Q: 2, "+name+": 7", 1) }
	if a, b := planOf(t, seed("seed")), planOf(t, seed("pivot-seed")); !reflect.DeepEqual(a.Runs, b.Runs) {
		t.Error("seed among parameters is not that of pivots")
	}
	seen := map[string]string{base.Runs[0].ID: ""}
	for _, more := range []string{
		"network-noise: ../testdata/docs/network-noise.yaml", "network-noise: ../testdata/docs/network-noise.yaml\nseed: 2", "tolerance: 1%", "kernels: dahu-c1", "bandwidth: 2", "latency: 2", "latency: \"*=3\"", "host-speed: dahu-1=0.9", "without: dahu-1", "without: slowest 1", "without: slowest 2", "kernel-noise: dgemm=2%", "kernel-noise: '*=2%'", "responses: [critical-path]", "responses: [pop]",
		"ranks-per-host: 1", "compute-scale: 2", "file-bandwidth: 1GBps", "network: contention-free", "options: {smpi/iprobe: 1e-6}", "parameters: {SWAP: long}", "parameters: {pivot-seed: 2}", "parameters: {pivots: none}", "parameters: {first-steps: 2}", "parameters: {first-steps: 3}", "parameters: {copy-l: yes}",
	} {
		text := smallStudy
		if set, parameter := strings.CutPrefix(more, "parameters: {"); parameter {
			text = strings.Replace(text, "parameters: {", "parameters: {"+strings.TrimSuffix(set, "}")+", ", 1)
		} else {
			text += more + "\n"
		}
		if strings.HasPrefix(more, "kernels") { // a machine has its own
			text = strings.Replace(text, "machine: dahu", "platform: dahu", 1)
		}
		id := planOf(t, text).Runs[0].ID
		if other, known := seen[id]; known {
			t.Errorf("%q and %q have the same name", more, other)
		}
		seen[id] = more
	}
}

// TestSeedsWithoutNoise: what has no noise is one run whatever its seed, and a plan says so; the
// table has a row for each.
func TestSeedsWithoutNoise(t *testing.T) {
	p := studyIn(t, "program: hpl\nparameters: {N: 200, NB: 32, P: 2, Q: 2}\nmachine: dahu\nseed: 1..3\nfactors: {kernel-noise: [dgemm=0%, dgemm=5%]}\n")
	if n := p.Different(); n != 1+3 {
		t.Errorf("%d runs, want 1 without noise and 3 with it", n)
	}
	if want := []string{"nothing is random in 1 configuration of 2: their 3 seeds are one run, made once"}; !reflect.DeepEqual(p.Notes(), want) {
		t.Errorf("%q, want %q", p.Notes(), want)
	}
	if w := work(t, p, WorkOptions{}); w.Made != 4 || !w.Done {
		t.Errorf("%+v", w)
	}
	r := resultsOf(t, p)
	rows := p.NewTable(r).Rows // seeds 1 to 3 of one configuration, then of the other
	if rows[0][0] != rows[2][0] || rows[3][0] == rows[5][0] {
		t.Errorf("makespans %g and %g without noise, %g and %g with it", rows[0][0], rows[2][0], rows[3][0], rows[5][0])
	}
}

// TestWorkingDirectory: a study is the same one, to the byte of its plan, wherever its file is read
// from.
func TestWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	noise := readFile(t, "../testdata/docs/network-noise.yaml")
	cluster := readFile(t, "../testdata/docs/cluster.xml")
	for name, text := range map[string][]byte{
		"noise.yaml": noise, "m/platform.xml": cluster, "m/kernels.yaml": []byte("version: 1\nunit: s\nkernels:\n  \"*\": {terms: {1: 1e-6}}\n"),
		"study.yaml": []byte("program: hpl\nparameters: {N: 100, P: 1, Q: 2}\nnetwork-noise: noise.yaml\nfactors: {machine: [m, ./m/platform.xml, dahu]}\n"),
	} {
		path := filepath.Join(dir, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		noError(t, os.WriteFile(path, text, 0o666))
	}
	plan := func(path string) string {
		s, err := Load(path)
		noError(t, err)
		p, err := NewPlan(s, "test")
		noError(t, err)
		text, err := p.text()
		noError(t, err)
		return string(text)
	}
	far := plan(filepath.Join(dir, "study.yaml"))
	t.Chdir(filepath.Join(dir, "m"))
	if near := plan("../study.yaml"); near != far {
		t.Errorf("%s\nwant %s", near, far)
	}
	if strings.Contains(far, dir) {
		t.Errorf("the plan names a directory: %s", far)
	}
}

// TestErrors: an error has the line, and says what to do.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"parameters: {N: 1}\n", "study.yaml:1: study: program is missing"},
		{"program: hpl2\n", `study.yaml:1: program: "hpl2", want hpl, rochpl, rochpl6, hpl-mxp, hpcg, or the file of a trace`},
		{"parameters: {nx: 16, ranks: 2, N: 5}\nprogram: hpcg\n", "study.yaml:1: no parameter of tracegen hpcg, of the machine or of the replay is called \"N\""},
		{"program: hpcg\nparameters: {nx: 20, ranks: 4}\n", "study.yaml: run 1 (without factors): nx = 20 is not divisible by 8"},
		{"program: hpl\nparamaters: {}\n", "study.yaml:2: study: unknown key \"paramaters\""},
		{"program: hpl\nfactors:\n  BCASTS: [1, 2]\n", "study.yaml:3: factors: no parameter of tracegen hpl, of the machine or of the replay is called \"BCASTS\", did you mean BCAST?"},
		{"program: hpl\nfactors:\n  NB:\n  - 64\n  - many\n", "study.yaml:5: NB: \"many\", want a whole number"},
		{"program: hpl\nparameters: {first-steps: 0}\n", "study.yaml:2: first-steps: \"0\", want a positive number of panels, or all"},
		{"program: hpl\nfactors: {NB: [64, 64]}\n", "study.yaml:2: factors: NB has the level \"64\" twice"},
		{"program: hpl\nfactors:\n  DEPTH:\n  - 0\n  - 1\n  - +1\n", "study.yaml:6: factors: DEPTH has one level twice: as \"1\" and as \"+1\""},
		{"program: hpl\nfactors: {BCAST: [1ring, 2rg, 0]}\n", "study.yaml:2: factors: BCAST has one level twice: as \"1ring\" and as \"0\""},
		{"program: hpl\nfactors: {smpi/iprobe: [1e-6, 0.000001]}\n", "study.yaml:2: factors: smpi/iprobe has one level twice: as \"1e-6\" and as \"0.000001\""},
		{"program: hpl\nfactors: {network: [smpi, SMPI]}\n", "study.yaml:2: factors: network has one level twice"},
		{"program: hpl\nfactors: {network: [smpi, cm02], network/model: [SMPI, CM02]}\n", "study.yaml:2: factors: network and network/model both set network/model: make them one"},
		{"program: hpl\nnetwork: cm02\noptions: {network/model: SMPI}\n", "study.yaml:3: network/model is set twice: by network and by network/model"},
		{"program: hpl\noptions: {smpi/send_is_detached_thresh: 1, smpi/send-is-detached-thresh: 2}\n", "study.yaml:2: smpi/send-is-detached-thresh is set twice: by "},
		{"program: hpl\nfactors: {net: {a: {}, b: {network: cm02, host/model: default}}}\n", "study.yaml:2: host/model is set twice: by network and by host/model"},
		{"program: hpl\nfactors: {NB: []}\n", "study.yaml:2: factors: NB has no levels"},
		{"program: hpl\nfactors: {NB: 64}\n", "study.yaml:2: factors: NB: want a list of levels"},
		{"program: hpl\nfactors: {seed: [1, 2]}\n", "study.yaml:2: factors: seed is a key of its own"},
		{"program: hpl\nmachine: nowhere\n", "study.yaml:2: machine: no machine directory and no built-in machine \"nowhere\""},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nplatform: nowhere.xml\n", "nowhere.xml: file does not exist"},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nkernels: ../testdata/docs/cluster.xml\n", "cluster.xml: this is a SimGrid platform"},
		{"program: hpl\nbandwidth: -1\n", "study.yaml:2: bandwidth: factor -1"},
		{"program: hpl\nwithout: 'node-[3'\n", "study.yaml:2: without: pattern"},
		{"program: hpl\noptions: {smpi/nothing: 1}\n", "study.yaml:2: smpi/nothing: "},
		{"program: hpl\ntolerance: 0.5\n", "study.yaml:2: tolerance: 0.5 would be 50% of the makespan"},
		{"program: hpl\nseed: 5..1\n", "study.yaml:2: seed: \"5..1\", want"},
		{"program: hpl\nseed: [1, 1]\n", "study.yaml:2: seed: 1 is there twice"},
		{"program: hpl\ndesign: factorial\n", "study.yaml:2: design: \"factorial\", want full"},
		{"program: hpl\nfactors: {NB: [1, 2, 3]}\ndesign: {fractional: 1/2}\n", "study.yaml:3: design: fractional is for factors with 2 levels, and NB has 3"},
		{"program: hpl\nfactors: {N: 100..200}\n", "study.yaml:2: factors: N: design full needs levels, not a range"},
		{"program: hpl\ndesign: {fractional: 1/2}\nfactors:\n  NB: [1, 2]\n  N: 100..200\n", "study.yaml:5: factors: N: design fractional needs levels"},
		{"program: hpl\nparameters: {N: 0, P: 0, Q: 0, NB: 0}\n", "study.yaml: run 1 (without factors): N = 0, allowed 1 to 2147483647; NB = 0, allowed 1 to 2147483647; P = 0, "},
		{"program: hpl\nparameters: {N: 100}\n", "study.yaml: run 1 (without factors): P = 0, "},
		{"program: hpl\nfactors: {NB: [1, 2]}\ndesign: {list: [{NB: 1}]}\n", "study.yaml:3: design: a list says itself what is varied"},
		{"program: hpl\ndesign: {list: [{NB: 1}, {DEPTH: 1}]}\n", "study.yaml:2: design: \"DEPTH\", want the factors of the first run"},
		{"program: hpl\ndesign: {list: [{NB: 1, DEPTH: 0}, {NB: 2}]}\n", "study.yaml:2: design: want the factors of the first run of the list: NB, DEPTH; found 1"},
		{"program: hpl\ndesign: {list: [{NB: 1}, {}]}\n", "study.yaml:2: design: want the factors of the first run of the list: NB; found 0"},
		{"program: hpl\nfactors: {N: 5..99999999999999999999}\ndesign: {latin hypercube: 3}\n", "study.yaml:2: factors: N: \"5..99999999999999999999\", want whole numbers of at most 9007199254740992"},
		{"program: hpl\nmachine: dahu\nkernels: default\n", "study.yaml:3: kernels is set twice: by machine and by kernels: leave one out"},
		{"program: hpl\nhpl-dat: ../docs/theta/HPL.dat\nparameters: {DEPTH: 1}\n", "study.yaml:3: DEPTH is set twice: by hpl-dat and by DEPTH"},
		{"program: hpl\nfactors:\n  slow: {none: {}, a: {host-speed: dahu-1=0.9}}\n  slower: {none: {}, b: {host-speed: dahu-2=0.8}}\n", "study.yaml:3: factors: slow and slower both set host-speed: make them one, whose levels have names"},
		{"program: hpl\nfactors: {error: {a: {NB: 1}}}\n", "study.yaml:2: factors: error is a column of the table: call it something else"},
		{"program: hpl\nfactors: {\"a\\nb\": {x: {NB: 1}}}\n", "study.yaml:2: factors: \"a\\nb\": want a name of one line"},
		{"program: hpl\nfactors: {a: {\"\": {NB: 1}}}\n", "study.yaml:2: factors: a, \"\": want a name of one line"},
		{"program: hpl\nfactors: {makespan_s: {a: {NB: 1}}}\n", "study.yaml:2: factors: makespan_s is a column"},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nfactors: {without: [none, nowhere-1]}\n", "study.yaml: run 2 (without nowhere-1): without: default has no host \"nowhere-1\"; its first is \"node-0\""},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nmachine: dahu\nlatency: no level=2\n", "study.yaml: run 1 (without factors): latency: no level of links is called \"no level\"; there are \"loopback\", "},
		{"program: hpl\nresponses: [energy]\n", "study.yaml:2: responses: \"energy\", want critical-path or pop"},
		{"program: hpl\nresponses: [pop]\ntolerance: 1%\n", "study.yaml:2: responses: pop is of exact replays"},
		{"program: hpl\nfactors: {pop_wire: {a: {NB: 1}}}\n", "study.yaml:2: factors: pop_wire is a column"},
		{"program: hpl\nplatform: new --nodes many\n", "study.yaml:2: platform: --nodes: \"many\", want a whole number"},
		{"program: hpl\nplatform: new --nodes 64 --fat-tree 'leaf=16 up\n", "study.yaml:2: platform: \" --nodes 64 --fat-tree 'leaf=16 up\": a quotation mark ' is not closed"},
		{"program: hpl\nplatform: new --nodes 4 --slower node-1=0.9\n", "study.yaml:2: platform: no flag --slower here"},
		{"program: hpl\nplatform: new\n", "study.yaml:2: platform: want --nodes N"},
		{"program: hpl\nplatform: new --nodes 4 --flat --torus 2x2\n", "--flat and --torus exclude each other"},
		{"program: hpl\nkernels: hosts --draw 4\n", "study.yaml:2: kernels: want --from MODEL"},
		{"program: hpl\nkernels: hosts --draw 0 --from dahu-node\n", "study.yaml:2: kernels: 0 hosts, want 1"},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nkernels: hosts --draw 4 --from none.yaml\n", "study.yaml: kernels hosts --draw 4 --from none.yaml: open none.yaml: no such file"},
		{"program: hpl\nkernel-noise: dgemm\n", "study.yaml:2: kernel-noise: \"dgemm\", want PATTERN=PERCENT"},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nkernel-noise: dgem=2%\n", "run 1 (without factors): kernel-noise: the program calls no kernel \"dgem\""},
		{"program: hpl\nwithout: slowest one\n", "study.yaml:2: without: slowest \"one\", want a number of hosts"},
		{"program: hpl\nparameters: {N: 9, P: 1, Q: 1}\nmachine: dahu\nwithout: slowest 32\n", "without: the slowest 32: dahu has 32 hosts"},
		{"program: hpl\nparameters: {N: 9, P: 33, Q: 32}\nmachine: dahu\n", "study.yaml: run 1 (without factors): dahu: more ranks than places: 1056 ranks, and room for 1024"},
		{"program: hpl\nparameters: {N: 100, P: 1, Q: 1}\nfactors: {NB: [1, 0]}\n", "study.yaml: run 2 (NB 0): NB = 0, allowed 1"},
		{"program: hpl\nparameters: {N: 100, NB: 8, P: 1, Q: 1}\nseed: 1..200000\nfactors: {DEPTH: [0, 1]}\n", "study.yaml:1: design: 2 configurations with 200000 seeds are more than 262144 runs"},
	} {
		s, err := Parse(strings.NewReader(c.text), "study.yaml")
		if err == nil {
			_, err = NewPlan(s, "test")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestTwiceInHPLDat: a value that is twice in a list of an HPL.dat is refused, as one in a list
// of the study's.
func TestTwiceInHPLDat(t *testing.T) {
	text := readFile(t, "../docs/theta/HPL.dat")
	lines := strings.Split(string(text), "\n")
	lines[6], lines[7] = "3 # of NBs", "64 128 64 NBs"
	path := filepath.Join(t.TempDir(), "HPL.dat")
	noError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666))
	_, err := Parse(strings.NewReader("program: hpl\nhpl-dat: "+path+"\n"), "study.yaml")
	if want := `study.yaml:2: hpl-dat: ` + path + `: NB has the value 64 twice`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestForeignFiles: files of other formats are called by their names.
func TestForeignFiles(t *testing.T) {
	snifftest.Check(t, "study", func(path string) error { _, err := Load(path); return err }, "kernels", "json")
}

// TestTableFormulas: a spreadsheet must not take a factor, a value or an error for a formula;
// numbers stay what they are.
func TestTableFormulas(t *testing.T) {
	table := Table{Factors: []string{"+factor", "delay"}, Columns: []string{"makespan_s"}, Labels: [][]string{{"=1+1", "-0.5"}}, Seeds: []uint64{1},
		Rows: [][]float64{{-2}}, Known: [][]bool{{true}}, Errors: []string{"-x is no option"}}
	var out strings.Builder
	noError(t, table.WriteCSV(&out))
	const want = "'+factor,delay,seed,makespan_s,error\n'=1+1,-0.5,1,-2,'-x is no option\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestParquetNames: a column is called as its factor, whatever that name means elsewhere, and
// columns keep their order.
func TestParquetNames(t *testing.T) {
	names := []string{"z", "a,list", "-", ",", "a,snappy", "x,optional", "NB, tuned", `"`, "`", `\`, "a.b", "größe ∑", "Z", " "}
	table := &Table{Factors: names, Labels: [][]string{names}, Seeds: []uint64{7}, Columns: []string{"makespan_s", "gflops"}, Rows: [][]float64{{1.5, 0}}, Known: [][]bool{{true, false}}, Errors: []string{"e"}}
	var file bytes.Buffer
	noError(t, table.WriteParquet(&file))
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	noError(t, err)
	rows := make([]parquet.Row, 2)
	if n, _ := f.RowGroups()[0].Rows().ReadRows(rows); n != 1 {
		t.Fatalf("%d rows, want 1", n)
	}
	want := append(names, "seed", "makespan_s", "gflops", "error")
	values := append(names[:len(names):len(names)], "7", "1.5", "<null>", "e")
	fields := f.Schema().Fields()
	if len(fields) != len(want) {
		t.Fatalf("%d columns, want %d", len(fields), len(want))
	}
	for i, field := range fields {
		if got := fmt.Sprint(rows[0][i]); field.Name() != want[i] || got != values[i] {
			t.Errorf("column %d: %q is %q, want %q, %q", i, field.Name(), got, want[i], values[i])
		}
	}
}
