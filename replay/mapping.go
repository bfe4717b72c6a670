package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/trace"
)

// This file maps each rank to a host: FillHosts in the order of the platform's hosts, ParseHostfile by a hostfile in
// any of the forms that launchers read. If a host has more ranks than cores, these share the cores (compute.go).

// ErrTooManyRanks is wrapped by the error of a mapping if the platform is too small for it.
var ErrTooManyRanks = errors.New("more ranks than places")

// FillHosts maps ranks to hosts in order, perHost consecutive ranks on each; 0: as many as PlacesOf says, as mpirun
// --map-by core does. Hosts of the patterns without get none.
func FillHosts(p *platforms.Platform, ranks, perHost int, without ...string) ([]int32, error) {
	list, err := hostsWithout(p, without)
	switch {
	case err != nil:
		return nil, err
	case perHost < 0:
		return nil, fmt.Errorf("%d ranks per host, want a positive number", perHost)
	case perHost > 0:
		return fill(p, ranks, list, fmt.Sprintf("%d per host", perHost), func(int32) int { return perHost })
	}
	each := "one per core"
	places := make([]int, p.NumHosts())
	for _, h := range list {
		if places[h], err = PlacesOf(p, int(h)); err != nil {
			return nil, err
		}
		if prop, stated := p.HostProp(int(h), RanksProperty); stated {
			each = fmt.Sprintf("%s %s; --ranks-per-host N for more", RanksProperty, prop.Value)
		}
	}
	return fill(p, ranks, list, each, func(host int32) int { return places[host] })
}

// SpreadHosts maps ranks to hosts in order, as few consecutive ranks on each as fit, where no host gets more ranks than
// it has cores: the rule for texts of SimGrid. Hosts of the patterns without get none.
func SpreadHosts(p *platforms.Platform, ranks int, without ...string) ([]int32, error) {
	list, err := hostsWithout(p, without)
	if err != nil {
		return nil, err
	}
	// The smallest limit such that the hosts take all ranks, each so many or one per core if it has
	// fewer cores; the largest number of cores if there is none.
	hostsWith, most := map[int]int{}, 1 // by number of cores
	for _, h := range list {
		cores := p.Host(int(h)).Cores
		hostsWith[cores]++
		most = max(most, cores)
	}
	limit := 1
	for takers, places := len(list), len(list); places < ranks && limit < most; limit++ {
		takers -= hostsWith[limit]
		places += takers
	}
	return fill(p, ranks, list, "one per core", func(host int32) int { return min(limit, p.Host(int(host)).Cores) })
}

// hostsWithout returns the hosts that no pattern fits, in order.
func hostsWithout(p *platforms.Platform, without []string) ([]int32, error) {
	// A pattern that fits no host is a slip, and refused.
	out := make([]bool, p.NumHosts())
	for _, text := range without {
		pattern, err := textutil.ParsePattern(text)
		if err != nil {
			return nil, &SettingError{"without", err}
		}
		found := false
		for h := range out {
			if pattern.Match(p.Host(h).Name) {
				out[h], found = true, true
			}
		}
		if !found {
			return nil, &SettingError{"without", fmt.Errorf("%s has no host %s; its first is %q", p.Name(),
				textutil.Quote(text), p.Host(0).Name)}
		}
	}
	list := make([]int32, 0, len(out))
	for h := range out {
		if !out[h] {
			list = append(list, int32(h))
		}
	}
	return list, nil
}

// fill has the hosts of a list take ranks in turn, each up to its capacity. each says what that is.
func fill(p *platforms.Platform, ranks int, list []int32, each string, capacity func(int32) int) ([]int32, error) {
	hosts := make([]int32, 0, ranks)
	for i := 0; i < len(list) && len(hosts) < ranks; i++ {
		for n := capacity(list[i]); n > 0 && len(hosts) < ranks; n-- {
			hosts = append(hosts, list[i])
		}
	}
	if len(hosts) < ranks {
		return nil, fmt.Errorf("%s: %w: %d ranks, and room for %d on %s (%s)",
			p.Name(), ErrTooManyRanks, ranks, len(hosts), textutil.Count(len(list), "host"), each)
	}
	return hosts, nil
}

// yardstick is the call whose time says how quick a host is: M, N and K of a dgemm.
var yardstick = [kernels.MaxDims]int64{4096, 4096, 256}

