package platforms

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProfileTimes: the times that the comments derive, by SimGrid's rule: a round ends
// LOOPAFTER seconds after its last value, or a period after its begin.
func TestProfileTimes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		period     float64
		times      []float64 // of the first values; +Inf behind the last
		round      float64   // 0: it does not repeat
	}{
		{"once", "3 1\n9 3\n", 0, []float64{3, 9, math.Inf(1)}, 0},
		{"LOOPAFTER", "# a comment\n1 1\n3 3\nLOOPAFTER 2\n", 0, []float64{1, 3, 6, 8, 11, 13}, 5},
		{"PERIODICITY", "PERIODICITY 10\n% another\n0 1\n5 2\n", 0, []float64{0, 5, 10, 15, 20}, 10},
		{"period", "\n 0.0 1.0\n\t5.0   2.0 # behind\r\n", 10, []float64{0, 5, 10, 15}, 10},
		{"period of no length", "0 1\n5 2\n", -1, []float64{0, 5, math.Inf(1)}, 0},
		{"DET", "DET 1 DET 2\n", 0, []float64{1, math.Inf(1)}, 0},
	} {
		p, err := parseProfile(c.text, "p", "f", 1, c.period)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		at := p.Begin()
		for i, want := range c.times {
			if at.Time != want {
				t.Errorf("%s: value %d at %v s, want %v", c.name, i, at.Time, want)
			}
			if i+1 < len(c.times) {
				at = p.Next(at)
			}
		}
		if round, again := p.Repeats(); round != c.round || again != (c.round > 0) {
			t.Errorf("%s: rounds of %v s, %v, want %v", c.name, round, again, c.round)
		}
	}
}

