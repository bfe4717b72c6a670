package compare

import (
	"bytes"
	"errors"
	"fmt"

	"reprise/report"
)

// isPage tells a page from JSON.
func isPage(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")) }

// readPage reads the result in a page of one run.
func readPage(text []byte) (*Result, error) {
	runs, err := report.Read(bytes.NewReader(text))
	switch {
	case errors.Is(err, report.ErrNoReport):
		return nil, fmt.Errorf("%w: %w", errKind, err)
	case err != nil:
		return nil, err
	case len(runs) != 1:
		return nil, fmt.Errorf("a page of %d runs: compare pages of one", len(runs))
	}
	r, err := decode(runs[0].Result)
	if err != nil {
		return nil, err
	}
	r.Page = runs[0]
	return r, nil
}