// slowest returns the names of the slowest hosts, which get no ranks: those on which the yardstick takes longest, in
// the mean over their cores; of equally slow hosts the first. For programs that call no dgemm the speed of the cores
// decides.
func (l *loader) slowest() ([]string, error) {
	m, n := &l.machine, l.spec.Slowest
	if n == 0 {
		return nil, nil
	}
	p := m.Platform
	if n >= p.NumHosts() {
		return nil, &SettingError{"without", fmt.Errorf("the slowest %d: %s has %d hosts", n, p.Name(), p.NumHosts())}
	}
	// Cores of a host may differ, so all of them are asked.
	gemm := slices.IndexFunc(l.header.Kernels, func(k trace.Kernel) bool { return k.Name == "dgemm" })
	seconds, order := make([]float64, p.NumHosts()), make([]int, p.NumHosts())
	for h := range order {
		order[h] = h
		ph := p.Host(h)
		if gemm < 0 {
			seconds[h] = 1 / (ph.Speed * m.factor(int32(h)))
			continue
		}
		for slot := range ph.Cores {
			host := kernels.Host{Name: ph.Name, Slot: slot, Speed: ph.Speed, Factor: m.factor(int32(h))}
			model, err := m.Kernels.Bind(host, SignatureOf(&l.header.Kernels[gemm]))
			if err != nil {
				return nil, err
			}
			seconds[h] += model.Seconds(&yardstick) / float64(ph.Cores)
		}
	}
	// The sort is stable, so that equally slow hosts keep the order of the platform.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(seconds[b], seconds[a]) })
	names := make([]string, n)
	for i := range names {
		names[i] = p.Host(order[i]).Name
	}
	return names, nil
}

// Bounds of what a hostfile can ask for: places, and hosts, however often named.
const (
	maxPlaces = 1 << 24
	maxNamed  = 1 << 20
)

// ParseHostfile reads a hostfile of smpirun, Open MPI, MPICH or Slurm: a host per line, name, name:k or name slots=k
// for k ranks, or several with commas between; brackets stand for numbers, as in node-[0-63,70]. The name of a host of
// the platform is that host, whatever characters it has. Lines without an entry and the text behind a # are skipped; of
// the further attributes that Open MPI and MPICH give a host only max_slots counts. Ranks take the places in order, and
// start again at the first one when they are used up. The name is for errors.
func ParseHostfile(r io.Reader, name string, p *platforms.Platform, ranks int) (_ []int32, err error) {
	head := sniff.Remember(r)
	defer func() { err = head.Instead(err, name, sniff.Hostfile) }()
	f := hostfile{platform: p, ranks: ranks, limits: map[int32]hostLimit{}}
	scan := textutil.NewLineScanner(head)
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
	// Ranks take the places in turn. A max_slots bounds the ranks of its host, however often the list is gone through.
	hosts, got := make([]int32, ranks), map[int32]int{}
	for r := range hosts {
		h := f.places[r%len(f.places)]
		hosts[r] = h
		if len(f.limits) == 0 {
			continue
		}
		if got[h]++; f.limits[h].ranks > 0 && got[h] > f.limits[h].ranks {
			return nil, fmt.Errorf("%s:%d: %d ranks need more than max_slots=%d of host %q", name, f.limits[h].line, ranks,
				f.limits[h].ranks, p.Host(int(h)).Name)
		}
	}
	return hosts, nil
}

// hostfile holds the entries of a hostfile read so far.
type hostfile struct {
	platform *platforms.Platform
	ranks    int                 // of the trace
	line     int                 // at hand, from 1
	named    int                 // hosts, each as often as it is named
	asked    int                 // places
	places   []int32             // hosts of the first places, at most as many as there are ranks
	limits   map[int32]hostLimit // of hosts with max_slots
}

// hostLimit is a max_slots and the line that states it.
type hostLimit struct{ ranks, line int }

// equals is an equals sign with the blanks that Open MPI allows around it.
var equals = regexp.MustCompile(`\s*=\s*`)

