// Picture draws docs/picture.svg, which README.md shows: where the time of a rank goes in
// the run of its first screen, step by step, as replay reports it.
//
//	go run ./scripts/picture [-bin bin] [-o docs/picture.svg]
//
// It replays the first 17, 34, ... steps; the differences are the bars. That takes two
// minutes. Needs the programs in -bin (make build).
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	run         = "-N 50000 --NB 128 -P 32 -Q 32 --PFACT crout --RFACT right --NBMIN 2 --BCAST 2rg --DEPTH 1 --SWAP bin"
	steps       = 391 // of the run: 50,000 columns in blocks of 128
	stepsPerBar = 17
)

// Layers of a bar, from the bottom.
const (
	dgemm = iota
	otherKernels
	messages
	polls
	numLayers
)

// Names and colours of the layers; the colour-blind can tell the colours apart.
var (
	names   = [numLayers]string{"dgemm", "other kernels", "swaps and broadcasts", "polls: waiting for a panel"}
	colours = [numLayers]string{"#0072b2", "#56b4e9", "#e69f00", "#cc79a7"}
)

// bar has the time of the mean rank per step, in milliseconds.
type bar [numLayers]float64

func main() {
	log.SetFlags(0)
	log.SetPrefix("picture: ")
	bin := flag.String("bin", "bin", "directory of the programs")
	out := flag.String("o", "docs/picture.svg", "file to write")
	flag.Parse()
	bars, err := measure(*bin)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, draw(bars), 0o666); err != nil {
		log.Fatal(err)
	}
}

// measure returns the bars of the run.
func measure(bin string) ([]bar, error) {
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	trace := filepath.Join(dir, "run.trace.zst")
	if _, err := output(bin, "tracegen", "hpl --quiet "+run+" -o "+trace); err != nil {
		return nil, err
	}
	var bars []bar
	var before report
	for end := stepsPerBar; end <= steps; end += stepsPerBar {
		text, err := output(bin, "replay", fmt.Sprintf("--quiet --json --platform dahu --steps 0:%d %s", end, trace))
		if err != nil {
			return nil, err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, err
		}
		bars = append(bars, between(&before, &r))
		before = r
	}
	return bars, nil
}

// output runs a program with arguments that have no blanks in them.
func output(bin, name, args string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(bin, name), strings.Fields(args)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	return text, nil
}

// report is the part of replay's JSON that the picture shows.
type report struct {
	Kinds   []share `json:"time_by_kind"`
	Kernels []share `json:"time_by_kernel"`
}

type share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"` // seconds, over the ranks
}

// between returns the bar of the steps that the later report has more.
func between(earlier, later *report) (b bar) {
	for sign, r := range map[float64]*report{-1: earlier, 1: later} {
		scale := sign / stepsPerBar * 1000
		for _, s := range r.Kinds {
			switch s.Name {
			case "compute":
				b[otherKernels] += scale * s.Mean
			case "poll":
				b[polls] += scale * s.Mean
			default:
				b[messages] += scale * s.Mean
			}
		}
		for _, s := range r.Kernels {
			if name, _, _ := strings.Cut(s.Name, " "); name == "dgemm" {
				b[dgemm] += scale * s.Mean
				b[otherKernels] -= scale * s.Mean
			}
		}
	}
	return b
}

// draw returns the picture of the bars as SVG, legible on light and on dark pages.
func draw(bars []bar) []byte {
	const width, height, left, top, plotWide, plotHigh = 760, 300, 56, 40, 480, 210 // pixels
	var b bytes.Buffer
	text := func(x, y float64, class, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, y, class, s)
	}
	rect := func(x, y, wide, high float64, colour string) {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, wide, high, colour)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Time per step, stacked by what takes it">
<!-- Written by scripts/picture. -->
<style>
text { font: 13px system-ui, sans-serif; fill: #222 }
.title { font-weight: 600 }
line { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } }
</style>
`, width, height)
	text(left, 20, ` class="title"`, "Time per step of HPL on 1,024 ranks of Dahu, N = 50,000 (mean rank, ms)")
	highest := 0.0
	for _, c := range bars {
		sum := 0.0
		for _, v := range c {
			sum += v
		}
		highest = max(highest, sum)
	}
	axis := 5 * math.Ceil(highest/5)
	scale := plotHigh / axis
	for v := 0.0; v <= axis; v += 5 {
		y := top + plotHigh - v*scale
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", left, left+plotWide, y, y)
		text(left-30, y+4, "", fmt.Sprintf("%2.0f", v))
	}
	wide := plotWide / float64(len(bars))
	for i, c := range bars {
		x, y := left+float64(i)*wide, float64(top+plotHigh)
		for k, v := range c {
			y -= v * scale
			rect(x+1, y, wide-2, v*scale, colours[k])
		}
		if i%5 == 0 {
			text(x, top+plotHigh+18, "", fmt.Sprint(i*stepsPerBar))
		}
	}
	text(left+plotWide-30, top+plotHigh+38, "", "step")
	for i, name := range names {
		y := top + 20 + float64(numLayers-1-i)*24
		rect(left+plotWide+20, y-11, 13, 13, colours[i])
		text(left+plotWide+40, y, "", name)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
