package replay

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/internal/linescan"
	"reprise/internal/words"
	"reprise/platforms"
)

// ErrTooManyRanks is wrapped by errors of mappings that a platform is too small
// for.
var ErrTooManyRanks = errors.New("more ranks than places")

// FillHosts maps ranks to hosts in order, perHost consecutive ranks on each.
// perHost = 0 takes the smallest number that fits, where no host gets more ranks
// than it has cores.
func FillHosts(p *platforms.Platform, ranks, perHost int) ([]int32, error) {
	limit, each := perHost, fmt.Sprintf("%d per host", perHost)
	capacity := func(host int) int { return limit }
	switch {
	case perHost < 0:
		return nil, fmt.Errorf("%d ranks per host, want a positive number", perHost)
	case perHost == 0:
		capacity = func(host int) int { return min(limit, p.Host(host).Cores) }
		limit, each = fewestPerHost(p, ranks), "one per core"
	}
	hosts := make([]int32, 0, ranks)
	for h := 0; h < p.NumHosts() && len(hosts) < ranks; h++ {
		for n := capacity(h); n > 0 && len(hosts) < ranks; n-- {
			hosts = append(hosts, int32(h))
		}
	}
	if len(hosts) < ranks {
		return nil, fmt.Errorf("%s: %w: %d ranks, and room for %d on %s (%s)",
			p.Name(), ErrTooManyRanks, ranks, len(hosts), words.Count(p.NumHosts(), "host"), each)
	}
	return hosts, nil
}

// fewestPerHost returns the smallest k such that the hosts take all ranks if each
// gets k of them, or one per core if it has fewer cores; the largest number of
// cores if there is none.
func fewestPerHost(p *platforms.Platform, ranks int) int {
	hostsWith := map[int]int{} // by number of cores
	most := 1
	for h := range p.NumHosts() {
		cores := p.Host(h).Cores
		hostsWith[cores]++
		most = max(most, cores)
	}
	takers, places, k := p.NumHosts(), p.NumHosts(), 1
	for ; places < ranks && k < most; k++ {
		takers -= hostsWith[k]
		places += takers
	}
	return k
}

// maxHostLines bounds the places that a hostfile can ask for.
const maxHostLines = 1 << 24

// ParseHostfile reads a hostfile as smpirun does: one host name per line, or
// name:k for k ranks; empty lines and those that begin with # are skipped. Ranks
// take the places in order, and start again at the first one when they are used
// up. The name is for errors.
func ParseHostfile(r io.Reader, name string, p *platforms.Platform, ranks int) ([]int32, error) {
	var places []int32
	scan, n := linescan.New(r), 1
	for ; scan.Scan(); n++ {
		text := scan.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // a byte order mark
		}
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		host, count, err := parseHostLine(text, p)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, words.Brief(err))
		}
		if count > maxHostLines-len(places) {
			return nil, fmt.Errorf("%s:%d: more than %d places", name, n, maxHostLines)
		}
		for ; count > 0 && len(places) < ranks; count-- {
			places = append(places, int32(host))
		}
	}
	if err := linescan.Err(scan); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n, err)
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("%s: no hosts", name)
	}
	hosts := make([]int32, ranks)
	for r := range hosts {
		hosts[r] = places[r%len(places)]
	}
	return hosts, nil
}

// parseHostLine reads "name" or "name:k".
func parseHostLine(text string, p *platforms.Platform) (host, count int, err error) {
	name, k, several := strings.Cut(text, ":")
	count = 1
	if several {
		if count, err = strconv.Atoi(strings.TrimSpace(k)); err != nil || count < 1 {
			return 0, 0, fmt.Errorf("%q: %q ranks, want a positive number", text, k)
		}
	}
	name = strings.TrimSpace(name)
	host, ok := p.HostIndex(name)
	if !ok {
		if strings.ContainsAny(name, " \t") {
			return 0, 0, fmt.Errorf("%q, want the name of a host, or NAME:K for K ranks", text)
		}
		return 0, 0, fmt.Errorf("host %q is not in platform %s", name, p.Name())
	}
	return host, count, nil
}
