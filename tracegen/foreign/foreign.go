// Package foreign reads traces of other tools, for trace convert --from: [Convert] writes one as a trace of Reprise.
//
//	chakra       execution traces of machine learning, a file for each rank
//	dumpi        SST's binary traces, a file for each rank
//	goal         LogGOPSim's schedules, text or binary
//	liballprof   the texts of its tracer, a file for each rank
//	otf2         archives of Score-P and others: NAME.otf2 and the files beside it
//	prv          Paraver's traces, as Extrae writes them: a text, and the names of its events beside it
//
// A file of a rank stands for those of all ranks, whose names differ in the number of the rank. What a format has that
// a trace has not is in the warnings.
//
//	warnings, err := foreign.Convert(w, "liballprof", "pmpi-trace-rank-0.txt", foreign.Options{})
//
// # Stages
//
// The reader of a format hands the calls of each rank on in their order (type rank), which go to a temporary file
// without a name (type recording). When all are known, so are the communicators, which a trace names in its header,
// and the sizes of messages whose receiver knows only its room. Then the calls are written side by side.
//
// # Units
//
// Sizes are in bytes. Computations are as long as they were: a nanosecond is a flop, of which the trace says that a
// second has 10^9.
//
// # Errors
//
// An error names the file and the line or the byte; one that comes up when all is read, the rank.
//
// # Source
//
// The formats as their tools write and read them: github.com/spcl/LogGOPSim, github.com/sstsimulator/sst-dumpi,
// github.com/mlcommons/chakra, github.com/bsc-performance-tools/extrae; score-p.org (OTF2 3.0).
package foreign

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// Options says how a file is converted.
type Options struct {
	Tool, Command string            // for the header of the trace
	Progress      func(actions int) // if set, it is called with the actions that are written
}

// formats are the readers by the names of their formats.
var formats = map[string]func(name string) *recording{
	"chakra":     chakra,
	"dumpi":      dumpi,
	"goal":       goal,
	"liballprof": liballprof,
	"otf2":       otf2,
	"prv":        prv,
}

// Formats returns the names of the formats, sorted.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Convert writes the file of a name, and those beside it that belong to it, as a trace.
func Convert(w io.Writer, format, name string, o Options) (list []warning.Warning, err error) {
	var r *recording
	defer func() {
		if r != nil {
			err = errors.Join(err, r.spool.Close())
			list = r.warnings()
		}
	}()
	defer textutil.Stopped(&err)
	r = formats[format](name)
	return nil, r.write(w, format, &o)
}

// number returns a number of a text. It may be followed by its unit.
func number(what, text, unit string, least, most int64) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, unit), 10, 64)
	if err != nil || n < least || n > most {
		textutil.Stop(fmt.Errorf("%s %s, want a number of %d to %d", what, textutil.Quote(text), least, most))
	}
	return n
}

// placed, deferred, puts the place of a reader before the error that ends it.
func placed(place func() string) {
	wrong := recover()
	if wrong == nil {
		return
	}
	var err error
	func() {
		defer textutil.Stopped(&err)
		panic(wrong)
	}()
	if err != nil {
		textutil.Stop(fmt.Errorf("%s: %w", place(), err))
	}
}

// lines calls f with the lines of a text, and counts them.
func lines(in io.Reader, line *int, f func(text []byte)) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, mostLine)
	for s.Scan() {
		*line++
		f(s.Bytes())
	}
	if *line++; errors.Is(s.Err(), bufio.ErrTooLong) {
		textutil.Stop(fmt.Errorf("line of more than %d bytes", mostLine))
	}
	*line--
	textutil.Check(s.Err())
}

// mostLine bounds a line, with numbers for all ranks.
const mostLine = 1 << 26

// rankNumber finds the number of a rank in the name of a file: that behind the last "rank-", else the last one.
var rankNumber = regexp.MustCompile(`^(.*rank-)(\d+)(\D.*)?$|^(.*?)(\d+)(\D*)$`)

// rankFiles returns the files of all ranks by that of one of them.
func rankFiles(name string) []string {
	textutil.Must(os.Stat(name))
	dir, base := filepath.Split(name)
	split := func(base string) (head, number, tail string) {
		if m := rankNumber.FindStringSubmatch(base); m != nil {
			return m[1] + m[4], m[2] + m[5], m[3] + m[6]
		}
		return "", "", ""
	}
	head, number, tail := split(base)
	if number == "" {
		textutil.Stop(fmt.Errorf("%s: a name without the number of a rank, by which the files of the other ranks would be found", name))
	}
	byRank := map[int]string{}
	for _, entry := range textutil.Must(os.ReadDir(cmp.Or(dir, "."))) {
		h, n, t := split(entry.Name())
		if h != head || t != tail || n == "" {
			continue
		}
		rank, err := strconv.Atoi(n)
		if err != nil || rank >= maxRanks {
			continue
		}
		if other, ok := byRank[rank]; ok {
			textutil.Stop(fmt.Errorf("%s and %s are both of rank %d", other, dir+entry.Name(), rank))
		}
		byRank[rank] = dir + entry.Name()
	}
	files := make([]string, len(byRank))
	for rank := range files {
		file, ok := byRank[rank]
		if !ok {
			textutil.Stop(fmt.Errorf("%s: of %s the one of rank %d is missing: %s", name, textutil.Count(len(byRank), "file"), rank,
				strings.TrimPrefix(dir+head+"N"+tail, "./")))
		}
		files[rank] = file
	}
	return files
}
