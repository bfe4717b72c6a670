package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/trace/vectors"
)

// The example of testdata/format/example.md: rank 0 sends to rank 1, twice.
func exampleHeader() *Header {
	return &Header{
		Program:      "example",
		Ranks:        2,
		Steps:        2,
		CommFamilies: []CommFamily{{Name: "world", Groups: []Group{{Start: 0, Stride: 1, Count: 2}}}},
		Axes:         []Axis{{Name: "all"}, {Name: "rank", Kind: AxisRank}},
		CallSites: []CallSite{{Name: "ping", Counts: NoAxis, Block: 1,
			Params: []ParamColumn{{Name: "bytes", Axis: 0}, {Name: "tags", Axis: 0, Vector: true}}}},
	}
}

func exampleTrace(t testing.TB) []byte {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, exampleHeader(), WriterOptions{}))
	var blocks []int64
	for i, op := range []Op{OpSend, OpRecv} {
		b := NewBuilder([]string{"send", "recv"}[i], 2)
		b.Message(op, 0, 0, b.Member(0, Const(int64(1-i))), b.VectorAt(b.Param(1), Const(2)), b.Param(0))
		n := must(w.Program().Add(b))
		blocks = append(blocks, int64(n))
	}
	v := w.Vector(Vector{Values: []int64{5, 0, 7}})
	for step, bytes := range []int64{800, 900} {
		check(t, w.Step(step))
		check(t, w.Call(&Call{Blocks: blocks, Args: [][]int64{{bytes}, {v}}}))
	}
	check(t, w.Close())
	return buf.Bytes()
}

// documented returns the bytes of the blocks of hexadecimal numbers in the
// document, by name.
func documented(t *testing.T) map[string][]byte {
	text := must(os.ReadFile("../testdata/format/example.md"))
	blocks := map[string][]byte{}
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```hex "):
			name = strings.TrimPrefix(line, "```hex ")
		case line == "```":
			name = ""
		case name != "":
			digits, _, _ := strings.Cut(line, "|")
			b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
			if err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
			blocks[name] = append(blocks[name], b...)
		}
	}
	return blocks
}

// The document's example decodes to what its text says.
func TestDocumentedFile(t *testing.T) {
	doc := documented(t)
	for way, read := range ways {
		if err := read(doc["file"]); err != nil {
			t.Fatalf("%s: %v", way, err)
		}
	}
	tr := must(NewReader(bytes.NewReader(doc["file"]), "document"))
	if diff := cmp.Diff(exampleHeader(), tr.Header(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	cursors := must(tr.Cursors(nil, CursorOptions{}))
	for rank, kind := range []Kind{KindSend, KindRecv} {
		var want []Action
		for step, bytes := range []int64{800, 900} {
			want = append(want, Action{Kind: KindStep, X: [4]int64{int64(step)}},
				Action{Kind: kind, Peer: int32(1 - rank), Tag: 7, X: [4]int64{bytes}})
		}
		got := make([]Action, 10)
		n := must(cursors[rank].Fill(got))
		if diff := cmp.Diff(want, got[:n]); diff != "" {
			t.Errorf("rank %d\n%s", rank, diff)
		}
	}
}

// The contents that the document spells out are those of its file, and those
// that this package writes.
func TestDocumentedContents(t *testing.T) {
	doc := documented(t)
	_, inDocument := records(t, doc["file"])
	_, written := records(t, exampleTrace(t))
	for i, name := range []string{"header", "definitions", "chunk", "index"} {
		if diff := cmp.Diff(doc[name], inDocument[i]); diff != "" {
			t.Errorf("%s in the file\n%s", name, diff)
		}
		if name == "index" {
			continue // holds sizes of compressed content
		}
		if diff := cmp.Diff(doc[name], written[i]); diff != "" {
			t.Errorf("%s as written\n%s", name, diff)
		}
	}
}

// The chunk's name follows from section 7 of the document.
func TestDocumentedHash(t *testing.T) {
	tr := must(NewReaderAt(bytes.NewReader(exampleTrace(t)), int64(len(exampleTrace(t))), "x"))
	content := []byte{2, 0, 1, 0, 1, 1, 0} // 2 units: step 0 and 1, 1 call each, of call site 0
	content = append(content, 2, 2, 4, 4)  // block column, zigzag: local blocks 1, 1, 2, 2
	content = binary.AppendVarint(content, 800)
	content = binary.AppendVarint(content, 900)
	content = append(content, 0, 0) // vector 0, twice
	content = append(content, 2)    // blocks
	for i := range 2 {
		hash := tr.prog.BlockHash(i)
		content = append(content, hash[:]...)
	}
	content = append(content, 1, 0, 6, 10, 0, 14) // a vector: stated, 3 elements: 5, 0, 7
	content = append(content, 0)                  // generators
	if got := tr.ChunkInfos()[0].Hash; got != sha256.Sum256(content) {
		t.Errorf("chunk is named %x", got)
	}
}

// The document lists the features that there are, and no others; each kind of generated
// vectors has a section.
func TestDocumentedFeatures(t *testing.T) {
	text := must(os.ReadFile("../docs/trace-format.md"))
	_, section, _ := strings.Cut(string(text), "### 3.1 Features")
	section, _, _ = strings.Cut(section, "## 4. Definitions")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z:A-Z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		documented[row[1]] = true
	}
	want := map[string]bool{"vectors:KIND": true}
	for _, name := range featureNames[:numFeatures] {
		want[name] = true
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Error(diff)
	}
	for i, name := range vectors.Names() {
		if heading := fmt.Sprintf("### A.%d %s\n", i+1, name); !strings.Contains(string(text), heading) {
			t.Errorf("no section %q", heading)
		}
	}
}
