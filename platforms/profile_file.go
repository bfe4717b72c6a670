package platforms

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/internal/textutil"
)

// profileFile returns the profile in a file. As in SimGrid a relative name is looked for
// in the working directory, then in that of the description.
func (b *builder) profileFile(name string) (*Profile, error) {
	if b.limits.alone {
		return nil, fmt.Errorf("the file %s is not read: this description has to hold its profiles, as text of <trace> elements", textutil.Quote(name))
	}
	paths := []string{name}
	if !filepath.IsAbs(name) {
		paths = append(paths, filepath.Join(filepath.Dir(b.name), name))
	}
	for _, path := range paths {
		if p, ok := b.table.files[path]; ok {
			return p, nil
		}
		text, err := b.readProfile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p, err := parseProfile(text, name, path, 1, 0)
		b.table.files[path] = p
		return p, err
	}
	return nil, fmt.Errorf("there is no file %q in the working directory or that of the description", name)
}

// readProfile returns the text of a file, and takes it into the hash of the description.
func (b *builder) readProfile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: want a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(b.table.left)+1))
	if err != nil {
		return "", err
	}
	if b.table.left -= len(text); b.table.left < 0 {
		return "", fmt.Errorf("%s: all profiles together are longer than %d MiB", path, maxProfiles>>20)
	}
	b.sum.Write(text)
	return string(text), nil
}

// maxProfiles bounds the files of profiles, all together.
const maxProfiles = 64 << 20 // bytes
