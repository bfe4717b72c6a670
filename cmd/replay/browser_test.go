package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"reprise/replay"
	"reprise/tracegen/hpl"
)

// browser is a headless Chromium with one page open, which hears all that must not be.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	heard []string // requests but for the page itself, messages, exceptions
}

// newBrowser starts a browser, or skips the test where there is none. Tests in browsers run at the same time.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	t.Parallel()
	shell := ""
	for _, name := range []string{"chromium-headless-shell", "headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			shell = path
			break
		}
	}
	if shell == "" {
		t.Skip("no chromium-headless-shell and no chromium: scripts/install-test-tools.sh installs one")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(shell), chromedp.WindowSize(1280, 900))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	hear(b, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) string { return "request of " + e.Request.URL })
	hear(b, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) string { return fmt.Sprintf("console.%s", e.Type) })
	hear(b, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) string {
		if e.ExceptionDetails.Exception != nil {
			return "exception: " + e.ExceptionDetails.Exception.Description
		}
		return "exception: " + e.ExceptionDetails.Text
	})
	hear(b, log.EntryAdded, func(e log.EventEntryAdded) string { return "log: " + e.Entry.Text })
	return b
}

// hear notes events of a kind as say words them.
func hear[E any](b *browser, event cdp.Event[E], say func(E) string) {
	events := chromedp.Events(b.ctx, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.heard = append(b.heard, say(e))
			b.mu.Unlock()
		}
	}()
}

// do does something on the page.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	noError(b.t, chromedp.Do(b.ctx, steps...))
}

// eval returns the value of an expression of JavaScript in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for a condition of the page, which may be another one by now.
func (b *browser) until(condition string) {
	b.t.Helper()
	for range 1000 {
		if yes, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](condition)); err == nil && yes {
			return
		} else if b.ctx.Err() != nil {
			b.t.Fatalf("%s: %v", condition, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("not so within 20 s: %s", condition)
}

// open opens a page from its file and waits until it is complete.
func (b *browser) open(file string) {
	b.t.Helper()
	// What the page does not throw, such as a ResizeObserver without end, is no message of its own.
	const tell = "addEventListener('error', e => console.error(e.message))"
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: tell}); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://" + file))
	b.until("!!document.documentElement.dataset.ready || !!document.querySelector('.error')")
	if text := eval[string](b, "document.querySelector('.error')?.textContent ?? ''"); text != "" {
		b.t.Fatal(text)
	}
}

// quiet checks that nothing was asked for but the file, and nothing said.
func (b *browser) quiet(file string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.heard {
		if h != "request of file://"+file {
			b.t.Error(h)
		}
	}
}

// reportOf replays HPL with a report, and returns its file and what --json prints.
func reportOf(t *testing.T, flags ...string) (file string, result []byte) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "run.html")
	args := append([]string{"--quiet", "--json", "--platform", "dahu", "--report", file}, flags...)
	return file, played(t, append(args, hplOf(t, hpl.DefaultParams(400, 2, 3)))...)
}

