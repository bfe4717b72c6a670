package replay

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/trace"
)

// TestMemory: HPL's matrix is 8 N^2 bytes, of which a host with half of the ranks has half; N = 1,000 on two hosts is
// 4 MB on each. A point of HPCG's grid is 714.7 bytes: 573 of the matrix and 56 of vectors on the finest level, an
// eighth, a 64th and a 512th of 601 on the others. 16^3 points of two ranks are 5.855 MB.
func TestMemory(t *testing.T) {
	param := func(list ...string) (p []trace.Param) {
		for i := 0; i < len(list); i += 2 {
			p = append(p, trace.Param{Name: list[i], Value: list[i+1]})
		}
		return p
	}
	hpl := &trace.Header{Program: "hpl", Ranks: 4, Params: param("N", "1000")}
	hpcg := &trace.Header{Program: "hpcg", Ranks: 4, Params: param("nx", "16", "ny", "16", "nz", "16")}
	kernels := &trace.Header{Program: "hpl", Ranks: 4, Kernels: make([]trace.Kernel, 1)}
	queues := &trace.Header{Program: "rochpl", Ranks: 4, Kernels: kernels.Kernels, Queues: make([]string, 1)}
	if want := 573 + 56 + 601*(1./8+1./64+1./512); math.Abs(HPCGPoint-want) > 1e-9 {
		t.Errorf("%v bytes a point, want %v", HPCGPoint, want)
	}
	for _, c := range []struct {
		h          *trace.Header
		prop, want string
	}{
		{hpl, "", ""},
		{hpl, `<prop id="memory" value="4e6"/>`, ""},
		{hpl, `<prop id="memory" value="3.9e6"/>`, "m.xml:2: HPL needs 0.004 GB on host n0 (2 ranks), more than its 0.0039 GB of memory; N = 987 fits"}, // 1000 sqrt(3.9/4)
		{hpl, `<prop id="memory" value="256e9"/>`, ""},
		{hpcg, `<prop id="memory" value="23.4e6"/>`, ""},
		{hpcg, `<prop id="memory" value="23.5e6"/>`, "m.xml:2: HPCG needs 0.00585 GB on host n0 (2 ranks), by its rules too little for a result: less than a quarter of its 0.0235 GB of memory"},
		{hpcg, `<prop id="memory" value="5.8e6"/>`, "m.xml:2: HPCG needs 0.00585 GB on host n0 (2 ranks), more than its 0.0058 GB of memory"},
		{kernels, `<prop id="device_launch" value="5us"/>`, "the machine has devices, but the trace has no queues: each rank waits for each of its kernels; tracegen hpl --variant rochpl writes what HPL does with devices"},
		{queues, `<prop id="device_launch" value="5us"/>`, ""},
		{&trace.Header{Program: "lu", Ranks: 4}, `<prop id="memory" value="1"/>`, ""},
		{hpl, `<prop id="memory" value="256GB"/>`, `m.xml:2: memory "256GB", want bytes above 0`},
		{hpl, `<prop id="peak" value="0"/>`, `m.xml:2: peak "0", want flop/s above 0`},
	} {
		text := fmt.Sprintf("<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" core=\"2\" bw=\"1GBps\" lat=\"1us\">\n%s</cluster></platform>", c.prop)
		p, err := platforms.Parse(strings.NewReader(text), "m.xml")
		noError(t, err)
		l := &loader{header: c.h, machine: Machine{Platform: p, Hosts: []int32{0, 0, 1, 1}}}
		got := ""
		if err := l.memory(); err != nil {
			got = err.Error()
		}
		for _, w := range l.odd {
			got += w.String()
		}
		if got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.h.Program, c.prop, got, c.want)
		}
	}
}
