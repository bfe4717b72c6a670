package path_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/report/path"
)

// TestRunsOf: parts and what-ifs are means, of what a path lacks with 0.
func TestRunsOf(t *testing.T) {
	r := path.RunsOf([]path.Seed{
		{Seed: 3, Data: &path.Data{Seconds: 4, Rank: 1,
			Parts:   []path.Part{{Name: "dgemm", Kind: path.KindKernel, Phase: "update", Seconds: 3, Count: 5}, {Name: path.KindWire, Kind: path.KindWire, Level: "up", Seconds: 1, Bytes: 100}},
			WhatIfs: []path.WhatIf{{Kind: path.WhatIfKernel, Name: "dgemm", Slope: 3}, {Kind: path.WhatIfBandwidth, Name: "up", Slope: 1}}}},
		{Seed: 4, Data: &path.Data{Seconds: 6, Rank: 0,
			Parts:   []path.Part{{Name: "dgemm", Kind: path.KindKernel, Phase: "update", Seconds: 6, Count: 8}},
			WhatIfs: []path.WhatIf{{Kind: path.WhatIfKernel, Name: "dgemm", Slope: 6}}}},
	})
	want := &path.Data{
		Seconds: 5, Rank: -1,
		// (3+6)/2 s, (5+8)/2 = 6.5 calls, rounded; (1+0)/2 s and (100+0)/2 bytes.
		Parts: []path.Part{{Name: "dgemm", Kind: path.KindKernel, Phase: "update", Seconds: 4.5, Count: 7}, {Name: path.KindWire, Kind: path.KindWire, Level: "up", Seconds: 0.5, Bytes: 50}},
		Notes: []string{"The mean of the critical paths of 2 replays, with a seed each."},
	}
	if diff := cmp.Diff(want.Parts, r.Parts); diff != "" || r.Seconds != want.Seconds || r.Rank != want.Rank || r.Notes[0] != want.Notes[0] {
		t.Errorf("%g s, rank %d, %q (-want +got):\n%s", r.Seconds, r.Rank, r.Notes, diff)
	}
	if len(r.WhatIfs) != 2 || r.WhatIfs[0].Slope != 4.5 || r.WhatIfs[1].Slope != 0.5 {
		t.Errorf("what-ifs %+v, want slopes of 4.5 and 0.5 s", r.WhatIfs)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"critical path of 5 s\n",
		"dgemm in update          4.5   90.00%            7\n",
		"seed             path s    ends at   most of it\n",
		"3                     4     rank 1   dgemm in update, 75.00%\n",
		"4                     6     rank 0   dgemm in update, 100.00%\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("%q is not in\n%s", line, text.String())
		}
	}
}
