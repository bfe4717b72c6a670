package platforms

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An idRange is the numbers from first to last, of hosts from one on.
type idRange struct {
	first, last int64
	host        int32
}

// idOf returns the number of a host that is in ranges which ascend by hosts.
func idOf(ranges []idRange, host int32) int64 {
	k, ok := slices.BinarySearchFunc(ranges, host, func(r idRange, host int32) int { return cmp.Compare(r.host, host) })
	if !ok {
		k--
	}
	return ranges[k].first + int64(host-ranges[k].host)
}

// parseRadical reads the numbers of a cluster's hosts, as "0-3,7,9-10", and
// counts them; more than max are refused. Their order is that of the text.
func parseRadical(text string, max int) (ranges []idRange, count int, err error) {
	for _, c := range text {
		if c > unicode.MaxASCII {
			return nil, 0, fmt.Errorf("radical %.60q: the character %#U is none of a radical: want digits, commas and ASCII hyphens (-)", text, c)
		}
	}
	for _, part := range strings.Split(text, ",") {
		r, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, 0, fmt.Errorf("radical %q: %w", text, err)
		}
		if r.last-r.first >= int64(max-count) {
			return nil, 0, fmt.Errorf("radical %q: more than %d hosts", text, MaxHosts)
		}
		r.host = int32(count)
		ranges = append(ranges, r)
		count += int(r.last - r.first + 1)
	}
	return ranges, count, nil
}

// parseRange reads "7" or "9-10".
func parseRange(text string) (idRange, error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	first, err := parseID(low)
	if err != nil {
		return idRange{}, err
	}
	last, err := parseID(high)
	if err != nil {
		return idRange{}, err
	}
	if last < first {
		return idRange{}, fmt.Errorf("range %q runs backwards", text)
	}
	return idRange{first: first, last: last}, nil
}

func parseID(text string) (int64, error) {
	id, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is not a host number: want a number below 2^31, or FIRST-LAST", text)
	}
	return int64(id), nil
}
