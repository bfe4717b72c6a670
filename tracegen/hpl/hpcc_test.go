package hpl

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReadDatAsHPCC compares with a real HPL what is read of random HPL.dat files, with
// blanks, tabs, signs and junk between and behind the values: with the HPL 2.0 of the HPC
// Challenge benchmark (Debian's hpcc), which echoes its parameters before it runs anything.
// ReadDat must read the same, and so must datAsHPL.
// make crosscheck sets REPRISE_HPCC to the number of files.
func TestReadDatAsHPCC(t *testing.T) {
	files, _ := strconv.Atoi(os.Getenv("REPRISE_HPCC"))
	if files == 0 {
		t.Skip("REPRISE_HPCC is not set to a number of files")
	}
	for seed, read := uint64(1), 0; read < files; seed++ {
		text := (&datDice{rand.New(rand.NewPCG(seed, 2019)), seed%3 == 0}).file()
		want, ok := datAsHPL(text)
		if !ok || largest(want) > 6 {
			continue // an error for HPL, or too many processes
		}
		echo := echoOf(t, text, largest(want))
		if diff := cmp.Diff(want.echo(), echo); diff != "" {
			t.Errorf("seed %d: HPL's parser as understood here (-) and HPL (+):\n%s\n%q", seed, diff, text)
		}
		read++
		dat, err := ReadDat(strings.NewReader(text), "HPL.dat")
		if slices.Contains(want.values["N"], 0) {
			continue // refused
		}
		if err != nil {
			t.Errorf("seed %d: %v\n%q", seed, err, text)
			continue
		}
		if diff := cmp.Diff(dat.echo(), echo); diff != "" {
			t.Errorf("seed %d: ReadDat (-) and HPL (+):\n%s\n%q", seed, diff, text)
		}
	}
}

