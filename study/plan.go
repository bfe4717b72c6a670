package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/study/workqueue"
	"reprise/tracegen/programs"
)

// This file lists the runs of a study: NewPlan makes a plan, Create and Open keep it in the study's directory.

// PlanFormat is the version of plan.json. It changes where a reader of an older one would misread
// it, or where the same run would have another result, or the same results another table.
const PlanFormat = 2

// PlanFile is the name of the plan in a study's directory.
const PlanFile = "plan.json"

// planLimits are those of the JSON of a plan: objects are runs, levels and settings, values the runs' levels.
var planLimits = textutil.JSONLimits{Objects: 1 << 21, Values: 1 << 24, String: 1 << 20}

// Plan is the runs of a study with all that workers need to know.
type Plan struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"` // of Reprise
	Study     string    `json:"study"`   // name of its file
	Program   string    `json:"program"`
	Design    string    `json:"design"`
	Tolerance float64   `json:"tolerance"` // 0: exact
	Responses Responses `json:"responses"`
	Fixed     []Setting `json:"fixed"`
	Factors   []Factor  `json:"factors"`
	Inputs    []Input   `json:"inputs"`
	Runs      []Run     `json:"runs"`                // in the order of the design
	Checksums bool      `json:"checksums,omitempty"` // lines of journals have them; a version before wrote none

	parameters
	dir     string // "": it is not written yet
	from    string // the directory of the study's file, when it is planned
	configs []*Config
	inputAt map[[2]string]int // numbers of Inputs, by word and name
}

// Run is a run of a study: a row of its table.
type Run struct {
	ID     string `json:"id"`     // hash of all that it depends on; two rows may be the same run
	Levels []int  `json:"levels"` // of the factors
	Seed   uint64 `json:"seed"`
	Noise  bool   `json:"noise"` // there is some: with another seed it is another run
}

// NewPlan plans the runs of a study for a version of Reprise, and reads the files that they depend on.
//
// The plan is complete: workers need neither the study's file nor the files that it names. All that
// can be known to be wrong before a run is made is an error here, with the row of the design, since
// an error of 10,000 runs on a cluster is found late and costs much.
func NewPlan(s *Study, version string) (*Plan, error) {
	// Configurations first: an error in a row of the design has its row and its levels.
	configs := make([]*Config, len(s.Rows))
	for i := range s.Rows {
		var err error
		if configs[i], err = s.Config(i); err != nil {
			return nil, err
		}
	}
	p := &Plan{Format: PlanFormat, Version: version, Study: filepath.Base(s.File), Program: s.Program, Design: s.Design,
		Tolerance: s.Tolerance, Responses: s.Responses, Fixed: s.Fixed, Factors: s.Factors, Checksums: true,
		parameters: s.parameters, from: filepath.Dir(s.File)}

	// The inputs of all configurations, each once, in the order in which they come.
	if s.trace != nil {
		p.Inputs = append(p.Inputs, *s.trace)
	}
	read := map[[2]string]bool{}
	for _, c := range configs {
		for _, in := range inputsOf(&c.Machine) {
			if key := [2]string{in.Word, in.Name}; !read[key] {
				read[key] = true
				if err := in.read(s); err != nil {
					return nil, fmt.Errorf("%s: %w", s.File, err)
				}
				p.Inputs = append(p.Inputs, in)
			}
		}
	}
	p.index()

	// Machines: hosts, levels of links and kernels that configurations name must exist, and there must be places for
	// all ranks, as an error of the plan is better than one of each run. Thousands of configurations mostly share a few
	// machines, each of which is checked once. Machines without noise give the same result with every seed: these rows
	// share one run. An outline stands in place of the trace, which only a worker makes.
	e, known := p.NewEvaluator(), map[string]bool{} // known machines, and whether they have noise
	noisy := make([]bool, len(configs))
	for i, c := range configs {
		outline, err := c.Run.Outline()
		if err != nil {
			return nil, s.errorOf(i, err)
		}
		spec, h := c.Machine, outline.Header()
		key := fmt.Sprintf("%q %q %q %q %d %v", spec.Platform, spec.Kernels, spec.NetworkNoise, spec.Hostfile, h.Ranks,
			spec.Values())
		has, checked := known[key]
		if !checked {
			var m replay.Machine
			var o replay.Options
			if m, o, _, err = e.load(spec, outline); err == nil {
				has, err = replay.HasNoise(h, m, o)
			}
			known[key] = has
		}
		if file, ok := outline.(io.Closer); ok { // now: a study of 10,000 runs would keep as many traces open
			file.Close()
		}
		if err != nil {
			return nil, s.errorOf(i, err)
		}
		noisy[i] = has
	}

	// Rows come in the order of the design, of each configuration one for every seed.
	for i, row := range s.Rows {
		for _, seed := range s.Seeds {
			run := Run{Levels: row, Seed: seed, Noise: noisy[i]}
			run.ID = p.id(configs[i], &run)
			p.Runs = append(p.Runs, run)
			p.configs = append(p.configs, configs[i])
		}
	}
	return p, nil
}