// TestReportInBrowser: a page opens from its file, asks for nothing, says nothing on the
// console, and can be used by keyboard alone.
func TestReportInBrowser(t *testing.T) {
	b := newBrowser(t)
	file, result := reportOf(t, "--ranks-per-host", "1")
	b.open(file)

	var want struct {
		Makespan float64 `json:"makespan_s"`
	}
	noError(t, json.Unmarshal(result, &want))
	headline := eval[string](b, "document.querySelector('.fact.main dd').textContent")
	var number float64
	var unit string
	if _, err := fmt.Sscan(headline, &number, &unit); err != nil || math.Abs(number*map[string]float64{"s": 1, "ms": 1e-3}[unit]-want.Makespan) > 1e-4*want.Makespan {
		t.Errorf("headline %q, want %g s (%v)", headline, want.Makespan, err)
	}

	// Zoom by the key W, in the matrix: 0.7 of the steps are left, and the address says so.
	width := eval[float64](b, "document.querySelector('#matrix canvas').focus(), Extent.all.get('steps').width")
	b.do(chromedp.KeyEvent("w"))
	if got := eval[float64](b, "Extent.all.get('steps').width"); math.Abs(got-0.7*width) > 1e-9 {
		t.Errorf("%g steps after W, want 0.7 of %g", got, width)
	}
	b.until("location.hash.includes('steps=')")
	b.do(chromedp.KeyEvent("0"))

	// The same in the timeline, then the first computation by dgemm, which the picture shows.
	width = eval[float64](b, "document.querySelector('#timeline canvas').focus(), Extent.all.get('window').width")
	b.do(chromedp.KeyEvent("w"))
	if got := eval[float64](b, "Extent.all.get('window').width"); math.Abs(got-0.7*width) > 1e-9*width {
		t.Errorf("%g s in the timeline after W, want 0.7 of %g", got, width)
	}
	eval[chromedp.Void](b, "document.querySelector('#timeline input[type=search]').focus()")
	b.do(chromedp.KeyEvent("dgemm" + kb.Enter))
	if said := eval[string](b, "document.querySelector('#timeline .readout').textContent"); !strings.Contains(said, "dgemm") || !strings.Contains(said, ", compute, ") {
		t.Errorf("of dgemm it says %q", said)
	}

	// Search for a rank.
	eval[chromedp.Void](b, "document.querySelector('#matrix input[type=search]').focus()")
	b.do(chromedp.KeyEvent("4" + kb.Enter))
	if said := eval[string](b, "document.querySelector('#matrix .readout').textContent"); !strings.HasPrefix(said, "rank 4 on dahu-") {
		t.Errorf("of rank 4 it says %q", said)
	}

	// The other theme.
	paper := "getComputedStyle(document.body).backgroundColor"
	before := eval[string](b, paper)
	eval[chromedp.Void](b, "document.querySelector('.theme').focus()")
	b.do(chromedp.KeyEvent(" "))
	if after := eval[string](b, paper); after == before {
		t.Errorf("both themes are %s", after)
	}

	// What is said of colours holds in both themes: a bar runs from the least to the most.
	if said := eval[string](b, "document.querySelector('#communication .scale').textContent"); strings.Contains(said, "dark") || strings.Contains(said, "pale") {
		t.Errorf("the scale of the communication says %q", said)
	}
	if bars := eval[int](b, "document.querySelectorAll('#communication .scale .ramp').length"); bars != 1 {
		t.Errorf("%d bars beside the scale of the communication, want 1", bars)
	}

	// Curves are told apart by their names and, of one colour, by their dashes.
	names := eval[string](b, "[...document.querySelectorAll('#links .u-label')].slice(1).map(e => e.textContent).join('|')")
	if want := "dahu: host to switch (6), mean|dahu: host to switch, most used|dahu: switch to host (6), mean|dahu: switch to host, most used"; names != want {
		t.Errorf("curves of links %q, want %q", names, want)
	}
	if got := eval[string](b, "[...document.querySelectorAll('#links .u-marker')].slice(1).map(e => getComputedStyle(e).borderTopStyle).join()"); got != "solid,dashed,solid,dashed" {
		t.Errorf("markers of links are %s", got)
	}

	// Search fields have room for what they are for, beside the cross that empties them, which is an em wide.
	const room = `[...document.querySelectorAll('input[type=search]')].filter(e => {
		const c = document.createElement('canvas').getContext('2d'), style = getComputedStyle(e);
		c.font = style.fontSize + ' ' + style.fontFamily;
		return c.measureText(e.placeholder).width > e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - parseFloat(style.fontSize);
	}).map(e => e.placeholder).join()`
	if cut := eval[string](b, room); cut != "" {
		t.Errorf("cut off: %q", cut)
	}

	// The table behind the first picture, opened by Enter.
	eval[chromedp.Void](b, "document.querySelector('#answer figure summary').focus()")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("document.querySelectorAll('#answer figure details[open] tbody tr').length > 0")
	if cells := eval[string](b, "document.querySelector('#answer figure details tbody').textContent"); !strings.Contains(cells, "compute") {
		t.Errorf("table: %q", cells)
	}

	// An address leads to a place: theme and zoom are those that it says.
	b.do(chromedp.Navigate("about:blank"))
	b.open(file + "#matrix&theme=dark&steps=1,6")
	if got := eval[string](b, "document.documentElement.dataset.theme + Extent.all.get('steps').low + Extent.all.get('steps').high"); got != "dark16" {
		t.Errorf("theme and steps of the address: %q, want dark, 1 and 6", got)
	}

	b.quiet(file)
}