// TestReadDatAtRandom does that with datAsHPL alone, on files that are mutilated, too: cut, with characters and lines
// more or less.
func TestReadDatAtRandom(t *testing.T) {
	accepted := 0
	for seed := range uint64(2000) {
		d := &datDice{rand.New(rand.NewPCG(seed, 77)), seed%3 == 0}
		text := d.file()
		for range d.IntN(4) {
			at := d.IntN(len(text))
			switch d.IntN(4) {
			case 0:
				text = text[:max(at, len(text)-100)]
			case 1:
				text = text[:at] + string(" -+x7,\n\r\x00\tNs012"[d.IntN(15)]) + text[at:]
			case 2:
				text = text[:at] + text[min(len(text), at+1+d.IntN(6)):] + " "
			case 3:
				line := strings.IndexByte(text[at:], '\n') + 1
				text = text[:at] + text[at+line:]
			}
		}
		want, ok := datAsHPL(text)
		if ok {
			ok = !slices.Contains(want.values["N"], 0)
			for _, depth := range want.values["DEPTH"] {
				ok = ok && depth <= maxDepth
			}
			ok = ok && largest(want) <= 1<<20
		}
		dat, err := ReadDat(strings.NewReader(text), "HPL.dat")
		if ok != (err == nil) {
			t.Errorf("seed %d: %v, want one: %t\n%q", seed, err, !ok, text)
		}
		if err != nil || !ok {
			continue
		}
		accepted++
		if diff := cmp.Diff(want.values, dat.values); diff != "" {
			t.Errorf("seed %d (-HPL +ReadDat):\n%s\n%q", seed, diff, text)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d files are good", accepted)
	}
}

// datDice draws HPL.dat files, tidy or not.
type datDice struct {
	*rand.Rand
	tidy bool
}

// file returns a file of up to four values of each parameter.
func (d *datDice) file() string {
	var b strings.Builder
	b.WriteString("title\n" + strings.Repeat("author ", d.IntN(30)) + "\nHPL.out file\n8 device\n")
	list := func(n int, choices string) {
		words := strings.Fields(choices)
		chosen := make([]string, n)
		for i := range chosen {
			chosen[i] = words[d.IntN(len(words))]
		}
		b.WriteString(d.line(chosen) + "\n")
	}
	counted := func(choices string) {
		n := 1 + d.IntN(4)
		list(1, strconv.Itoa(n))
		list(n, choices)
	}
	counted("1000 29 30 34 35 4 12345 007 +40")
	counted("64 1 2 128 80")
	list(1, "0 1")
	n := 1 + d.IntN(4)
	list(1, strconv.Itoa(n))
	list(n, "1 2 3")
	list(n, "1 2")
	list(1, "16.0 16 16.0d0 16,0 16.0# -16.0 1e1 .5")
	counted("0 1 2")
	counted("1 2 4 16")
	counted("2 3 22 4")
	counted("0 1 2")
	counted("0 1 2 3 4 5")
	counted("0 1 10")
	for _, choices := range []string{"0 1 2", "64 0 60", "0 1", "0 1", "0 1", "8 4 16"} {
		list(1, choices)
	}
	return b.String()
}

// line writes values with what people write around them.
func (d *datDice) line(words []string) string {
	var b strings.Builder
	odd := !d.tidy && d.IntN(5) == 0
	if odd {
		b.WriteString(strings.Repeat(" ", d.IntN(4)))
	}
	for i, w := range words {
		if odd && d.IntN(12) == 0 {
			w += []string{",", ".", "x", "#", ";"}[d.IntN(5)]
		}
		if i > 0 {
			b.WriteString([]string{" ", " ", "\t"}[d.IntN(3)])
			if odd {
				b.WriteString(strings.Repeat([]string{" ", "\t"}[d.IntN(2)], d.IntN(4)))
			}
		}
		b.WriteString(w)
	}
	b.WriteString([]string{" ", "    ", "\t# ", "   7 "}[d.IntN(4)] + strings.Repeat("comment ", d.IntN(3)))
	if odd && d.IntN(6) == 0 {
		b.WriteString(strings.Repeat(" 3", 60+d.IntN(80))) // longer than HPL's lines
	}
	b.WriteString([]string{"", "", "", "\r"}[d.IntN(4)])
	return b.String()
}

// hplFile reads all of a file as HPL does: by lines of at most hplLineLength characters.
type hplFile struct {
	text string
	hplLine
	failed bool
	over   bool // a line is missing
}

// next has the buffer hold the next line, or the one before at the end of the file.
func (f *hplFile) next() string {
	end := strings.IndexByte(f.text, '\n') + 1
	if end == 0 {
		end = len(f.text)
	}
	end = min(end, hplLineLength)
	line := f.text[:end]
	f.text = f.text[end:]
	return line
}

func (f *hplFile) load() {
	if line := f.next(); line != "" {
		f.set(line)
	} else {
		f.over = true
	}
}

func (f *hplFile) list(n, least int) []int {
	f.load()
	read := f.values(n)
	f.failed = f.failed || len(read) < n
	for _, v := range read {
		f.failed = f.failed || v < least
	}
	if f.failed {
		return make([]int, n)
	}
	return read
}

func (f *hplFile) one(least int) int { return f.list(1, least)[0] }

func (f *hplFile) counted(least int) []int {
	n := f.one(1)
	if f.failed = f.failed || n > maxDatValues; f.failed {
		return nil
	}
	return f.list(n, least)
}

// known takes a default for what is not in [0, n).
func known(list []int, n, otherwise int) []int {
	var all []int
	for _, v := range list {
		if v < 0 || v >= n {
			v = otherwise
		}
		all = append(all, v)
	}
	return all
}

const anyInt = -1 << 31

// datAsHPL returns what HPL runs of a file; ok is false if it refuses it or reads what was
// never written.
func datAsHPL(text string) (dat *Dat, ok bool) {
	f := &hplFile{text: text}
	f.load()
	f.next() // the author's
	f.load()
	f.one(anyInt) // the device
	d := &Dat{values: map[string][]int{"N": f.counted(0), "NB": f.counted(1), "PMAP": {0}}}
	if f.one(anyInt) == 1 {
		d.values["PMAP"][0] = 1
	}
	grids := f.one(1)
	if f.failed || grids > maxDatValues {
		return nil, false
	}
	d.values["P"], d.values["Q"] = f.list(grids, 1), f.list(grids, 1)
	f.load() // the threshold
	f.values(1)
	d.values["PFACT"] = known(f.counted(anyInt), 3, int(Right))
	d.values["NBMIN"], d.values["NDIV"] = f.counted(1), f.counted(2)
	d.values["RFACT"] = known(f.counted(anyInt), 3, int(Right))
	d.values["BCAST"] = known(f.counted(anyInt), 6, int(OneRingM))
	d.values["DEPTH"] = f.counted(0)
	f.failed = f.failed || f.over // as ReadDat has it
	d.values["SWAP"] = known([]int{f.one(anyInt)}, 3, int(SpreadRoll))
	d.values["swap-threshold"] = []int{max(0, f.one(anyInt))}
	d.values["L1"] = known([]int{f.one(anyInt)}, 2, int(Transposed))
	d.values["U"] = known([]int{f.one(anyInt)}, 2, int(Transposed))
	d.values["EQUIL"] = known([]int{f.one(anyInt)}, 2, 1) // any but 0
	align := f.one(anyInt)
	if align <= 0 {
		align = 4
	}
	d.values["ALIGN"] = []int{align}
	return d, !f.failed
}

// largest returns the number of processes of the largest grid.
func largest(d *Dat) int {
	n := 0
	for i, p := range d.values["P"] {
		n = max(n, p*d.values["Q"][i])
	}
	return n
}

// echo returns the lines that HPL prints of its parameters, by their names.
func (d *Dat) echo() map[string]string {
	echo := map[string]string{}
	for _, name := range []string{"N", "NB", "P", "Q", "NBMIN", "NDIV", "DEPTH"} {
		echo[name] = joined(d.values[name])
	}
	for name, words := range map[string][]string{
		"PMAP":  {"Row-major process mapping", "Column-major process mapping"},
		"PFACT": {"Left", "Crout", "Right"}, "RFACT": {"Left", "Crout", "Right"},
		"BCAST": {"1ring", "1ringM", "2ring", "2ringM", "Blong", "BlongM"},
		"SWAP":  {"Binary-exchange", "Spread-roll (long)", fmt.Sprintf("Mix (threshold = %d)", d.values["swap-threshold"][0])},
		"L1":    {"transposed form", "no-transposed form"},
		"U":     {"transposed form", "no-transposed form"},
		"EQUIL": {"no", "yes"},
	} {
		var list []string
		for _, v := range d.values[name] {
			list = append(list, words[v])
		}
		echo[name] = strings.Join(list, " ")
	}
	echo["ALIGN"] = fmt.Sprintf("%d double precision words", d.values["ALIGN"][0])
	return echo
}

// echoOf runs hpcc until it has echoed its parameters.
func echoOf(t *testing.T, text string, ranks int) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", strconv.Itoa(ranks), "hpcc")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGTERM) // mpirun ends its ranks
		<-ended
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		out, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if echo := parseEcho(string(out)); echo != nil {
			return echo
		}
	}
	t.Fatalf("no echo within a minute of %q: %s", text, said.String())
	return nil
}

// parseEcho returns what is echoed by its names, nil if that is not all there yet.
func parseEcho(out string) map[string]string {
	_, out, begun := strings.Cut(out, "The following parameter values will be used:")
	end := regexp.MustCompile(`(?m)^ALIGN .*$\n`).FindStringIndex(out)
	if !begun || end == nil {
		return nil
	}
	out = out[:end[1]]
	echo, name := map[string]string{}, ""
	for line := range strings.Lines(out) {
		if left, right, found := strings.Cut(line, ":"); found {
			name, line = strings.TrimSpace(left), right
		}
		if words := strings.Fields(line); len(words) > 0 {
			echo[name] = strings.TrimSpace(echo[name] + " " + strings.Join(words, " "))
		}
	}
	return echo
}
