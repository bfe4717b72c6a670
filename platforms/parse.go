package platforms

import (
	"crypto/sha256"
	"fmt"
	"io"

	"reprise/internal/regular"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
)

// Load reads the description in the file at path; see Parse.
func Load(path string) (*Platform, error) { return regular.Load(path, Parse) }

// Parse reads a SimGrid platform description (XML, versions 3 to 4.1). Errors begin with name and line; anything that
// the description asks for and this package does not do is such an error.
func Parse(r io.Reader, name string) (*Platform, error) {
	head := sniff.Remember(r)
	p, err := parseWithin(head, name, defaultLimits)
	return p, head.Instead(err, name, sniff.Platform)
}

// ParseAlone is Parse of a description that comes from elsewhere, with an archive for example: one that
// names files of profiles is an error, and none of them is opened.
func ParseAlone(r io.Reader, name string) (*Platform, error) {
	lim := defaultLimits
	lim.alone = true
	return parseWithin(r, name, lim)
}

// parseWithin is Parse with other limits.
func parseWithin(r io.Reader, name string, lim limits) (*Platform, error) {
	hash := sha256.New()
	root, err := readTree(io.TeeReader(r, hash), name, lim.text)
	if err != nil {
		return nil, err
	}
	if root.name != "platform" {
		return nil, fmt.Errorf("%s:%d: %w", name, root.line, textutil.Brief(fmt.Errorf("want a <platform>, found %v", root)))
	}
	modernise(root)
	if err := checkTree(root, name); err != nil {
		return nil, err
	}
	p, err := build(root, name, lim, hash)
	if err == nil {
		hash.Sum(p.hash[:0])
	}
	return p, err
}