// TestTwoRunsInBrowser: two runs stand on the same axes, and what differs comes first.
func TestTwoRunsInBrowser(t *testing.T) {
	b := newBrowser(t)
	one, _ := reportOf(t)
	other, _ := reportOf(t, "--host-speed", "dahu-0=0.5")
	file := filepath.Join(t.TempDir(), "both.html")
	played(t, "compare", "--report", file, one, other)
	b.open(file)
	if row := eval[string](b, "document.querySelector('#differences tbody tr').textContent"); !strings.HasPrefix(row, "makespan") || !strings.Contains(row, "+") {
		t.Errorf("the first difference is %q, want that of the makespan, which is more", row)
	}
	if n := eval[int](b, "document.querySelectorAll('#matrix canvas').length"); n != 2 {
		t.Fatalf("%d matrices, want 2", n)
	}
	// Zooming the one zooms the other, and the curves: they have one range. What is in view is drawn.
	pixels := "document.querySelectorAll('#matrix canvas')[1].toDataURL()"
	eval[chromedp.Void](b, "document.querySelectorAll('#matrix canvas')[1].scrollIntoView()")
	b.until("document.querySelectorAll('#matrix canvas')[1].width > 300")
	before := eval[string](b, pixels)
	eval[chromedp.Void](b, "document.querySelector('#matrix canvas').focus({preventScroll: true})")
	b.do(chromedp.KeyEvent("w"))
	b.until(pixels + " !== " + strconv.Quote(before))
	b.quiet(file)
}

// nodeKernels are models with noise. Their path is absolute, since scripts change the directory of this process.
var nodeKernels, _ = filepath.Abs(filepath.Join("..", "..", "examples", "ci", "node.yaml"))

// TestDifferencesInBrowser: a page shows what the comparison says: times of several runs, what noise may
// make, and of what both figures are.
func TestDifferencesInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	b := newBrowser(t)
	runs, result := reportOf(t, "--kernels", nodeKernels, "--runs", "3")
	draw, _ := reportOf(t, "--kernels", nodeKernels, "--seed", "7")
	dir := t.TempDir()
	file, same := filepath.Join(dir, "both.html"), filepath.Join(dir, "same.html")
	played(t, "compare", "--report", file, runs, draw)
	played(t, "compare", "--report", same, runs, runs)
	var of struct {
		Names replay.PartNames    `json:"time_names"`
		Runs  []replay.SeedResult `json:"runs"`
	}
	if err := json.Unmarshal(result, &of); err != nil || of.Names.Kinds[0] != "compute" {
		t.Fatalf("%v, kinds %q", err, of.Names.Kinds)
	}
	mean := (of.Runs[0].Times.Kinds[0] + of.Runs[1].Times.Kinds[0] + of.Runs[2].Times.Kinds[0]) / 3

	b.open(file)
	cells := func(name string) string {
		return eval[string](b, `[...document.querySelectorAll('#differences tr')].filter(r => r.cells[0].textContent === '`+name+`').map(r => [...r.cells].slice(1, 8).map(c => c.textContent).join())[0] ?? ''`)
	}
	written := eval[string](b, fmt.Sprintf("seconds(%v)", mean))
	// Of one draw of noise nothing is known but its number.
	if got := cells("kind: compute"); !strings.HasPrefix(got, written+",") || !strings.HasSuffix(got, ",–,unclear") {
		t.Errorf("compute: %q, want %s first, and unclear", got, written)
	}
	if got := eval[string](b, "document.querySelector('#differences .head').textContent"); !strings.Contains(got, "A: mean of 3 runs") || !strings.Contains(got, "B: noise of seed 7") {
		t.Errorf("labels %q", got)
	}
	if got := eval[string](b, "document.querySelector('#differences').textContent"); !strings.Contains(got, "is one draw of noise") || !strings.Contains(got, "than A.") {
		t.Errorf("no warning, or no sentence, in %q", got)
	}
	if got := eval[string](b, "document.querySelector('#answer figure').textContent"); !strings.Contains(got, "compute") {
		t.Errorf("where the time of the runs went: %q", got)
	}

	b.open(same)
	// Both are 0 apart, by as much as noise may make: an interval with both signs.
	if got := cells("makespan"); !strings.Contains(got, ",±0 s,−") || !strings.HasSuffix(got, ",1.0000,unclear") {
		t.Errorf("the same runs: %q", got)
	}
}

