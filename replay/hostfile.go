package replay

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/platforms"
)

// Bounds of what a hostfile can ask for: places, and hosts, however often named.
const (
	maxPlaces = 1 << 24
	maxNamed  = 1 << 20
)

// ParseHostfile reads a hostfile of smpirun, Open MPI, MPICH or Slurm: a host per line,
// name, name:k or name slots=k for k ranks, or several with commas between; brackets stand
// for numbers, as in node-[0-63,70]. What the platform has a host for is that host, whatever
// is in its name. Lines without an entry and what follows a # are skipped; what else Open MPI
// and MPICH know of a host means nothing here, but for max_slots. Ranks take the places in
// order, and start again at the first one when they are used up. The name is for errors.
func ParseHostfile(r io.Reader, name string, p *platforms.Platform, ranks int) ([]int32, error) {
	head := sniff.Remember(r)
	hosts, err := parseHostfile(head, name, p, ranks)
	return hosts, head.Instead(err, name, sniff.Hostfile)
}

func parseHostfile(r io.Reader, name string, p *platforms.Platform, ranks int) ([]int32, error) {
	f := hostfile{platform: p, ranks: ranks, limits: map[int32]hostLimit{}}
	scan := textutil.NewLineScanner(r)
	for f.line = 1; scan.Scan(); f.line++ {
		text := scan.Text()
		if f.line == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // a byte order mark
		}
		if err := f.add(strings.TrimSpace(text)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, f.line, textutil.Brief(err))
		}
	}
	if err := textutil.LineError(scan); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, f.line, err)
	}
	if len(f.places) == 0 {
		return nil, fmt.Errorf("%s: no hosts", name)
	}
	hosts := make([]int32, ranks)
	for r := range hosts {
		hosts[r] = f.places[r%len(f.places)]
	}
	if err := f.checkLimits(name, hosts); err != nil {
		return nil, err
	}
	return hosts, nil
}

// hostfile is what has been read of one.
type hostfile struct {
	platform *platforms.Platform
	ranks    int
	line     int
	named    int                 // hosts
	asked    int                 // places
	places   []int32             // the first of them, as many as there are ranks
	limits   map[int32]hostLimit // of hosts with max_slots
}

type hostLimit struct{ ranks, line int }

// add adds the entries of a line.
func (f *hostfile) add(text string) error {
	if text == "" || text[0] == '#' {
		return nil
	}
	if f.plain(text) {
		return f.addEntry(text, 0, 0)
	}
	text, _, _ = strings.Cut(text, "#")
	if text, _, _ = strings.Cut(text, "//"); text == "" { // a comment of Open MPI, too
		return nil
	}
	list, attributes := cutAttributes(text)
	slots, limit, err := parseAttributes(attributes)
	if err != nil {
		return err
	}
	for _, entry := range splitOutside(list, ',') {
		if err := f.addEntry(strings.TrimSpace(entry), slots, limit); err != nil {
			return err
		}
	}
	return nil
}

// plain reports whether a line is one of smpirun's: NAME or NAME:K, of a host.
func (f *hostfile) plain(text string) bool {
	if _, ok := f.platform.HostIndex(text); ok {
		return true
	}
	name, k, counted := cutCount(text)
	_, ok := f.platform.HostIndex(name)
	_, err := strconv.Atoi(k)
	return counted && ok && err == nil
}

// cutCount cuts NAME:K.
func cutCount(entry string) (name, k string, counted bool) {
	i := strings.LastIndexByte(entry, ':')
	if i < 0 {
		return entry, "", false
	}
	return strings.TrimSpace(entry[:i]), strings.TrimSpace(entry[i+1:]), true
}

// equals is an equals sign with the blanks that Open MPI lets be around it.
var equals = regexp.MustCompile(`\s*=\s*`)

// cutAttributes cuts a line into its list of hosts, and what it says about them.
func cutAttributes(text string) (list string, attributes []string) {
	fields := strings.Fields(equals.ReplaceAllString(text, "="))
	for i, f := range fields {
		if strings.Contains(f, "=") {
			return strings.Join(fields[:i], " "), fields[i:]
		}
	}
	return strings.Join(fields, " "), nil
}