// TestProfileErrors: what SimGrid refuses, aborts on, or would never end with.
func TestProfileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"1 1\n0 1\n":                      "f:2: profile: time 0 s after 1 s: want ascending ones",
		"-1 1\n":                          `f:1: profile: time: "-1" is not a number >= 0`,
		"1 one\n":                         `f:1: profile: value: "one" is not a number`,
		"1 nan\n":                         `value: "nan" is not a number`,
		"1\n":                             "want a time in seconds and a value",
		"1 2 3\n":                         "want a time in seconds and a value",
		"0 1\nSTOCHASTIC\n":               "f:2: profile: STOCHASTIC is not supported",
		"NORM 1 2 DET 3\n":                "want a time in seconds and a value",
		"0 1\nLOOPAFTER 0\n":              "begins anew after 0 s: want at least 1e-09 s",
		"0 1\nLOOPAFTER\n":                "LOOPAFTER: want a number of seconds",
		"5 1\nPERIODICITY 3\n":            "a period of 3 s is shorter than its last time, 5 s",
		"5 1\nPERIODICITY 8\nLOOPAFTER 1": "both a period and LOOPAFTER",
	} {
		_, err := parseProfile(text, "p", "f", 1, 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzProfile: a profile that is read has times that do not fall.
func FuzzProfile(f *testing.F) {
	f.Add("0 1\n5 2\nLOOPAFTER 3\n", 0.0)
	f.Add("PERIODICITY 9\n# c\n1 1e8\n", 0.0)
	f.Add("DET 1 DET 2\n", 4.0)
	f.Add("# nothing\nLOOPAFTER 1\n", 0.0)
	f.Fuzz(func(t *testing.T, text string, period float64) {
		p, err := parseProfile(text, "p", "f", 1, period)
		if err != nil || p.Len() == 0 {
			return
		}
		at := p.Begin()
		for range 3*p.Len() + 3 {
			if at.Index == p.Len() {
				break
			}
			if next := p.Next(at); next.Time < at.Time {
				t.Fatalf("%v s after %v s", next.Time, at.Time)
			} else {
				at = next
			}
		}
	})
}

const profiledZone = `<platform version="4.1">%TOP%<zone id="z" routing="Full">
<host id="a" speed="1Gf"%HOST%/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1MBps" latency="1ms"%LINK%/><route src="a" dst="b"><link_ctn id="l"%WAY%/></route>
</zone>%END%</platform>`

func profiled(parts ...string) string {
	text := strings.NewReplacer(parts...).Replace(profiledZone)
	for _, name := range []string{"%TOP%", "%HOST%", "%LINK%", "%WAY%", "%END%"} {
		text = strings.ReplaceAll(text, name, "")
	}
	return text
}

// TestProfilesInFiles: attributes name files, looked for in the working directory and then
// beside the description, whose hash changes with them.
func TestProfilesInFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	load := func() *Platform { return must(Load(filepath.Join(dir, "p.xml"))) }
	write("p.xml", profiled("%HOST%", ` speed_file="s.txt" state_file="o.txt"`, "%LINK%", ` sharing_policy="SPLITDUPLEX" bandwidth_file="b.txt" latency_file="l.txt" state_file="o.txt"`, "%WAY%", ` direction="UP"`))
	write("s.txt", "1 0.5\n")
	write("o.txt", "1 1\n")
	write("b.txt", "2 3e6\nPERIODICITY 4\n")
	write("l.txt", "0 2e-3\n")
	p := load()
	var got []string
	for _, use := range p.Profiles() {
		got = append(got, use.Kind.String()+" "+use.Target)
		if want := map[bool]int{true: 0, false: 2}[use.Kind.OfHost()]; len(use.Links) != want {
			t.Errorf("%v: %d links, want %d: both halves", use.Kind, len(use.Links), want)
		}
	}
	if want := "state of host a, speed of host a, state of link l, latency of link l, bandwidth of link l"; strings.Join(got, ", ") != want {
		t.Errorf("profiles %s, want %s", strings.Join(got, ", "), want)
	}
	write("b.txt", "2 4e6\n")
	if load().Hash() == p.Hash() {
		t.Error("the hash is the same with another profile")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("b.txt", []byte("7 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if first, _ := load().Profiles()[4].Profile.Span(); first != 7 {
		t.Errorf("first change at %v s, want that of the file in the working directory, 7", first)
	}
}

// TestProfilesInline: traces inside the description, connected to what they change.
func TestProfilesInline(t *testing.T) {
	trace := func(id string) string { return `<trace id="` + id + `" periodicity="-1">1 2</trace>` }
	connect := func(kind, trace, element string) string {
		return `<trace_connect kind="` + kind + `" trace="` + trace + `" element="` + element + `"/>`
	}
	for _, c := range []struct {
		name, end, want string // want "": a profile is there
	}{
		{"speed", trace("t") + connect("SPEED", "t", "b"), ""},
		{"a link", trace("t") + connect("LATENCY", "t", "l"), ""},
		{"connected before", connect("SPEED", "t", "b") + trace("t"), ""},
		{"no trace", connect("SPEED", "t", "b"), `x.xml:4: <trace_connect>: there is no trace "t"`},
		{"no host", trace("t") + connect("SPEED", "t", "c"), `there is no host "c"`},
		{"no link", trace("t") + connect("BANDWIDTH", "t", "a"), `there is no <link> "a"`},
		{"no kind", trace("t") + connect("HEIGHT", "t", "a"), `kind: "HEIGHT" is not supported: want HOST_AVAIL, SPEED`},
		{"twice", trace("t") + trace("t") + connect("SPEED", "t", "b"), ""},
		{"two for one", trace("t") + trace("u") + connect("SPEED", "t", "b") + connect("SPEED", "u", "b"), `a second profile of the speed of host "b"`},
		{"line", "<trace id=\"t\" periodicity=\"1\">\n1 2\n0 2\n</trace>", "x.xml:6: profile: time 0 s after 1 s"},
		{"no file", `<trace id="t" file="nowhere.txt" periodicity="1"/>`, `there is no file "nowhere.txt"`},
		{"a directory", `<trace id="t" file="/" periodicity="1"/>`, "want a regular file"},
	} {
		if text := profiled("%END%", c.end); c.want != "" {
			refuses(t, text, c.want)
		} else if n := len(parse(text).Profiles()); n != 1 {
			t.Errorf("%s: %d profiles, want 1", c.name, n)
		}
	}
}

// TestTraceConnectedTwice: SimGrid connects a trace to the first element only.
func TestTraceConnectedTwice(t *testing.T) {
	p := parse(profiled("%END%", `<trace id="t" periodicity="-1">1 2</trace>
<trace_connect kind="SPEED" trace="t" element="b"/>
<trace_connect kind="SPEED" trace="t" element="a"/>`))
	if uses := p.Profiles(); len(uses) != 1 || uses[0].Target != "b" {
		t.Errorf("connected to %v", uses)
	}
	if w := p.Warnings(); len(w) != 1 || w[0].Line != 6 || !strings.Contains(w[0].Text, `not connected to "a"`) {
		t.Errorf("warnings %v", w)
	}
}

// TestProfileWithoutValue: SimGrid 3.32 plays files without a value as if there were none,
// also where they begin anew, and aborts at a trace that has neither text nor file.
func TestProfileWithoutValue(t *testing.T) {
	const platform = `<platform version="4.1">%s<zone id="z" routing="Full"><host id="a" speed="1Gf"/></zone>
<trace_connect kind="SPEED" trace="t" element="a"/></platform>`
	for _, text := range []string{"\n", "# nothing", "\nLOOPAFTER 1\n", "\nPERIODICITY 1\n"} {
		p := parse(fmt.Sprintf(platform, `<trace id="t" periodicity="-1">`+text+`</trace>`))
		if w := p.Warnings(); len(p.Profiles()) != 0 || len(w) != 1 || !strings.Contains(w[0].String(), "has no value") {
			t.Errorf("%q: profiles %v, warnings %v, want a warning alone", text, p.Profiles(), w)
		}
	}
	refuses(t, fmt.Sprintf(platform, `<trace id="t" periodicity="1"/>`), `x.xml:1: <trace "t">: it has neither a text nor a file`)
}

// TestConstantSpeed: a profile that is one factor from the begin on is the speed of the host;
// what comes later, begins anew or stops the host changes it with time.
func TestConstantSpeed(t *testing.T) {
	for values, want := range map[string]float64{
		"0 0.9": 0.9, "0 2": 2,
		"1 0.9": 0, "0 0.9\n1 1": 0, "0 0": 0, "0 0.9\nLOOPAFTER 1": 0,
	} {
		p := parse(fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-2" speed="1Gf" core="2" bw="1GBps" lat="1us"/>
<trace id="t" periodicity="-1">%s</trace><trace_connect kind="SPEED" trace="t" element="n1"/></platform>`, values))
		speed := 1e9
		if want > 0 {
			speed *= want
		}
		if h := p.Host(1); h.Speed != speed || h.Cores != 2 || p.Host(0).Speed != 1e9 || p.Host(2).Speed != 1e9 {
			t.Errorf("%q: hosts %v, %v, %v", values, p.Host(0), h, p.Host(2))
		}
		constant := p.ConstantSpeeds()
		if (len(constant) == 1) != (want > 0) || len(constant)+len(p.Profiles()) != 1 {
			t.Errorf("%q: %d constant, %d changing", values, len(constant), len(p.Profiles()))
		}
		if want > 0 && (constant[0].Factor() != want || constant[0].Target != "n1") {
			t.Errorf("%q: %+v", values, constant[0])
		}
	}
}
