package platforms

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"testing"
)

// oracleZip holds the platforms of the cases that SimGrid was run on.
const oracleZip = "../testdata/oracle/smpi-replay.zip"

// readOracle calls visit with every platform of the cases.
func readOracle(t *testing.T, visit func(t *testing.T, p *Platform)) {
	z, err := zip.OpenReader(oracleZip)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	n := 0
	for _, f := range z.File {
		if path.Base(f.Name) != "platform.xml" {
			continue
		}
		n++
		t.Run(path.Dir(f.Name), func(t *testing.T) {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p, err := Parse(r, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			visit(t, p)
		})
	}
	if n == 0 {
		t.Fatalf("%s: no platform in it", oracleZip)
	}
}

// TestOraclePlatformsHaveRoutes reads every platform and asks for a route
// between each two hosts, save for those that the cases leave apart: dumbbells
// list routes between sources s* and destinations d* only, and the two fat trees
// of ft-second are not joined.
func TestOraclePlatformsHaveRoutes(t *testing.T) {
	readOracle(t, func(t *testing.T, p *Platform) {
		_, dumbbell := p.HostIndex("s0")
		_, apart := p.HostIndex("a0")
		hosts := min(p.NumHosts(), 130)
		for src := range hosts {
			for dst := range hosts {
				a, b := p.Host(src).Name[0], p.Host(dst).Name[0]
				if dumbbell && a == b && src != dst || apart && a != b {
					continue
				}
				route, err := p.AppendRoute(nil, src, dst)
				if err != nil {
					t.Fatalf("from %d to %d: %v", src, dst, err)
				}
				checkRoute(t, p, route)
			}
		}
	})
}

// checkRoute fails unless the route has links, all of them links of p.
func checkRoute(t *testing.T, p *Platform, route []int32) {
	t.Helper()
	if len(route) == 0 {
		t.Fatal("a route without links")
	}
	for _, l := range route {
		if l < 0 || int(l) >= p.NumLinks() {
			t.Fatalf("link %d out of range [0,%d)", l, p.NumLinks())
		}
	}
}

// TestOracleLatencies compares the latencies of a fat tree's routes with times of SimGrid. In the case
// ft-allpairs-0 rank 0 first sends 70000 bytes to each other rank, one message at a time and alone, all factors
// being 1 and links having 125e6 byte/s: a message takes the latency of its route and (70000+16)/125e6 s.
func TestOracleLatencies(t *testing.T) {
	z, err := zip.OpenReader(oracleZip)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	xml, err1 := fs.ReadFile(z, "ft-allpairs-0/platform.xml")
	times, err2 := fs.ReadFile(z, "ft-allpairs-0/expected.json")
	var expected struct {
		Default struct{ Ranks []struct{ Ends []float64 } }
	}
	if err := errors.Join(err1, err2, json.Unmarshal(times, &expected)); err != nil {
		t.Fatal(err)
	}
	p := parse(string(xml))
	ends := expected.Default.Ranks[0].Ends // of init, then of the sends
	at := 0.0
	for dst := 1; dst < p.NumHosts(); dst++ {
		at += latency(p, 0, dst) + 70016/125e6
		if math.Abs(ends[dst]-at) > 1e-9 {
			t.Fatalf("message from 0 to %d ends at %v, SimGrid says %v", dst, at, ends[dst])
		}
	}
}

// TestOracleMachinesLoad reads the platforms that HPL was executed on.
func TestOracleMachinesLoad(t *testing.T) {
	files, err := filepath.Glob("../testdata/oracle/smpi-hpl/platforms/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no platforms: %v", err)
	}
	for _, f := range files {
		p, err := Load(f)
		if err != nil {
			t.Error(err)
			continue
		}
		route, err := p.AppendRoute(nil, 0, p.NumHosts()-1)
		if err != nil {
			t.Error(err)
			continue
		}
		checkRoute(t, p, route)
	}
}