// attributeNames are what Open MPI and MPICH say about a host, and what it means here.
var attributeNames = map[string]string{
	"slots": "slots", "slot": "slots", "cpus": "slots", "cpu": "slots", "count": "slots",
	"max_slots": "limit", "max-slots": "limit", "slots_max": "limit", "slots-max": "limit", "cpu_max": "limit", "cpu-max": "limit",
	"cpus_max": "limit", "cpus-max": "limit", "max_cpus": "limit", "max-cpus": "limit", "count_max": "limit", "count-max": "limit",
	"binding": "", "ifname": "", "user": "", "username": "", "user_name": "", "user-name": "", "port": "",
	"max_cpu": "limit", "max-cpu": "limit", "max_count": "limit", "max-count": "limit",
	"boards": "", "sockets": "", "sockets_per_board": "", "sockets-per-board": "", "cores": "", "cores_per_socket": "", "cores-per-socket": "", "cpu_set": "", "cpu-set": "",
}

// parseAttributes returns the ranks of each host that the attributes of a line ask for,
// and the most that they allow; 0: they do not say.
func parseAttributes(list []string) (slots, limit int, err error) {
	for _, a := range list {
		name, value, _ := strings.Cut(a, "=")
		meaning, known := attributeNames[strings.ToLower(name)]
		if !known {
			return 0, 0, fmt.Errorf("%q, known behind a host are slots=K and max_slots=K", a)
		}
		if meaning == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return 0, 0, fmt.Errorf("%q: %q ranks, want a positive number", a, value)
		}
		if meaning == "slots" {
			slots = n
		} else {
			limit = n
		}
	}
	return slots, limit, nil
}

// addEntry adds a name or NAME:K, with brackets or without.
func (f *hostfile) addEntry(entry string, slots, limit int) error {
	if _, ok := f.platform.HostIndex(entry); ok {
		return f.addHost(entry, max(slots, 1), limit)
	}
	if _, host, ok := strings.Cut(entry, "@"); ok { // USER@NAME of Open MPI
		entry = host
	}
	name, k, counted := cutCount(entry)
	if counted {
		n, err := strconv.Atoi(k)
		switch {
		case err != nil || n < 1:
			return fmt.Errorf("%q: %q ranks, want a positive number", entry, k)
		case slots > 0 && slots != n:
			return fmt.Errorf("%q has both :%d and slots=%d", entry, n, slots)
		}
		slots = n
	}
	if _, ok := f.platform.HostIndex(name); ok {
		return f.addHost(name, max(slots, 1), limit)
	}
	return expandHosts(name, func(host string) error { return f.addHost(host, max(slots, 1), limit) })
}

// addHost adds places for so many ranks on a host, which is to have no more than limit of
// them (0: any number).
func (f *hostfile) addHost(name string, ranks, limit int) error {
	i, ok := f.platform.HostIndex(name)
	switch {
	case !ok && (name == "" || strings.ContainsAny(name, " \t")):
		return fmt.Errorf("%q, want the name of a host, NAME:K or NAME slots=K for K ranks, or several with commas between",
			name)
	case !ok:
		return fmt.Errorf("host %q is not in platform %s", name, f.platform.Name())
	case ranks > maxPlaces-f.asked:
		return fmt.Errorf("more than %d places", maxPlaces)
	case f.named == maxNamed:
		return fmt.Errorf("more than %d hosts", maxNamed)
	}
	f.named++
	f.asked += ranks
	if limit > 0 {
		f.limits[int32(i)] = hostLimit{limit, f.line}
	}
	for ; ranks > 0 && len(f.places) < f.ranks; ranks-- {
		f.places = append(f.places, int32(i))
	}
	return nil
}

// checkLimits checks that no host has more ranks than max_slots.
func (f *hostfile) checkLimits(name string, hosts []int32) error {
	if len(f.limits) == 0 {
		return nil
	}
	got := map[int32]int{}
	for _, h := range hosts {
		if got[h]++; f.limits[h].ranks > 0 && got[h] > f.limits[h].ranks {
			return fmt.Errorf("%s:%d: %d ranks need more than max_slots=%d of host %q", name, f.limits[h].line, f.ranks,
				f.limits[h].ranks, f.platform.Host(int(h)).Name)
		}
	}
	return nil
}
