package platforms

import (
	"strings"
	"testing"
)

// must returns a value of what cannot fail in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// parse reads a description that must be good.
func parse(text string) *Platform { return must(Parse(strings.NewReader(text), "test.xml")) }

// parseCluster reads a cluster "c" of hosts n0, n1, ... of 1e9 byte/s and 1 ms
// with more attributes, which win.
func parseCluster(radical, attrs string) *Platform {
	return parse(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="` + radical +
		`" speed="1Gf" bw="1GBps" lat="1ms" ` + attrs + `/></platform>`)
}

// refuses fails unless the error of a description has a text in it.
func refuses(t *testing.T, text, want string) {
	t.Helper()
	if _, err := Parse(strings.NewReader(text), "x.xml"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%.300s\n got %v\nwant %s", text, err, want)
	}
}

// warns fails unless the only warning of a platform ends with a text.
func warns(t *testing.T, p *Platform, want string) {
	t.Helper()
	if w := p.Warnings(); len(w) != 1 || !strings.HasSuffix(w[0].String(), want) {
		t.Errorf("warnings %v, want %s", w, want)
	}
}

// noRoute fails unless the error of a route from one host to another has a text in it.
func noRoute(t *testing.T, p *Platform, src, dst int, want string) {
	t.Helper()
	if _, err := p.AppendRoute(nil, src, dst); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("from %d to %d: %v, want %s", src, dst, err, want)
	}
}

// routeNames returns the names of the links between two hosts in some order, "" where there
// is no route.
func routeNames(t testing.TB, p *Platform, order Order, src, dst string) string {
	t.Helper()
	a, okA := p.HostIndex(src)
	b, okB := p.HostIndex(dst)
	if !okA || !okB {
		t.Fatalf("no host %q or %q", src, dst)
	}
	route, err := p.AppendLinks(order, nil, a, b)
	if err != nil {
		return ""
	}
	names := make([]string, len(route))
	for i, l := range route {
		names[i] = p.Link(l).Name
	}
	return strings.Join(names, " ")
}

// A routeCase is a route worked out by hand.
type routeCase struct{ src, dst, want string }

func checkRoutes(t *testing.T, p *Platform, cases []routeCase) {
	t.Helper()
	for _, c := range cases {
		if got := routeNames(t, p, AsMet, c.src, c.dst); got != c.want {
			t.Errorf("route from %s to %s:\n got %s\nwant %s", c.src, c.dst, got, c.want)
		}
	}
}

// checkClusters checks routes of clusters that have some attributes besides their own.
func checkClusters(t *testing.T, attrs string, clusters []clusterCase) {
	for _, c := range clusters {
		t.Run(c.name, func(t *testing.T) { checkRoutes(t, parseCluster(c.radical, attrs+c.attrs), c.cases) })
	}
}

// A clusterCase is a cluster of parseCluster with its routes.
type clusterCase struct {
	name, radical, attrs string
	cases                []routeCase
}

// latency returns the sum of the latencies in seconds along a route that there is.
func latency(p *Platform, src, dst int) (seconds float64) {
	for _, l := range must(p.AppendLinks(AsSummed, nil, src, dst)) {
		_, s, _ := p.LinkFigures(l)
		seconds += s
	}
	return seconds + p.Distance(src, dst)
}

// TestParseAlone: a description from elsewhere reads no file of this machine, whatever element names it.
func TestParseAlone(t *testing.T) {
	for _, text := range []string{
		`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><trace id="t" file="/etc/passwd" periodicity="1"/></zone></platform>`,
		`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf" speed_file="/etc/passwd"/></zone></platform>`,
		`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf" availability_file="../secret"/></zone></platform>`,
	} {
		_, err := ParseAlone(strings.NewReader(text), "p.xml")
		if err == nil || !strings.HasPrefix(err.Error(), "p.xml:1: ") || strings.Contains(err.Error(), "root:") {
			t.Errorf("%v, want an error with the place and without what is in the file", err)
		}
	}
	text := `<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><trace id="t" periodicity="1">0 1
</trace><trace_connect kind="SPEED" trace="t" element="a"/></zone></platform>`
	must(ParseAlone(strings.NewReader(text), "p.xml"))
}
