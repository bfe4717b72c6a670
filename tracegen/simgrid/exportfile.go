package simgrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/trace"
)

// IndexOf returns the name of the index that ExportFile writes beside the file at path.
func IndexOf(path string) string { return path + ".index" }

// ExportFile writes all ranks as one file, and beside it the index that names it,
// [IndexOf] path. Each appears whole or not at all. What is no regular
// file, such as a named pipe, gets no index. The trace may be a stream.
func ExportFile(ctx context.Context, path string, t *trace.Trace, o ExportOptions) (*Exported, error) {
	if err := checkName(path); err != nil {
		return nil, err
	}
	indexed := true
	if info, err := os.Stat(path); err == nil {
		indexed = info.Mode().IsRegular()
	}
	if indexed { // a name that has room for no .index is refused before the work
		if err := atomicfile.Check(IndexOf(path)); err != nil {
			return nil, err
		}
	}
	var sum *Exported
	err := atomicfile.Write(path, func(w io.Writer) (err error) {
		sum, err = Export(ctx, w, t, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !indexed {
		return sum, nil
	}
	return sum, atomicfile.Write(IndexOf(path), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, path)
		return err
	})
}

// checkName refuses names that a line of an index cannot hold.
func checkName(path string) error {
	if strings.TrimSpace(path) != path || strings.ContainsAny(path, "\r\n") {
		return fmt.Errorf("%q: an index cannot hold a name with blanks around it or line breaks", path)
	}
	return nil
}

// indexName is the name of the index in a directory.
const indexName = "trace.index"

// exportMemory bounds the text held for all ranks together, if their number does
// not make it more.
const exportMemory = 64 << 20 // bytes

// Bytes of text that a rank may hold.
const (
	leastHeld = 1 << 10
	mostHeld  = 64 << 10
)

// ExportDir writes a file per rank and their index, "trace.index", into the
// directory dir, which is made, or was empty. It appears whole or not at all. The
// index names the files by way of dir, as SimGrid takes relative names to begin
// at its working directory. The trace may be a stream.
func ExportDir(ctx context.Context, dir string, t *trace.Trace, o ExportOptions) (*Exported, error) {
	if err := checkName(dir); err != nil {
		return nil, err
	}
	x := newExporter(t, &o)
	err := atomicfile.WriteDir(dir, func(temp string) error {
		ranks := t.Header().Ranks
		x.hold = min(mostHeld, max(leastHeld, exportMemory/ranks))
		x.flush = func(rank int32, text []byte) error { return appendTo(filepath.Join(temp, rankFile(rank)), text) }
		for r := range x.ranks {
			x.ranks[r].text = append(x.ranks[r].text, o.comment()...)
		}
		if _, err := x.run(ctx, t); err != nil {
			return err
		}
		return writeIndex(filepath.Join(temp, indexName), dir, ranks)
	})
	if err != nil {
		return nil, err
	}
	return &x.sum, nil
}

func rankFile(rank int32) string { return fmt.Sprintf("rank-%d.ti", rank) }

// writeIndex writes the list of the files that will be in dir.
func writeIndex(path, dir string, ranks int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = atomicfile.Buffered(f, func(w io.Writer) error {
		for r := range ranks {
			if _, err := fmt.Fprintln(w, filepath.Join(dir, rankFile(int32(r)))); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, f.Close())
}

// appendTo adds text to a file, which is open no longer than that: there may be
// more ranks than descriptors.
func appendTo(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