// Dir is the study's directory.
func (p *Plan) Dir() string { return p.dir }

// Config returns the configuration of a run, by its number.
func (p *Plan) Config(run int) *Config { return p.configs[run] }

// Describe names a row of the plan, as "run 3 (NB 64, DEPTH 0, seed 1)".
func (p *Plan) Describe(row int) string {
	return fmt.Sprintf("run %d (%s, seed %d)", row+1, p.Levels(row), p.Runs[row].Seed)
}

// Levels names the levels of a row of the plan, as "NB 64, DEPTH 0".
func (p *Plan) Levels(row int) string { return describe(p.Factors, p.Runs[row].Levels) }

// Different returns the number of runs, of which several rows may have the same.
func (p *Plan) Different() int { return len(p.once()) }

// once returns, in the order of the plan, the first row of each run: rows that a design has twice,
// and the seeds of a machine without noise, are one run, which is made and counted once.
func (p *Plan) once() []int {
	var rows []int
	seen := map[string]bool{}
	for i, run := range p.Runs {
		if !seen[run.ID] {
			seen[run.ID] = true
			rows = append(rows, i)
		}
	}
	return rows
}

// Notes returns notes for users who may not expect the number of runs.
func (p *Plan) Notes() []string {
	seeds, quiet := map[uint64]bool{}, 0
	for _, run := range p.Runs {
		seeds[run.Seed] = true
		if !run.Noise {
			quiet++
		}
	}
	if len(seeds) < 2 || quiet == 0 {
		return nil
	}
	return []string{fmt.Sprintf("nothing is random in %s of %d: their %d seeds are one run, made once",
		textutil.Count(quiet/len(seeds), "configuration"), len(p.Runs)/len(seeds), len(seeds))}
}

// id names a run by the hash of all that its result depends on. The lines, and their order, are
// part of the format: journals and directories of study tune are found by them.
func (p *Plan) id(c *Config, run *Run) string {
	var b strings.Builder
	// Every line is a name and a quoted value.
	line := func(name, value string) { fmt.Fprintf(&b, "%s %s\n", name, strconv.Quote(value)) }
	// Values are quoted, so that none can look like the next line.
	line("format", strconv.Itoa(PlanFormat))
	line("version", p.Version)
	line("program", p.Program)
	for _, par := range c.Run.Identity() {
		line(par.Name, par.Value)
	}
	if in := p.input("trace", p.Program); in != nil {
		line("trace", in.SHA256)
	}
	for _, in := range inputsOf(&c.Machine) {
		found := p.input(in.Word, in.Name)
		line(in.Word, found.SHA256)
		if found.File == "" {
			line("built in", found.Name)
		}
	}
	for _, v := range c.Machine.Values() {
		line(v.Name, v.Value)
	}
	line("tolerance", strconv.FormatFloat(p.Tolerance, 'g', -1, 64))
	if p.Responses.CriticalPath {
		line("response", responsePath)
	}
	if p.Responses.POP {
		line("response", responsePOP)
	}
	if run.Noise {
		line("seed", strconv.FormatUint(run.Seed, 10))
	}
	return sumOf([]byte(b.String()))[:20]
}