// add adds the entries of a line.
func (f *hostfile) add(text string) error {
	if text == "" || text[0] == '#' {
		return nil
	}
	// A line of smpirun, NAME or NAME:K of a host of the platform, is taken as it is: the name may have
	// characters that mean something to the other programs.
	name, k, counted := cutCount(text)
	_, whole := f.platform.HostIndex(text)
	_, known := f.platform.HostIndex(name)
	if _, err := strconv.Atoi(k); whole || counted && known && err == nil {
		return f.addEntry(text, 0, 0)
	}
	text, _, _ = strings.Cut(text, "#")
	if text, _, _ = strings.Cut(text, "//"); text == "" { // a comment of Open MPI, too
		return nil
	}

	// The list of hosts ends at the first NAME=VALUE. Of these the ranks of each host and the most
	// that it allows count.
	slots, limit := 0, 0 // 0: not stated
	fields := strings.Fields(equals.ReplaceAllString(text, "="))
	end := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "=") })
	if end < 0 {
		end = len(fields)
	}
	for _, a := range fields[end:] {
		name, value, _ := strings.Cut(a, "=")
		meaning, known := attributeNames[strings.ToLower(name)]
		if !known {
			return fmt.Errorf("%q, known behind a host are slots=K and max_slots=K", a)
		}
		if meaning == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("%q: %q ranks, want a positive number", a, value)
		}
		if meaning == "slots" {
			slots = n
		} else {
			limit = n
		}
	}

	// Commas in brackets stand between numbers, those outside between hosts.
	list, begin, depth := strings.Join(fields[:end], " ")+",", 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth != 0 && i < len(list)-1 { // the last comma ends the list, whatever is open
				continue
			}
			if err := f.addEntry(strings.TrimSpace(list[begin:i]), slots, limit); err != nil {
				return err
			}
			begin = i + 1
		}
	}
	return nil
}

// cutCount cuts NAME:K.
func cutCount(entry string) (name, k string, counted bool) {
	i := strings.LastIndexByte(entry, ':')
	if i < 0 {
		return entry, "", false
	}
	return strings.TrimSpace(entry[:i]), strings.TrimSpace(entry[i+1:]), true
}

// attributeNames are the attributes of a host in Open MPI and MPICH, with their meaning here.
var attributeNames = map[string]string{
	"slots": "slots", "slot": "slots", "cpus": "slots", "cpu": "slots", "count": "slots",
	"max_slots": "limit", "max-slots": "limit", "slots_max": "limit", "slots-max": "limit", "cpu_max": "limit", "cpu-max": "limit",
	"cpus_max": "limit", "cpus-max": "limit", "max_cpus": "limit", "max-cpus": "limit", "count_max": "limit", "count-max": "limit",
	"binding": "", "ifname": "", "user": "", "username": "", "user_name": "", "user-name": "", "port": "",
	"max_cpu": "limit", "max-cpu": "limit", "max_count": "limit", "max-count": "limit",
	"boards": "", "sockets": "", "sockets_per_board": "", "sockets-per-board": "", "cores": "", "cores_per_socket": "", "cores-per-socket": "", "cpu_set": "", "cpu-set": "",
}

// addEntry adds a name or NAME:K, with brackets or without. slots and limit are those of its line. A
// host of exactly that name comes before every other reading of the entry.
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
	if strings.Count(name, "[") > maxBrackets {
		return fmt.Errorf("%q has more than %d brackets", name, maxBrackets)
	}
	return expandHosts("", name, func(host string) error { return f.addHost(host, max(slots, 1), limit) })
}

// addHost adds places for so many ranks on a host. limit is the most ranks that the host may have, 0 for any number.
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
	// No more places are kept than there are ranks, so that a file of a few bytes that asks for millions of them
	// takes no memory.
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

// maxBrackets bounds the brackets of a name: Slurm has no more dimensions.
const maxBrackets = 5

// expandHosts calls add for each host that prefix and a list of Slurm mean, in the order of the list:
// rack[0-1]n[08-10,12]-ib is rack0n08-ib, rack0n09-ib, rack0n10-ib, rack0n12-ib, rack1n08-ib
// and so on. The prefix has no brackets any more. Numbers have as many digits as the first of their
// range, if that begins with a zero. The first error of add ends it.
func expandHosts(prefix, list string, add func(host string) error) error {
	head, rest, found := strings.Cut(list, "[")
	if strings.Contains(head, "]") {
		return fmt.Errorf("%q: a bracket is closed that is not open", prefix+list)
	}
	if !found {
		return add(prefix + head)
	}
	inside, tail, closed := strings.Cut(rest, "]")
	if !closed {
		return fmt.Errorf("%q: a bracket is not closed", prefix+list)
	}
	// Each number of each range is put in, and the rest of the name, which may have further brackets, is expanded
	// behind it.
	for text := range strings.SplitSeq(inside, ",") {
		text = strings.TrimSpace(text)
		from, to, ok := textutil.ParseRange(text, "-")
		first, _, _ := strings.Cut(text, "-")
		if !ok || to >= 1<<62 || len(first) > 20 {
			return fmt.Errorf("%q: %q in brackets, want a number, or a range as 0-7", prefix+list, text)
		}
		digits := 0
		if first[0] == '0' {
			digits = len(first)
		}
		for n := from; n <= to; n++ {
			if err := expandHosts(prefix+head+fmt.Sprintf("%0*d", digits, n), tail, add); err != nil {
				return err
			}
		}
	}
	return nil
}
