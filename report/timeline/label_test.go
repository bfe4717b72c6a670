package timeline_test

import (
	"bytes"
	"strings"
	"testing"

	"reprise/report/timeline"
)

// TestLabels: what a file is of stands in it, where its format has a place for that.
func TestLabels(t *testing.T) {
	const text, at = "interrupted at 3 s\n", 3
	labelled := func(f timeline.Format) []byte {
		h := pairHeader()
		var out bytes.Buffer
		sink := f.Sink(&out, &timeline.Run{Header: h, Hosts: []string{"n0", "n1"}})
		r := timeline.NewRecorder(h, timeline.Span{}, sink)
		play(t, h, r, pair()...)
		r.End()
		sink.Label(text, at)
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	instants := readPerfetto(t, labelled(timeline.Perfetto)).instants
	if want := "MPI ranks: " + text + " at 3000000000"; len(instants) != 1 || instants[0] != want {
		t.Errorf("Perfetto's instants %q, want %q", instants, want)
	}
	paje := labelled(timeline.Paje)
	if !strings.Contains(string(paje), "\n# interrupted at 3 s \n") {
		t.Errorf("no comment in\n%s", paje)
	}
	if plain := dump(t, exportPair(t, timeline.Paje)); len(dump(t, paje)["State"]) != len(plain["State"]) {
		t.Error("a comment changes what pj_dump reads")
	}
}
