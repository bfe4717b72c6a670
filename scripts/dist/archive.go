package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of an archive.
type entry struct {
	name, from string
	mode       int64
}

// archive writes the archive of a platform into out, and returns its name.
func (s source) archive(out, platform, share string) (string, error) {
	bin, err := s.build(platform)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(bin)
	entries, err := contents(bin, share)
	if err != nil {
		return "", err
	}
	top := "reprise-" + s.version + "-" + strings.ReplaceAll(platform, "/", "-")
	f, err := os.Create(filepath.Join(out, top+".tar.gz"))
	if err != nil {
		return "", err
	}
	err = s.pack(f, top, entries)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return top + ".tar.gz", err
}

// contents lists what an archive holds, in the order of names.
func contents(bin, share string) ([]entry, error) {
	var all []entry
	for _, tree := range []struct {
		name, from string
		mode       int64
	}{{"bin", bin, 0o755}, {"share", share, 0o644}} {
		err := filepath.WalkDir(tree.from, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rest, err := filepath.Rel(tree.from, file)
			all = append(all, entry{path.Join(tree.name, filepath.ToSlash(rest)), file, tree.mode})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	pages, err := git("ls-files", "docs")
	if err != nil {
		return nil, err
	}
	for _, name := range append(strings.Fields(pages), "README.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY_LICENSES.txt") {
		all = append(all, entry{name, name, 0o644})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// pack writes a tar file, compressed, of entries below top. All are of the time of the
// commit, and of nobody.
func (s source) pack(w io.Writer, top string, entries []entry) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, e := range entries {
		data, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		h := tar.Header{Typeflag: tar.TypeReg, Name: top + "/" + e.name, Size: int64(len(data)), Mode: e.mode, ModTime: s.at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// sums is the file of checksums.
const sums = "SHA256SUMS"

// writeSums writes SHA256SUMS, as sha256sum reads it, for files of a directory.
func writeSums(dir string, names []string) error {
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), name)
	}
	return os.WriteFile(filepath.Join(dir, sums), []byte(text.String()), 0o666)
}
