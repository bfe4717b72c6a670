package measure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// program is a C program of the directory helper that times the calls of a plan.
type program interface {
	source() string  // its file
	flags() []string // of the compiler, unless others are asked for
	arguments(f files, o *Options, rank, ranks int) ([]string, error)
	write(p *Plan, w io.Writer) error // the plan, as it reads it
	space() string                    // what calls work in, for people
	bytes() int64                     // of a process
	passes(p *Plan) string            // how often calls are made, for people
}

// files are what the processes have in common.
type files struct{ program, plan, shared string }

// seconds returns after how many of them no call begins.
func seconds(o *Options) string { return strconv.FormatFloat(o.Budget.Seconds(), 'g', -1, 64) }

// blasProgram times HPL's kernels: those of BLAS, and copies and row swaps.
type blasProgram struct{ *Plan }

func (blasProgram) source() string { return "kernels.c" }

// flags: HPL's copies are unrolled by hand, over pointers that may be equal, so that no compiler makes vectors of them.
func (blasProgram) flags() []string { return []string{"-O3", "-fno-tree-vectorize"} }

func (b blasProgram) bytes() int64 { return b.Plan.space.bytes() }

func (b blasProgram) arguments(f files, o *Options, rank, ranks int) ([]string, error) {
	library := o.BLAS
	if strings.ContainsRune(library, filepath.Separator) {
		if _, err := os.Stat(library); err != nil {
			return nil, fmt.Errorf("BLAS: %w", err)
		}
		var err error
		if library, err = filepath.Abs(library); err != nil {
			return nil, err
		}
	}
	list := []string{library, f.plan, f.shared, seconds(o), strconv.FormatUint(o.Seed, 10)}
	s := &b.Plan.space
	for _, n := range []int64{int64(rank), int64(ranks), int64(len(b.shapes)), s.work, s.swept, b.cached} {
		list = append(list, strconv.FormatInt(n, 10))
	}
	return list, nil
}

func (b blasProgram) write(p *Plan, w io.Writer) error { return p.write(w) }

func (blasProgram) passes(p *Plan) string {
	return fmt.Sprintf("at most %d times each on each rank, after %d calls to warm up", p.Passes, p.WarmUp)
}

func (b blasProgram) space() string {
	s := b.largest()
	text := fmt.Sprintf("in a matrix of %d x %d (%s), panels of %s columns", s.rows, s.columns, humanBytes(8*s.rows*s.columns), strings.ReplaceAll(strings.Trim(fmt.Sprint(b.panels()), "[]"), " ", ", "))
	if len(b.shapes) > 1 {
		text += fmt.Sprintf(", or as large as that of their run, of %d", len(b.shapes))
	}
	if swept := b.Plan.space.swept; swept > 0 {
		text += fmt.Sprintf("; %s are read before a call on cold ones", humanBytes(8*swept))
	}
	return text
}