// index numbers the inputs, for input.
func (p *Plan) index() {
	p.inputAt = map[[2]string]int{}
	for i := range p.Inputs {
		p.inputAt[[2]string{p.Inputs[i].Word, p.Inputs[i].Name}] = i
	}
}

// input returns the input of a name, nil if there is none.
func (p *Plan) input(word, name string) *Input {
	if i, known := p.inputAt[[2]string{word, name}]; known {
		return &p.Inputs[i]
	}
	return nil
}

// text returns the content of plan.json.
func (p *Plan) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(p)
	return b.Bytes(), err
}

// Create writes a plan, and copies of its inputs, to a directory, or finds it there: then found is true. Another plan
// there is an error, and so are journals without a plan. Several processes may create the same plan at the same time.
func (p *Plan) Create(dir string) (found bool, err error) {
	defer textutil.Stopped(&err)
	// A new directory must not hide something built in that the study uses: directories are found first.
	if _, err := os.Stat(dir); err != nil {
		path := textutil.Must(filepath.Abs(dir))
		for _, in := range p.Inputs {
			for _, of := range []string{in.Name, filepath.Join(p.from, in.Name)} {
				if hidden, err := filepath.Abs(of); err == nil && in.File == "" && hidden == path {
					return false, fmt.Errorf("a directory %s would be found in place of the built-in %s, which the study uses:"+
						" give the study's directory another name", dir, in.Name)
				}
			}
		}
	}
	textutil.Check(atomicfile.MakeDir(dir))
	p.dir = dir
	// The text of a plan is the same on all hosts: workers that plan the same study compare bytes.
	text := textutil.Must(p.text())

	path := filepath.Join(dir, PlanFile)
	_, noJournals := os.Stat(filepath.Join(dir, journalsDir)) // before the plan, which another process may be creating
	old, err := regular.Read(path, maxPlan)
	if errors.Is(err, fs.ErrNotExist) {
		if noJournals == nil {
			return false, fmt.Errorf("%s has %s and no %s, as that of study tune: give the study a directory of its own with -o",
				dir, journalsDir, PlanFile)
		}
		// Inputs before the plan: whoever sees the plan finds them. Names by content make it harmless if two
		// processes store the same input.
		for i := range p.Inputs {
			textutil.Check(p.Inputs[i].store(dir))
		}
		if err = atomicfile.Create(path, text); !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		old, err = regular.Read(path, maxPlan)
	}
	if err != nil || bytes.Equal(old, text) {
		return true, err
	}

	// The plans differ: the error has the first difference that tells the user what to do.
	var other Plan
	if err := other.decode(old); err != nil {
		return true, fmt.Errorf("%s: %w", path, err)
	}
	// Values are compared as their JSON, which is what the two plans have in common.
	differ := func(a, b any) bool {
		x, err1 := json.Marshal(a)
		y, err2 := json.Marshal(b)
		return err1 != nil || err2 != nil || !bytes.Equal(x, y)
	}
	difference := ""
	switch {
	case other.Format != p.Format:
		difference = fmt.Sprintf("its plan has format %d, this program's is %d", other.Format, p.Format)
	case other.Version != p.Version:
		difference = fmt.Sprintf("it was planned by Reprise %s, this is %s, and results may differ", other.Version, p.Version)
	case other.Study != p.Study:
		difference = "it is of " + other.Study
	case differ(other.Inputs, p.Inputs):
		difference = "the platform, the kernel models or other files have changed since"
	case differ(other.Factors, p.Factors):
		difference = "its factors are others"
	case differ(other.Fixed, p.Fixed):
		difference = "its fixed parameters are others"
	case other.Design != p.Design || other.Tolerance != p.Tolerance || other.Responses != p.Responses:
		difference = "its design, its tolerance or its responses are others"
	default:
		difference = fmt.Sprintf("it has %s, this one %d", textutil.Count(len(other.Runs), "run"), len(p.Runs))
	}
	return true, fmt.Errorf("%s holds another study: %s; give it a directory of its own with -o", dir, difference)
}

