package platforms

import (
	"fmt"
	"strings"
	"testing"
)

// clusterXML describes a cluster of n hosts with more attributes.
func clusterXML(n int, attrs string) string {
	return fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" `+
		`bw="12.5GBps" lat="1us" %s/></platform>`, n-1, attrs)
}

func BenchmarkAppendRoute(b *testing.B) {
	for _, c := range []struct {
		name, attrs string
		hosts       int
	}{
		{"flat", "", 6400},
		{"fattree-2", `topology="FAT_TREE" topo_parameters="2;20,320;1,8;1,2"`, 6400},
		{"fattree-3", `topology="FAT_TREE" topo_parameters="3;16,16,16;1,16,16;1,1,1"`, 4096},
		{"torus-3", `topology="TORUS" topo_parameters="16,16,16"`, 4096},
		{"dragonfly", `topology="DRAGONFLY" topo_parameters="16,1;2,2;16,1;8"`, 4096},
	} {
		b.Run("topology="+c.name, func(b *testing.B) {
			p, err := Parse(strings.NewReader(clusterXML(c.hosts, c.attrs)), "bench")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			route := make([]int32, 0, 128)
			i := 0
			for b.Loop() {
				i++
				route, _ = p.AppendRoute(route[:0], i*37%c.hosts, (i*61+1)%c.hosts)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text := clusterXML(65536, `topology="FAT_TREE" topo_parameters="2;256,256;1,128;1,1"`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(strings.NewReader(text), "bench"); err != nil {
			b.Fatal(err)
		}
	}
}
