package sniff

import (
	"bytes"
	"regexp"
	"sync"
)

// The table of formats and their beginnings; formatOf finds the row of a file.

// format is a row of the table.
type format struct {
	kind  Kind
	what  string                 // its name, with its article
	todo  string                 // advice for the user
	guess bool                   // other files may begin so, too
	begin string                 // the first bytes
	is    func(head []byte) bool // in place of begin, if no fixed bytes tell the format
}

// Advice on formats that no command reads.
const (
	noTrace = "no command reads it; replay plays traces of tracegen, and SimGrid's text traces by their index"
	record  = "no command reads it; tracegen mpi records the program that it is of, where that runs"
)

// formatOf returns the first row that a head fits, or nil.
func formatOf(head []byte) *format {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for i := range table {
		f := &table[i]
		if f.is == nil && bytes.HasPrefix(head, []byte(f.begin)) || f.is != nil && f.is(head) {
			return f
		}
	}
	return nil
}

// table lists formats, those that are told by less after those that are told by more. A row says what the format is
// called, with its article, for "this is ..., not ...", and what to do with the file in place of what was tried. The
// kind is that of the readers which take such files: they do not complain of their own. Guesses stand last: they are
// words of one line that other texts may have, too. The formats are those that users of simulators, tracers and batch
// systems have at hand and mix up. Their beginnings are from the documents and sources of each; package snifftest has
// examples.
var table = []format{
	// Files of our own.
	{kind: Trace, what: "a trace of Reprise", todo: "replay plays it, trace shows and converts it",
		is: func(head []byte) bool { // a skippable zstd frame with the name of the format in it
			return bytes.HasPrefix(head, []byte("\x52\x2a\x4d\x18")) &&
				bytes.HasPrefix(head[min(8, len(head)):], []byte("reprise\n"))
		}},
	{kind: Checkpoint, what: "a checkpoint of replay", todo: "replay --resume goes on from it", begin: "ReprCkpt"},

	// Binary formats, by magic numbers; archives and compressed files after the formats that are kept in them.
	{kind: foreign, what: "a LogGOPSim GOAL schedule in binary",
		todo: "trace convert --from goal makes a trace of it", is: isBinaryGOAL},
	{kind: foreign, what: "a DUMPI trace", todo: "trace convert --from dumpi makes a trace of it", begin: "\xff\xaa\xddDUMPI"},
	{kind: foreign, what: "an OTF2 archive", todo: "trace convert --from otf2 makes a trace of its file NAME.otf2", is: isOTF2},
	{kind: foreign, what: "a Chakra execution trace", todo: "trace convert --from chakra makes a trace of it", is: isChakra},
	{kind: foreign, what: "a profile of Score-P (CUBE)", todo: "it has times and no messages; " + record, is: isCubex},
	{kind: foreign, what: "a compressed file or an archive", todo: "unpack it first", is: isPacked},

	// Texts, by their first words, or by words that no other format has.
	// The root or the document type of SimGrid; comments may stand before both.
	{kind: Platform, what: "a SimGrid platform (XML)", todo: "--platform reads it",
		is: matches(`^\s*(<platform|<[\s\S]*(<platform|simgrid\.dtd))`)},
	{kind: foreign, what: "a profile of Score-P (CUBE)", todo: "it has times and no messages; " + record,
		is: matches(`^\s*(<\?xml[^>]*>\s*)?(<!--[^>]*-->\s*)*<cube[\s>]`)},
	{kind: Platform, what: "XML, but no SimGrid platform", todo: "name another file",
		is: matches(`^\s*<(\?xml|!DOCTYPE|!--|[A-Za-z])`)},
	{kind: foreign, what: "a LogGOPSim GOAL schedule", todo: "trace convert --from goal makes a trace of it",
		is: matches(`^(\s+|//[^\n]*\n|/\*[^*]*\*/)*(num_ranks\s+\d|rank\s+\d+\s*\{)`)},
	{kind: foreign, what: "a trace of LogGOPSim's liballprof", todo: "trace convert --from liballprof makes a trace of it",
		is: matches(`^(# htor's|(#[^\n]*\n|\s+)*P?MPI_\w+:)`)},
	{kind: foreign, what: "a DUMPI trace as text", todo: "trace convert --from dumpi reads the binary files", is: matches(`^\s*MPI_\w+ entering at walltime`)},
	{kind: foreign, what: "the description of DUMPI traces", todo: "trace convert --from dumpi makes a trace of them", is: isDUMPIMeta},
	{kind: foreign, what: "a Paraver trace", todo: "trace convert --from prv makes a trace of it", begin: "#Paraver"},
	{kind: foreign, what: "a machine description of Dimemas", todo: "no command reads it; --platform reads SimGrid's XML",
		is: matches(`^#DIMEMAS_CONFIG|(?m)^"(wide area network|environment) information" *\{`)},
	{kind: foreign, what: "a Dimemas trace", todo: noTrace,
		is: matches(`^#DIMEMAS|(?m)^"(CPU burst|NX send|NX recv|user event|block begin|global OP)" *\{`)},
	{kind: Dat, what: "an HPL.dat", todo: "tracegen hpl --hpl-dat reads it",
		is: matches(`^HPLinpack benchmark input|(?m)^[^\n]*# of problems? sizes? \(N\)`)},
	{kind: HPCGDat, what: "an hpcg.dat", todo: "tracegen hpcg --hpcg-dat reads it", begin: "HPCG benchmark input file"},
	{kind: Result, what: "a report of replay", todo: "replay compare compares it with others",
		is: matches(`^\s*\{[\s\S]*"makespan_s":`)},
	{kind: foreign, what: "a Chakra execution trace as JSON", todo: "trace convert --from chakra reads the binary form",
		is: matches(`^\s*[\[{][\s\S]*("(ctrl_deps|ctrlDeps|data_deps|dataDeps)"\s*:|"schema"\s*:\s*"[^"\n]*chakra|"type"\s*:\s*"(COMP|COMM_SEND|COMM_RECV|COMM_COLL|MEM_LOAD|MEM_STORE|METADATA)_NODE")`)},
	{kind: YAML, what: "JSON", todo: "name another file",
		is: matches(`^\s*(\{\s*("[^"\n]*"\s*:|\}\s*$)|\[\s*[\[{"\]0-9-])`)},
	// A file of actions: the number of a rank, then an action that SimGrid, of some version, knows.
	{kind: Actions, what: "a file of actions of a SimGrid trace", todo: "name the index, a list of such files",
		is: matches(`^(\s*(#[^\n]*)?\n)*\s*\d+\s+(init|finalize|compute|sleep|location|[iI]?send|[iI]?recv|sendRecv|wait|waitall|waitAll|test|barrier|bcast|reduce|all\w+|gather[vV]?|scatter[vV]?|reduce[sS]catter|e?x?scan|comm_\w+)(\s|$)`)},
	{kind: foreign, what: "a replay text of SimGrid's MSG or S4U",
		todo: "it names actors, which a deployment file puts on hosts; replay plays the texts of MPI (smpirun -replay), which number ranks", is: isActorActions},
	{kind: foreign, what: "a script", todo: "name the file that it reads or writes", begin: "#!"},

	// Guesses, by the form of the lines.
	{kind: YAML, guess: true, what: "YAML", todo: "--kernels reads kernel models, --network-noise laws of noise",
		is: isYAML},
	{kind: Table, guess: true, what: "a table (CSV)", todo: "calibrate reads tables of timings", is: isTable},
	{kind: Index, guess: true, what: "a list of files, as the index of a SimGrid trace",
		todo: "replay plays that, trace convert --from simgrid makes a trace of it", is: func(head []byte) bool {
			return all(lines(head, ""), `^[^\s,;:<>{}"=]*[./][^\s,;:<>{}"=]*$`) // a name of a file in each line
		}},
}

// matches returns whether heads match a pattern, which is compiled when it is first needed: most runs of a
// command sniff at no file, and the patterns of the table would take a millisecond of each start.
func matches(pattern string) func([]byte) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(head []byte) bool { return compiled().Match(head) }
}
