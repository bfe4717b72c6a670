package simgrid

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"reprise/internal/textutil"
)

// headSize is how much of a file IsIndex is asked about, in bytes.
const headSize = 512

// IsIndex reports whether head, the beginning of a file, can be an index: text
// without control characters.
func IsIndex(head []byte) bool {
	if len(head) == 0 {
		return false
	}
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f || c >= 0xf8 {
			return false
		}
	}
	return true
}

// readIndex makes a stream of each file that an index names. It reads line by line, as
// what is taken for an index may be anything.
func (t *Trace) readIndex(index, dir string) error {
	f, err := os.Open(index)
	if err != nil {
		return err
	}
	defer f.Close()
	// A trace of another kind, or a binary file, is told from an index by its first bytes.
	text := bufio.NewReaderSize(f, headSize)
	if head, _ := text.Peek(headSize); len(head) > 0 && !IsIndex(head) {
		return fmt.Errorf("%s: not text: want an index, which is a list of files of actions", index)
	}
	var files []string
	line := 0
	scan := textutil.NewLineScanner(text)
	for scan.Scan() {
		line++
		name := strings.TrimSpace(scan.Text())
		if name == "" {
			continue
		}
		if len(files) == MaxRanks {
			return fmt.Errorf("%s:%d: more than %d ranks", index, line, MaxRanks)
		}
		// The number of a rank and a verb are a line of a file of actions, unless a file has that name.
		if actionLine.MatchString(name) {
			if _, err := os.Stat(pathOf(dir, name)); err != nil {
				return fmt.Errorf("%s:%d: %s is an action: want the index, which is a list of files of actions", index, line,
					textutil.Quote(name))
			}
		}
		files = append(files, name)
	}
	if err := textutil.LineError(scan); err != nil {
		return fmt.Errorf("%s:%d: %w", index, line+1, err)
	}
	t.streams = make([]stream, len(files))
	for r, name := range files {
		t.streams[r] = stream{rank: int32(r), lines: lines{memory: &t.memory, path: pathOf(dir, name), name: name}}
	}
	return nil
}

var actionLine = regexp.MustCompile(`^[0-9]+\s+[a-zA-Z_]+(\s|$)`)

// pathOf returns the path of a file that an index names.
func pathOf(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readAt opens a file and reads what is at offset into buf: less than its length only
// at the end of the file. A trace is as many files as ranks, most of them small, so it
// makes no call but those it needs; an os.File takes twice as many, because it tries
// to have files polled. Its errors quote the path, which an index may have made up; a
// pipe in the place of a file is one of them, and not waited for.
func readAt(path string, buf []byte, offset int64) (int, error) {
	fd, err := retry(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return 0, textutil.Brief(fmt.Errorf("open %q: %w", path, err))
	}
	defer syscall.Close(fd)
	total := 0
	for total < len(buf) {
		n, err := retry(func() (int, error) { return syscall.Pread(fd, buf[total:], offset+int64(total)) })
		if err != nil {
			return total, textutil.Brief(fmt.Errorf("read %q: %w", path, err))
		}
		if n == 0 {
			break
		}
		total += n
	}
	return total, nil
}

// retry makes a system call until no signal interrupts it.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR {
			return n, err
		}
	}
}
