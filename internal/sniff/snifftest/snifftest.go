// Package snifftest has the beginnings of files of many formats, for tests of what reads files.
package snifftest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Sample is the beginning of a file of a format.
type Sample struct {
	Name string
	Text string
	What string // part of what it is called
}

// tar returns an archive of one file.
func tar(name, text string) string {
	header := name + strings.Repeat("\x00", 257-len(name)) + "ustar\x00"
	return header + strings.Repeat("\x00", 512-len(header)) + text
}

// Samples of formats that no command reads, then of those that some do.
//
// They are made by hand after documents of the formats, or are the first bytes of a file that a tool has written, and
// are as short as the format can be told by. A format that begins in several ways, with a comment or in an older
// version, has a sample of each.
var Samples = []Sample{
	{"goal", "num_ranks 2\n\nrank 0 {\nl1: send 10b to 1 tag 5\n}\nrank 1 {\nl1: recv 10b from 0 tag 5\n}\n",
		"GOAL schedule"},
	{"goal-comment", "// made by hand\n/* two */\nnum_ranks 8\nrank 0 {\n}\n", "GOAL schedule"},
	{"goal-binary", "\x7f\x10\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x00\x00\x00\x00",
		"GOAL schedule in binary"},
	{"allprof", "# htor's PMPI Tracer 0.9 Output File\n# time: Tue\n# hostname: n0\n#\nMPI_Initialized:1200000.1:-:1200000.2\nMPI_Init:1200001.0:0,0:1200002.0\n", "liballprof"},
	{"allprof-bare", "MPI_Init:1200001.0:0,0:1200002.0\nMPI_Comm_rank:1:2,0,8:3\n", "liballprof"},
	{"dumpi", "\xff\xaa\xddDUMPI\x00\x00\x00\x00\x00\x01", "DUMPI trace"},
	{"dumpi-text", "MPI_Init entering at walltime 8153.0493, cputime 0.004 seconds in thread 0.\nint argc=1\n",
		"DUMPI trace"},
	{"dumpi-meta", "hostname=nid00012\nnumprocs=64\nusername=u\nstartime=1400000000\nfileprefix=dumpi-2014\nversion=1\n",
		"DUMPI traces"},
	{"otf2", "\x03BOTF2\x00\x03\x02\x03\x00\x02\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x40\x00", "OTF2 archive"},
	{"otf2-events", "\x03B\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x05\x01\x00\x00",
		"OTF2 archive"},
	{"paraver", "#Paraver (10/04/2020 at 15:22):1000_ns:1(4):1:4(1:1,1:1,1:1,1:1)\n1:1:1:1:1:0:100:1\n", "Paraver trace"},
	{"dimemas-sddf", "/*\n * \"Date\" \"2008\"\n */ ;;\n\n#1:\n// \"CPU burst\"\n\"CPU burst\" {\n\tint\t\"taskid\";\n\tdouble\t\"time\";\n};;\n\"CPU burst\" { 0, 0, 0.01 };;\n", "Dimemas trace"},
	{"dimemas-cfg", "#DIMEMAS_CONFIGURATION\n#0:\n\"wide area network information\" {\n",
		"machine description of Dimemas"},
	{"dimemas-cfg-sddf", "SDDFA\n/*\n * \"Dimemas\" \"configuration\"\n */ ;;\n#1:\n\"environment information\" {\n\tchar\t\"machine_name\"[];\n};;\n", "machine description of Dimemas"},
	{"chakra", "\x07\x0a\x050.0.4\x12\x08\x01\x12\x09COMP_NODE\x18\x04\x30\x05", "Chakra execution trace"},
	{"chakra-attributes", "\x09\x12\x07\x0a\x03pid\x38\x01\x12\x12\x0bALL_REDUCE0\x18\x07\x30\x05",
		"Chakra execution trace"},
	{"chakra-bare", "\x00\x0c\x08\x01\x12\x06NODE_1\x18\x04", "Chakra execution trace"},
	{"chakra-json", "{\"version\": \"0.0.4\"}\n{\n  \"id\": \"1\",\n  \"name\": \"a\",\n  \"type\": \"COMM_COLL_NODE\"\n}\n", "Chakra execution trace as JSON"},
	{"chakra-host", "{\n  \"schema\": \"1.0.2-chakra.0.0.4\", \"pid\": 7, \"nodes\": [\n    {\"id\": 2, \"ctrl_deps\": 1}]}\n", "Chakra execution trace as JSON"},
	{"cubex", tar("anchor.xml", "<?xml version=\"1.0\"?>\n<cube version=\"4.0\">\n"), "profile of Score-P"},
	{"cubex-index", tar("./3.index", "CUBEX.INDEX\x01\x00\x00\x00"), "profile of Score-P"},
	{"cube", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"3.0\">\n", "profile of Score-P"},
	{"dimemas", "#DIMEMAS:\"t\":1,000000000000238:2(1,1),1,0\nd:1:1:2:0:1\n", "Dimemas trace"},
	{"report", "{\n  \"makespan_s\": 1.5,\n  \"gflops\": 0\n}\n", "report of replay"},
	{"json", "{\"a\": [1, 2]}\n", "JSON"},
	{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x04\x00\x43\xbe\xb7\xe8\x01\x00\x00\x00", "compressed file or an archive"},
	{"zstd", "\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00a", "compressed file or an archive"},
	{"msg", "p0 init\np0 send p1 1e6\np1 recv p0\n", "replay text of SimGrid's MSG or S4U"},
	{"s4u", "# for p0 only\nFernand send Alice 1e6\nFernand compute 1e9\n", "replay text of SimGrid's MSG or S4U"},
	{"script", "#!/bin/sh\nmpirun -np 4 ./xhpl\n", "script"},

	{"trace", "\x52\x2a\x4d\x18\x10\x00\x00\x00reprise\n\x01\x00\x00\x00\x00\x00\x00\x00", "trace of Reprise"},
	{"checkpoint", "ReprCkpt\x01\x00\x00\x00", "checkpoint of replay"},
	{"platform", "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n", "SimGrid platform"},
	{"kernels", "# models\nversion: 1\nunit: s\nkernels:\n  dgemm: {terms: {M*N*K: 1e-11}}\n", "YAML"},
	{"hpl-dat", "HPLinpack benchmark input file\nInnovative Computing Laboratory\nHPL.out      output file name (if any)\n6            device out\n1            # of problems sizes (N)\n", "HPL.dat"},
	{"hpcg-dat", "HPCG benchmark input file\nSandia National Laboratories; University of Tennessee, Knoxville\n104 104 104\n60\n", "hpcg.dat"},
	{"table", "m,n,k,duration\n10,10,10,1e-5\n20,20,20,1e-4\n", "table (CSV)"},
	{"actions", "# by smpirun\n0 init\n0 compute 1e9\n0 send 1 0 10\n", "actions of a SimGrid trace"},
	{"index", "run/rank-0.ti\nrun/rank-1.ti\n", "list of files"},
}

// Check gives a reader a file of each format but its own: its error must say what that is, and name the file.
func Check(t *testing.T, reader string, read func(path string) error, own ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, s := range Samples {
		if slices.Contains(own, s.Name) {
			continue
		}
		path := filepath.Join(dir, s.Name)
		if err := os.WriteFile(path, []byte(s.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := read(path)
		if err == nil || !strings.Contains(err.Error(), s.What) {
			t.Errorf("%s of %s: error %v, want %q", reader, s.Name, err, s.What)
		} else if !strings.Contains(err.Error(), s.Name) {
			t.Errorf("%s of %s: %v does not name the file", reader, s.Name, err)
		}
	}
}
