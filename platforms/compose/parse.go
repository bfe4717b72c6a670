package compose

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/platforms"
)

// maxCount bounds numbers of switches and cables.
const maxCount = 1 << 20

// ParseCable reads BANDWIDTH or BANDWIDTH@LATENCY, such as 100Gbps or 20GBps@0.1us; a latency
// that is not there is that of like.
func ParseCable(text string, like Cable) (Cable, error) {
	c := like
	bandwidth, latency, both := strings.Cut(text, "@")
	var err error
	if c.Bandwidth, err = platforms.ParseBandwidth(bandwidth); err != nil {
		return c, err
	}
	if both {
		c.Latency, err = platforms.ParseLatency(latency)
	}
	return c, err
}

// parseCables reads COUNTxCABLE, CABLE, which is one, or COUNT, which are like the given one.
func parseCables(text string, like Cable) (n int, c Cable, err error) {
	number, cable, both := strings.Cut(text, "x")
	_, err = strconv.Atoi(text)
	switch bare := err == nil; {
	case bare:
		n, err = parseCount(text)
		return n, like, err
	case !both:
		c, err = ParseCable(text, like)
		return 1, c, err
	}
	if n, err = parseCount(number); err == nil {
		c, err = ParseCable(cable, like)
	}
	return n, c, err
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxCount {
		return 0, fmt.Errorf("%s is no number of 1 to %d", textutil.Quote(text), maxCount)
	}
	return n, nil
}

// pair is KEY=VALUE.
type pair struct{ key, value string }

// parsePairs reads words KEY=VALUE.
func parsePairs(text string) (list []pair, err error) {
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%s is no KEY=VALUE", textutil.Quote(word))
		}
		list = append(list, pair{key, value})
	}
	return list, nil
}
