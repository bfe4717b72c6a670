package sniff

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
)

// This file has the tests of formats that no fixed first bytes tell; the table (table.go) names them. The comment of
// each says how the format begins.

// isBinaryGOAL: one of two numbers of 64 bits, then the number of ranks, then the highest numbers of a core and of a
// network interface.
func isBinaryGOAL(head []byte) bool {
	if len(head) < 14 {
		return false
	}
	magic, ranks := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint32(head[8:])
	return (magic == 4223 || magic == 2342) && ranks > 0
}

// isOTF2: a chunk of a buffer with its byte order, which in the anchor file holds the name.
func isOTF2(head []byte) bool {
	if len(head) < 20 || head[0] != 3 || head[1] != 'B' && head[1] != '#' {
		return false
	}
	return string(head[2:7]) == "OTF2\x00" || bytes.IndexByte(head[2:10], 0) >= 0
}

// isChakra: messages of protobuf behind their lengths: first the metadata, whose field 1 is a version, and
// then nodes, of which field 1 is a number and field 2 a name. Either may be empty, but not both.
func isChakra(head []byte) bool {
	size, n := binary.Uvarint(head)
	if n <= 0 || size > uint64(len(head)) {
		return false
	}
	meta, node := head[n:], head[min(len(head), n+int(size)):]
	if size > 2 && size < uint64(len(meta)) && meta[0] == 1<<3|2 && int(meta[1]) <= int(size)-2 {
		return regexp.MustCompile(`^\d+\.\d+[\w.+-]*$`).Match(meta[2 : 2+int(meta[1])])
	}
	if size > 0 && (len(meta) == 0 || meta[0] != 2<<3|2) { // of metadata, attributes
		return false
	}
	if _, n = binary.Uvarint(node); n <= 0 {
		return false
	}
	if node = node[n:]; len(node) > 1 && node[0] == 1<<3 {
		_, n = binary.Uvarint(node[1:])
		node = node[1+max(0, n):]
	}
	if len(node) < 3 || node[0] != 2<<3|2 || int(node[1]) > len(node)-4 {
		return false
	}
	name, behind := node[2:2+int(node[1])], node[2+int(node[1]):]
	return regexp.MustCompile(`^[\x20-\x7e]+$`).Match(name) && behind[0] == 3<<3 && behind[1] <= 16 // the type
}

// isCubex: a POSIX tar archive whose first file is one of those that CUBE puts into it.
func isCubex(head []byte) bool {
	if len(head) < 512 || string(head[257:262]) != "ustar" {
		return false
	}
	name, _, _ := bytes.Cut(head[:100], []byte{0})
	return regexp.MustCompile(`^(\./)?(anchor\.xml|remapping\.spec|\d+\.(index|data))$`).Match(name) ||
		bytes.Contains(head[512:min(len(head), 1024)], []byte("CUBEX."))
}

// isPacked: the magic of gzip, zstd, xz, bzip2 or zip.
func isPacked(head []byte) bool {
	return slices.ContainsFunc([]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "PK\x03\x04"},
		func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) })
}

// isDUMPIMeta: lines of keys and values, one of them the prefix of the files.
func isDUMPIMeta(head []byte) bool {
	return all(lines(head, ""), `^\w+=`) && regexp.MustCompile(`(?m)^(fileprefix|numprocs|hostname)=`).Match(head)
}

// isActorActions: the name of an actor, then an action of SimGrid's examples of MSG and S4U, in all lines.
func isActorActions(head []byte) bool {
	list := lines(head, "#")
	return all(list, `^\S+\s+(init|finalize|compute|sleep|send|recv|Isend|Irecv|wait|barrier|bcast|reduce|allReduce|comm_size|open|read|close|delete)(\s+\S+){0,3}$`) && list[0][0] > '9'
}

// isYAML: the mark of a document, or a key in the first line that is no comment.
func isYAML(head []byte) bool {
	list := lines(head, "#")
	return len(list) > 0 && (list[0] == "---" || all(list[:1], `^[A-Za-z_][\w-]*:(\s|$)`))
}

// isTable: commas in all of several lines, and as many in the second as in the first.
func isTable(head []byte) bool {
	list := lines(head, "#")
	return len(list) > 1 && all(list, `,`) && strings.Count(list[0], ",") == strings.Count(list[1], ",")
}

// all reports whether there are lines and each of them matches a pattern.
func all(list []string, pattern string) bool {
	re := regexp.MustCompile(pattern)
	return len(list) > 0 && !slices.ContainsFunc(list, func(line string) bool { return !re.MatchString(line) })
}

// lines returns the lines of a text that are whole and have something but a comment, none of what is no text.
func lines(head []byte, comment string) []string {
	if bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	text := string(head)
	if end := strings.LastIndexByte(text, '\n'); len(head) == HeadSize && end > 0 {
		text = text[:end]
	}
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && (comment == "" || !strings.HasPrefix(line, comment)) {
			list = append(list, line)
		}
	}
	return list
}