// TestPathInBrowser: the critical path is drawn up to its end, in time and rank.
func TestPathInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	b := newBrowser(t)
	file, _ := reportOf(t, "--critical-path")
	b.open(file)
	const drawn = `(async () => {
		const [run] = JSON.parse(document.getElementById('report-data').textContent).runs, way = await wayOf(run), places = [], itself = v => v;
		way.paint({beginPath() {}, lineTo: (...at) => places.push(at), stroke() {}}, {toX: itself, toY: itself, em: 12}, itself);
		const [x, rank] = places.at(-1), end = columnAxis(run.record.columns).at(run.record.columns.count - 0.5);
		return [x === end, rank === run.path.rank].join();
	})()`
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](drawn, chromedp.EvalAwaitPromise))
	if err != nil || got != "true,true" {
		t.Errorf("ends at the makespan and on its rank: %s, %v", got, err)
	}
}

// TestQueuesInBrowser: the queues of a device have rows below that of their rank, and say where the path is.
func TestQueuesInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	b := newBrowser(t)
	p := hpl.DefaultParams(400, 2, 2)
	p.UseVariant(hpl.RocHPL)
	save := func(name, text string) string {
		return saved(t, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	platform := save("platform.xml", `<platform version="4.1"><cluster id="c" prefix="c-" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us">
		<prop id="device_launch" value="1us"/><prop id="device_latency" value="1us"/></cluster></platform>`)
	file := filepath.Join(t.TempDir(), "run.html")
	played(t, "--quiet", "--platform", platform, "--kernels", save("k.yaml", "version: 1\nunit: s\nkernels: {\"*\": 1e-5}\n"), "--report", file, hplOf(t, p))
	b.open(file)
	eval[chromedp.Void](b, "document.querySelector('#timeline input[type=search]').focus()")
	b.do(chromedp.KeyEvent("pdpan" + kb.Enter))
	if said := eval[string](b, "document.querySelector('#timeline .readout').textContent"); !strings.Contains(said, ", queue compute: pdpan") {
		t.Errorf("of pdpan it says %q", said)
	}
	for section, want := range map[string]string{"answer": "A device is busy for ", "path": "queue compute", "timeline": "device"} {
		if text := eval[string](b, "document.querySelector('#"+section+"').textContent"); !strings.Contains(text, want) {
			t.Errorf("%s without %q", section, want)
		}
	}
	b.quiet(file)
}

// TestAnswerInBrowser: phases have the shares that the text has, of the mean rank's time, and one host is one.
func TestAnswerInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	b := newBrowser(t)
	file, result := reportOf(t, "--ranks-per-host", "6")
	b.open(file)
	type times []struct {
		Mean float64 `json:"mean_s"`
	}
	var want struct {
		Kinds  times `json:"time_by_kind"`
		Phases times `json:"time_by_phase"`
	}
	noError(t, json.Unmarshal(result, &want))
	all, longest := 0.0, 0.0
	for _, k := range want.Kinds {
		all += k.Mean
	}
	for _, p := range want.Phases {
		longest = max(longest, p.Mean)
	}
	const share = "[...document.querySelectorAll('#answer figure')].find(f => f.textContent.startsWith('Phases')).querySelector('tbody tr td:nth-child(3)').textContent"
	if got, want := eval[string](b, share), fmt.Sprintf("%.1f %%", 100*longest/all); got != want {
		t.Errorf("the longest phase takes %s, want %s", got, want)
	}
	if got := eval[string](b, "document.querySelector('.facts').textContent"); !strings.Contains(got, "6on 1 host") || strings.Contains(got, "hosts") {
		t.Errorf("facts %q", got)
	}

	// The first lines: program, machine, share of the peak, how sure.
	for selector, want := range map[string]string{"h1": "HPL, N = ", ".machine": "dahu: 32 nodes of 2 x 16-core Intel Xeon Gold 6130",
		".facts .main:nth-child(2) .note": "% of 403.2 Gflop/s, the peak", // 6 cores of 2.1 GHz and 32 flop
		".confidence":                     "No interval: "} {
		if got := eval[string](b, "document.querySelector('"+selector+"').textContent"); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", selector, got, want)
		}
	}
	// A name has one colour: those of kernels and phases are none of the kinds', and waiting is no kind.
	if got := eval[string](b, "palette.slice(1).filter(c => Object.values(known).includes(c) && c !== known.wire && c !== known.contention && c !== known.latency).join()"); got != "" {
		t.Errorf("%s: of kinds, and of others", got)
	}
	if got := eval[string](b, "document.querySelector('#matrix .legend').textContent"); !strings.HasPrefix(got, "computewaitingin send, recv, exchange, wait, collectivepoll") {
		t.Errorf("states %q", got)
	}
	// On a wide screen sentences use the width.
	b.do(chromedp.EmulateViewport(3840, 2000))
	b.open(file)
	if got := eval[float64](b, "document.querySelector('.diagnosis li:last-child').getBoundingClientRect().left / innerWidth"); got < 0.5 {
		t.Errorf("the last sentence begins at %g of the width", got)
	}
	b.quiet(file)
}

