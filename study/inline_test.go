package study

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/replay"
)

// TestDescribed: a platform that a study describes is, to the byte, what the command writes, and a
// directory has it as a file.
func TestDescribed(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\nplatform: new --nodes 8 --nic 50Gbps --fat-tree='leaf=4 up=2'\nkernels: hosts --draw 8 --from dahu-node --base default\n")
	spec := compose.DefaultSpec(8)
	spec.NIC.Bandwidth = 6.25e9
	tree, err := compose.ParseFatTree("leaf=4 up=2", spec.NIC)
	noError(t, err)
	spec.Topology = tree
	var want bytes.Buffer
	noError(t, spec.Write(&want))
	if _, err := p.Create(filepath.Join(t.TempDir(), "study")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(p.path(&p.Inputs[0])); err != nil || string(got) != want.String() {
		t.Errorf("%s, %v, want %s", got, err, want.String())
	}
	if out, err := p.NewEvaluator().Evaluate(context.Background(), p.Config(0), RunOptions{Seed: 1}); err != nil || !out.Random {
		t.Errorf("%+v, %v, want times with the noise of dahu-node", out, err)
	}
	quiet := planOf(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\nkernel-noise: dgemm=0%\nkernels: hosts --draw 8 --from dahu-node --base default\n")
	if out, err := quiet.NewEvaluator().Evaluate(context.Background(), quiet.Config(0), RunOptions{Seed: 1}); err != nil || out.Random {
		t.Errorf("%+v, %v, want times without noise", out, err)
	}
}

// TestPipe: what may wait for ever is not read.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	noError(t, syscall.Mkfifo(pipe, 0o666))
	for _, word := range []string{"platform", "kernels", "network-noise", "hostfile"} {
		s, err := Parse(strings.NewReader("program: hpl\nparameters: {N: 100, P: 1, Q: 2}\n"+word+": "+pipe+"\n"), "study.yaml")
		noError(t, err)
		if _, err := NewPlan(s, "test"); err == nil || err.Error() != "study.yaml: "+pipe+": want a regular file, this is a pipe" {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := Parse(strings.NewReader("program: hpl\nhpl-dat: "+pipe+"\n"), "study.yaml"); err == nil || err.Error() != "study.yaml:2: hpl-dat: "+pipe+": want a regular file, this is a pipe" {
		t.Errorf("hpl-dat: %v", err)
	}
}

// TestSlowest: hosts are slow by their models and by host-speed.
func TestSlowest(t *testing.T) {
	set, err := kernels.Parse(bytes.NewReader([]byte("version: 1\nunit: s\nkernels: {dgemm: {terms: {M*N*K: 1e-11}}}\nhosts:\n- {host: node-2, kernels: {dgemm: {terms: {M*N*K: 1.1e-11}}}}\n- {host: node-5, kernels: {dgemm: {terms: {M*N*K: 2e-11}}}}\n")), "k.yaml")
	noError(t, err)
	var text bytes.Buffer
	noError(t, compose.DefaultSpec(8).Write(&text))
	p, err := platforms.Parse(&text, "p.xml")
	noError(t, err)
	spec := replay.MachineSpec{Platform: "p.xml", Kernels: "k.yaml", Slowest: 4, RanksPerHost: 1, Loaded: replay.Parts{Platform: p, Kernels: set}}
	if err := replay.FindParameter("host-speed").Set(&spec, "node-[0-7]=1 node-5=1.9 node-7=0.5"); err != nil { // node-5 takes 2e-11/1.9, less than node-2
		t.Fatal(err)
	}
	outline, err := planOf(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\n").Config(0).Run.Outline()
	noError(t, err)
	m, _, _, err := replay.LoadMachine(spec, outline) // without node-7, node-2, node-5 and node-0
	if want := []int32{1, 3, 4, 6}; err != nil || !slices.Equal(m.Hosts, want) {
		t.Errorf("hosts %d, %v, want %d", m.Hosts, err, want)
	}
}
