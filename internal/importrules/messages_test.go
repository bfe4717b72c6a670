package importrules

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/calibrate"
	"reprise/calibrate/hosts"
	"reprise/calibrate/table"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/smpi"
	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen/hpl"
	"reprise/tracegen/simgrid"
)

// reader reads a file and returns its error.
type reader struct {
	name string
	text string // a file that it reads
	read func(io.Reader) error
}

// file reads one of the files of the documentation.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "docs", name))
	must(t, err)
	return string(text)
}

// readers are those of files that users write.
func readers(t *testing.T) []reader {
	const zones = `<platform version="4.1"><config><prop id="network/model" value="SMPI"/><prop id="smpi/os" value="0:1e-6:0;"/></config>
<zone id="z" routing="Full"><host id="a" speed="1Gf,2Gf" core="2" pstate="1"><prop id="x" value="y"/></host><host id="b" speed="1f"/><router id="r"/>
<link id="l" bandwidth="1GBps" latency="1us" sharing_policy="SHARED"/><link id="m" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/>
<route src="a" dst="b" symmetrical="YES"><link_ctn id="l"/><link_ctn id="m" direction="UP"/></route></zone></platform>`
	const trees = `<platform version="4.1"><zone id="w" routing="Full"><cluster id="f" prefix="f-" suffix="s" radical="0-3,5" speed="1Gf" bw="1GBps" lat="1us" topology="FLAT"/>
<cluster id="c" prefix="c-" suffix="" radical="0-15" speed="1Gf" bw="1GBps" lat="1us" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2" loopback_bw="1GBps" loopback_lat="0"/></zone></platform>`
	model, err := os.ReadFile("../../calibrate/hosts/builtin/dahu-node.yaml")
	must(t, err)
	machine, err := platforms.Builtin("dahu", 4)
	must(t, err)
	platform := func(r io.Reader) error {
		p, err := platforms.Parse(r, "f")
		if err != nil {
			return err
		}
		o := smpi.DefaultOptions()
		if err := o.ApplyConfig(p); err != nil {
			return err
		}
		_, err = netmodel.NewProtocol(p, o.Options)
		return err
	}
	set := func(r io.Reader) error {
		s, err := kernels.Parse(r, "f")
		if err == nil {
			_, err = s.Bind(kernels.Host{Name: "h", Speed: 1}, kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}})
		}
		return err
	}
	return []reader{
		{"platform", file(t, "cluster.xml"), platform}, {"fat tree", file(t, "fattree.xml"), platform}, {"zones", zones, platform}, {"clusters", trees, platform},
		{"kernels", file(t, "noisy.yaml"), set}, {"kernels of a node", file(t, "node.yaml"), set},
		{"network noise", file(t, "network-noise.yaml"), func(r io.Reader) error { _, err := netmodel.ParseNoise(r, "f"); return err }},
		{"machine model", string(model), func(r io.Reader) error { _, err := hosts.Parse(r, "f"); return err }},
		{"hostfile", machine.Host(0).Name + ":2\n" + machine.Host(1).Name + "\n", func(r io.Reader) error { _, err := replay.ParseHostfile(r, "f", machine, 3); return err }},
		{"HPL.dat", file(t, "HPL.dat"), func(r io.Reader) error { _, err := hpl.ReadDat(r, "f"); return err }},
		{"pivots", "0\n1\n2\n", func(r io.Reader) error { _, err := hpl.ReadPivots(r, "f", 3); return err }},
		{"outcomes", "iprobe 1 2 row\nmiss 1 2 row x3\n", func(r io.Reader) error { _, err := text.ReadRecorded(r, "f"); return err }},
		{"timings", "function,m,n,k,seconds,date\ndgemm,1,2,3,1e-6,2024-05-01\n", func(r io.Reader) error {
			tab, err := table.NewReader(r, "f")
			if err == nil {
				err = calibrate.NewTimings().Read(tab, calibrate.ReadOptions{Days: true})
			}
			return err
		}},
		{"messages", "operation,bytes,seconds\nsend,8,1e-6\npingpong,8,1e-6\n", func(r io.Reader) error {
			tab, err := table.NewReader(r, "f")
			if err == nil {
				err = calibrate.NewMessages().Read(tab, calibrate.MessageOptions{})
			}
			return err
		}},
		{"actions", "0 init\n0 compute 1e6\n0 send 0 0 100 1\n0 bcast 100 0 0\n0 wait 0 0 0\n0 finalize\n", func(r io.Reader) error { return actions(t, r) }},
	}
}

// actions reads a SimGrid text of one rank.
func actions(t *testing.T, r io.Reader) error {
	dir := t.TempDir()
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"index": []byte("a.ti\n"), "a.ti": text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	tr, err := simgrid.Open(filepath.Join(dir, "index"), dir)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := trace.NewWriter(&out, tr.Header(), trace.WriterOptions{})
	if err == nil {
		err = tr.Convert(w, nil)
	}
	return err
}

// word matches the parts of a file that are replaced: names and numbers.
var word = regexp.MustCompile(`[^\s<>="',:;{}\[\]#]+`)

// mostSaid is how many bytes a message may have, its place and its advice included.
const mostSaid = 800

// TestMessagesAreBounded: text of a file comes back cut, however long it is, and never
// as something that a terminal would obey.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("9", 2_000) + "\u009b31m" + strings.Repeat("é", 2_000)
	for _, r := range readers(t) {
		if err := r.read(strings.NewReader(r.text)); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		refused := 0
		for _, at := range word.FindAllStringIndex(r.text, -1) {
			old := r.text[at[0]:at[1]]
			for _, text := range []string{
				r.text[:at[0]] + long + r.text[at[1]:], strings.ReplaceAll(r.text, old, long), r.text[:at[1]] + long + r.text[at[1]:],
				r.text[:at[0]] + strings.Repeat(old+",", 2_000) + r.text[at[1]:],
			} {
				err := r.read(strings.NewReader(text))
				if err == nil {
					continue
				}
				refused++
				if said := err.Error(); len(said) > mostSaid || said != textutil.Visible(said) {
					t.Errorf("%s, %s replaced: %d bytes: %q", r.name, old, len(said), textutil.Cut(said, 1000))
				}
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing is refused", r.name)
		}
	}
}