// Open reads the plan of a study's directory, for a version of Reprise, "" for reading results only.
func Open(dir, version string) (*Plan, error) {
	path := filepath.Join(dir, PlanFile)
	text, err := regular.Read(path, maxPlan)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no study's directory: it has no %s (study run FILE.yaml -o DIR makes one)", dir,
			PlanFile)
	}
	if err != nil {
		return nil, err
	}
	p := &Plan{dir: dir}
	if err := p.decode(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case p.Format != PlanFormat:
		return nil, fmt.Errorf("%s: format %d, this program reads %d", path, p.Format, PlanFormat)
	case version != "" && p.Version != version:
		return nil, fmt.Errorf("%s was planned by Reprise %s, and this is %s: results of both would be mixed (study run"+
			" FILE.yaml -o OTHER begins anew)", dir, p.Version, version)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// decode reads the content of plan.json, whose inputs may be no files elsewhere.
func (p *Plan) decode(text []byte) error {
	if err := planLimits.Check(text); err != nil {
		return fmt.Errorf("no plan is so large: %w", err)
	}
	if err := json.Unmarshal(text, p); err != nil {
		return err
	}
	for _, in := range p.Inputs {
		if in.File != "" && !inputName.MatchString(filepath.ToSlash(in.File)) {
			return fmt.Errorf("input %s, want a file in %s", textutil.Quote(in.File), inputsDir)
		}
	}
	return nil
}

// check checks a plan that was read, and makes the configurations. Names of runs show changes of
// anything they depend on.
func (p *Plan) check() error {
	if len(p.Runs) > MaxRuns {
		return fmt.Errorf("%d runs, at most %d", len(p.Runs), MaxRuns)
	}
	p.index()
	if in := p.input("trace", p.Program); in != nil {
		text, err := p.textOf(in)
		if err == nil {
			p.program, err = programs.File(p.Program, text)
		}
		if err != nil {
			return err
		}
	} else if p.program = programs.Find(p.Program); p.program == nil {
		return fmt.Errorf("no program %s", textutil.Quote(p.Program))
	}
	// Configurations are made once for all seeds, and for rows that a design has twice.
	known := map[string]*Config{}
	for i, r := range p.Runs {
		if len(r.Levels) != len(p.Factors) {
			return fmt.Errorf("run %d: %d levels of %d factors", i+1, len(r.Levels), len(p.Factors))
		}
		for f, level := range r.Levels {
			if level < 0 || level >= len(p.Factors[f].Levels) {
				return fmt.Errorf("run %d: %s has no level %d", i+1, p.Factors[f].Name, level)
			}
		}
		// Rows of other seeds, and rows that a design has twice, have equal levels.
		key := fmt.Sprint(r.Levels)
		if known[key] == nil {
			c, err := p.config(settings(p.Fixed, p.Factors, r.Levels))
			if err != nil {
				return fmt.Errorf("run %d: %w", i+1, err)
			}
			for _, in := range inputsOf(&c.Machine) {
				if p.input(in.Word, in.Name) == nil {
					return fmt.Errorf("run %d: no input %s %s", i+1, in.Word, in.Name)
				}
			}
			known[key] = c
		}
		p.configs = append(p.configs, known[key])
		if id := p.id(known[key], &r); id != r.ID {
			return fmt.Errorf("run %d is called %s, and what it depends on %s: the plan was changed by hand", i+1, r.ID, id)
		}
	}
	return nil
}

// own are the names of all files and directories of a study's directory.
var own = []string{PlanFile, CSVFile, ParquetFile, inputsDir, journalsDir, checkpointsDir, workqueue.WorkersDir,
	workqueue.LeasesDir}

// CheckOutput returns an error if an output file would be one of the study's own files, or among them.
func (p *Plan) CheckOutput(path string) error {
	// By the place after links, as a link may lead into the study's directory.
	at := atomicfile.Place(path)
	for _, name := range own {
		mine := atomicfile.Place(filepath.Join(p.dir, name))
		if at == mine || strings.HasPrefix(at, mine+string(filepath.Separator)) {
			return fmt.Errorf("%s would be among the study's own files: name another one", path)
		}
	}
	return nil
}
