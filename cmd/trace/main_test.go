package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"reprise/tracegen/hpl"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"trace": main, "hpltrace": hplTrace})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"patch": patch, "cut": cutShort, "newversion": newVersion, "outcomes": outcomes},
	})
}

// hplTrace is a command for the scripts: it writes the trace of a small HPL run.
//
//	hpltrace FILE N NB P Q BCAST DEPTH
func hplTrace() {
	var v [6]int
	for i := range v {
		n, err := strconv.Atoi(os.Args[2+i])
		check(err)
		v[i] = n
	}
	p := hpl.DefaultParams(v[0], v[2], v[3])
	p.NB, p.Bcast, p.Depth = v[1], hpl.Bcast(v[4]), v[5]
	f, err := os.Create(os.Args[1])
	check(err)
	check(hpl.Generate(context.Background(), f, p, hpl.Options{Tool: "test"}))
	check(f.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// patch changes a byte: patch FILE OFFSET VALUE, where an offset below 0 counts
// from the end and a value ^X is combined with the byte by exclusive or.
func patch(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(data)
	}
	text, old := args[2], byte(0)
	if text[0] == '^' {
		text, old = text[1:], data[at]
	}
	value, err := strconv.ParseUint(text, 0, 8)
	ts.Check(err)
	data[at] = old ^ byte(value)
	ts.Check(os.WriteFile(path, data, 0o644))
}

// newVersion writes what a later version of the format may begin with: the version
// at offset 16, and at 20 the CRC-32C of what is before it: newversion FROM TO VERSION.
func newVersion(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	v, err := strconv.ParseUint(args[2], 10, 32)
	ts.Check(err)
	binary.LittleEndian.PutUint32(data[16:], uint32(v))
	binary.LittleEndian.PutUint32(data[20:], crc32.Checksum(data[:20], crc32.MakeTable(crc32.Castagnoli)))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o644))
}

// outcomes keeps the lines of a listing that say how polls came out: outcomes FROM TO.
func outcomes(ts *testscript.TestScript, _ bool, args []string) {
	var kept strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if strings.HasPrefix(line, "miss ") || strings.HasPrefix(line, "iprobe ") {
			kept.WriteString(line)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(kept.String()), 0o644))
}

// cutShort removes bytes from the end of a file: cut FILE BYTES.
func cutShort(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()-n))
}
