package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// Bounds of what a page's data may come to once it is read.
const (
	maxUnpacked = 1 << 28 // bytes of all texts, columns undone
	maxObjects  = 1 << 20 // objects and lists of them
)

// checkBounds refuses data that would take more memory than a report has use for, before any
// of it is taken: a short text may stand for a long column, and {} for a large struct.
func checkBounds(data []byte) error {
	unpacked, objects := int64(0), 0
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case json.Delim:
			objects++
		case string:
			unpacked += unpackedSize(token, maxUnpacked-unpacked)
		}
		if unpacked > maxUnpacked {
			return fmt.Errorf("more than %d bytes of columns", maxUnpacked)
		}
		if objects > maxObjects {
			return fmt.Errorf("more than %d lists and objects", maxObjects/2)
		}
	}
}

// unpackedSize is how many bytes a text comes to if it is a column, at most some more than
// limit; else its own length.
func unpackedSize(text string, limit int64) int64 {
	deflated, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return int64(len(text))
	}
	n, err := io.Copy(io.Discard, io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), limit+1))
	if err != nil {
		return max(n, int64(len(text)))
	}
	return n
}