// TestWhatIfInBrowser: changes that gain next to nothing share a row, and all are in the table behind it.
func TestWhatIfInBrowser(t *testing.T) {
	b := newBrowser(t)
	file, _ := reportOf(t)
	b.open(file)
	const rows = `(gains => pathOf({labels: [], path: {parts: [], notes: [], rank: 0, seconds_s: 100,
		what_if: gains.map((gain_s, i) => ({what: "change " + i, gain_s}))}})[1])`
	for gains, want := range map[string]string{
		"[0.5, 0.1, 0.099, 0.01]": "change 0500 ms0.50 %not confirmed|change 1100 ms0.10 %not confirmed|2 more changes gain less than 0.1 % each",
		"[0.01]":                  "1 change gains less than 0.1 %",
		"[0.5]":                   "change 0500 ms0.50 %not confirmed",
	} {
		got := eval[string](b, "[..."+rows+"("+gains+").querySelectorAll('tbody tr')].map(r => r.textContent).join('|')")
		behind := eval[bool](b, "!!"+rows+"("+gains+").querySelector('details')")
		if got != want || behind != strings.Contains(want, "less than") {
			t.Errorf("%s: %q, want %q; a table behind it: %v", gains, got, want, behind)
		}
	}
}

// TestFineScreens: labels of curves are as large as the text beside them, whatever number of pixels
// the screen has for one of the page.
func TestFineScreens(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	b := newBrowser(t)
	file, _ := reportOf(t)
	for _, scale := range []float64{0.5, 1, 2} {
		b.do(chromedp.EmulateViewport(1280, 900, chromedp.EmulateScale(scale)))
		b.open(file)
		const drawn, beside = "parseFloat(document.querySelector('.chart canvas').getContext('2d').font)", "parseFloat(getComputedStyle(document.querySelector('.chart')).fontSize)"
		if got, want := eval[float64](b, drawn)/scale, eval[float64](b, beside); math.Abs(got-want) > 1 {
			t.Errorf("at %g pixels for one: labels of %g, want %g", scale, got, want)
		}
	}
}

// TestNumbersInBrowser: how the page writes numbers, ticks and levels.
func TestNumbersInBrowser(t *testing.T) {
	b := newBrowser(t)
	file, _ := reportOf(t)
	b.open(file)
	for expression, want := range map[string]string{
		"seconds(0)": "0 s", "seconds(12.3456)": "12.35 s", "seconds(0.0012)": "1.200 ms", "seconds(2.5e-7, 2)": "250 ns", "seconds(1234.56, 5)": "1,234.6 s",
		"bytes(999)": "999 B", "bytes(1.5e6)": "1.50 MB", "flops(24.5)": "24.50 Gflop/s", "percent(0.1234)": "12.3 %",
		"between(0.00348852, 0.00348876)": "3.4885 ms to 3.4888 ms", "between(1, 2)": "1.000 s to 2.000 s", "between(3, 3)": "3.000 s to 3.000 s",
		"signed(-2, seconds)": "−2.000 s", "moment(1.25)": "1.25 s", "inkOn('#0072B2') + inkOn('#F0E442')": "#ffffff#000000",
		// Ticks between 0 and 10, at most about 5: every 2.
		"ticks(0, 10, 5).list.join()": "0,2,4,6,8,10",
		// Steps are ticked in their middle.
		"countedTicks(String)(0, 3, 3).map(t => t.text + '@' + t.at).join()": "0@0.5,1@1.5,2@2.5",
		// 2 planes of 2 rows, 0,9,4 and 1,1,1 the first, by columns; halved across: means round up, (0+9+1)/2 = 5; the last column is alone.
		"Array.from(new Pyramid(2, 2, 3, Uint8Array.of(0,1, 9,1, 4,1, 7,8, 7,8, 7,8), [], upTo(2)).level(1, 0).mean).join()": "5,4,1,1,7,7,8,8",
		// Halved down: (0+1+1)/2 = 1, (9+1+1)/2 = 5, (4+1+1)/2 = 3.
		"Array.from(new Pyramid(1, 2, 3, Uint8Array.of(0,1, 9,1, 4,1), [], upTo(2)).level(0, 1).mean).join()": "1,5,3",
		// The greatest is kept.
		"Array.from(new Pyramid(1, 2, 2, Uint8Array.of(0,9,4,1), [], upTo(2)).level(1, 1).most).join()": "9",
		// Rows 1,3 and 2,4 in another order.
		"Array.from(new Pyramid(1, 2, 2, Uint8Array.of(1,2,3,4), [], [1,0]).level(0, 0).mean).join()": "2,4,1,3",
		// Zoom keeps what is under the pointer, and ends at the whole.
		"(e => { e.zoom(0.5, 2); return [e.low, e.high] })(new Extent(0, 8, 1)).join()":         "1,5",
		"(e => { e.set(-5, 30); return [e.low, e.high] })(new Extent(0, 8, 1)).join()":          "0,8",
		"(e => { e.set(7, 8); e.move(1); return [e.low, e.high] })(new Extent(0, 8, 1)).join()": "7,8",
	} {
		if got := eval[string](b, "String("+expression+")"); got != want {
			t.Errorf("%s = %q, want %q", expression, got, want)
		}
	}
	b.quiet(file)
}
