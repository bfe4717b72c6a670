package platforms

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"reprise/internal/bounds"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file connects profiles (profile.go) to the hosts and links whose speed, state, bandwidth or latency they change:
// a ProfileUse for each, which Platform.Profiles returns.

// A ProfileKind is the quantity that a profile changes.
type ProfileKind uint8

const (
	// HostSpeed: a factor of the speed of the host's cores.
	HostSpeed ProfileKind = iota
	// HostState: the host is on where the value is positive, else off.
	HostState
	// LinkBandwidth: the bandwidth in byte/s.
	LinkBandwidth
	// LinkLatency: the latency in seconds.
	LinkLatency
	// LinkState: the link is on where the value is positive, else off.
	LinkState
)

var profileKinds = [...]struct{ name, word string }{
	HostSpeed:     {"speed of host", "SPEED"},
	HostState:     {"state of host", "HOST_AVAIL"},
	LinkBandwidth: {"bandwidth of link", "BANDWIDTH"},
	LinkLatency:   {"latency of link", "LATENCY"},
	LinkState:     {"state of link", "LINK_AVAIL"},
}

// String names the quantity, up to the name of the host or link.
func (k ProfileKind) String() string { return profileKinds[k].name }

// OfHost reports whether it is a quantity of a host, not of a link.
func (k ProfileKind) OfHost() bool { return k <= HostState }

// A ProfileUse says what a profile changes.
type ProfileUse struct {
	Kind    ProfileKind
	Target  string  // name of the host or link
	Host    int32   // -1 if it is a link
	Links   []int32 // both halves of a split link
	Profile *Profile
}

// Profiles returns what changes with time, in the order of the file. The caller must not change it.
func (p *Platform) Profiles() []ProfileUse { return p.profiles }

// Warnings returns what is odd in the description.
func (p *Platform) Warnings() []warning.Warning { return p.warnings }

// profileTable holds the profiles that a builder has read. A file is read once, however many hosts and links name it.
type profileTable struct {
	files    map[string]*Profile // by path
	traces   map[string]*Profile // by the id of a <trace>
	used     map[usedProfile]bool
	connects map[connectedTrace]string // the element that it is connected to
	left     int                       // bytes that files may have
}

// A usedProfile is a quantity that has a profile: a second one is an error.
type usedProfile struct {
	kind   ProfileKind
	target int32 // host or link
}

// A connectedTrace is a trace and the quantity it changes: SimGrid connects each pair to one element.
type connectedTrace struct {
	kind  ProfileKind
	trace string
}

// addProfileFiles adds the profiles of the files that the attributes of a host, or of a link of some constraints, name.
func (b *builder) addProfileFiles(v *values, host int32, links []int32) {
	for _, a := range [...]struct {
		attr string
		kind ProfileKind
	}{{"state_file", HostState}, {"speed_file", HostSpeed},
		{"state_file", LinkState}, {"latency_file", LinkLatency}, {"bandwidth_file", LinkBandwidth}} {
		if a.kind == HostSpeed && v.text(a.attr) == "" {
			a.attr = "availability_file" // its name up to version 4
		}
		name := v.text(a.attr)
		if a.kind.OfHost() != (host >= 0) || name == "" {
			continue
		}
		profile, err := b.profileFile(name)
		if err != nil {
			v.failf("%s: %w", a.attr, err)
		}
		b.useProfile(v, ProfileUse{a.kind, v.text("id"), host, links, profile})
	}
}

// useProfile adds a profile of a quantity, which has one at most.
// A value that is not possible is an error; a profile that changes nothing, or of which some values say nothing, is a
// warning.
func (b *builder) useProfile(v *values, use ProfileUse) {
	key := usedProfile{use.Kind, use.Host}
	if !use.Kind.OfHost() {
		key.target = use.Links[0]
	}
	if b.table.used[key] {
		v.failf("a second profile of the %v %q", use.Kind, use.Target)
	}
	b.table.used[key] = true
	if use.Profile.Len() == 0 {
		b.warnings.Add(warning.At(b.name, v.e.line, "profile %q of the %v %q has no value: nothing changes", use.Profile.Name,
			use.Kind, use.Target))
		return
	}
	lowest := 0.0
	for _, point := range use.Profile.points {
		if lowest = min(lowest, point.value); point.value < 0 {
			continue
		}
		// Each value must be one that the quantity itself could be, but for a speed and a bandwidth of 0 for a while.
		var err error
		switch use.Kind {
		case HostSpeed:
			err = bounds.Speed.OrZero().Check("speed", point.value*b.Host(int(use.Host)).Speed)
		case LinkBandwidth:
			err = bounds.Bandwidth.OrZero().Check("bandwidth", point.value)
		case LinkLatency:
			err = bounds.Latency.Check("latency", point.value)
		}
		if err != nil {
			v.failf("profile %q of the %v %q: %w", use.Profile.Name, use.Kind, use.Target, err)
		}
	}
	if lowest < 0 {
		b.warnings.Add(warning.At(b.name, v.e.line,
			"profile %q of the %v %q: values below 0 say nothing and are passed over (off is 0)", use.Profile.Name, use.Kind, use.Target))
	}
	b.profiles = append(b.profiles, use)
}

// declareProfile takes a <trace>, which is a profile in a file or inline, or a <trace_connect>, which may name hosts
// and links that follow.
func (b *builder) declareProfile(v *values) {
	id := v.text("id")
	switch {
	case v.e.name == "trace_connect":
		b.later = append(b.later, func() { b.connect(v) })
		return
	case b.table.traces[id] != nil:
		b.warnings.Add(warning.At(b.name, v.e.line, "a second trace %q is passed over: as in SimGrid, the first counts", id))
		return
	}
	period := v.quantity("periodicity", parsePeriod)
	var p *Profile
	var err error
	switch file := v.text("file"); {
	case file != "":
		p, err = b.profileFile(file)
		v.fail(err)
	case len(v.e.text) == 0:
		v.failf("it has neither a text nor a file")
	default:
		if p, err = parseProfile(string(v.e.text), id, b.name, v.e.textLine, period); err != nil {
			textutil.Stop(err) // it has file and line
		}
	}
	b.table.traces[id] = p
}

// parsePeriod reads a number of seconds; one that is not positive is no period.
func parsePeriod(text string) (float64, error) {
	value, unit, err := splitQuantity(text)
	if err == nil && (unit != "" || math.IsInf(value, 0) || math.IsNaN(value)) {
		err = fmt.Errorf("%q is not a number of seconds", text)
	}
	return value, err
}

// connect is what <trace_connect> asks for. As in SimGrid a trace is connected once for
// each quantity: to the element that comes first.
func (b *builder) connect(v *values) {
	trace, name := v.text("trace"), v.text("element")
	// The quantity is the state of a host if none is named. POWER is SPEED's name up to version 3.
	word := v.choice("kind", "HOST_AVAIL", "SPEED", "POWER", "LINK_AVAIL", "BANDWIDTH", "LATENCY")
	known := slices.IndexFunc(profileKinds[:], func(k struct{ name, word string }) bool { return k.word == word })
	kind := ProfileKind(max(known, int(HostSpeed)))
	profile, ok := b.table.traces[trace]
	if !ok {
		v.failf("there is no trace %q", trace)
	}
	// A trace that is connected once more is not an error: files that SimGrid plays have it.
	key := connectedTrace{kind, trace}
	if other, twice := b.table.connects[key]; twice {
		b.warnings.Add(warning.At(b.name, v.e.line,
			"trace %q is not connected to %q: as in SimGrid, a trace has the %v %q only; give each a trace of its own", trace, name, kind, other))
		return
	}
	b.table.connects[key] = name
	use := ProfileUse{Kind: kind, Target: name, Host: -1, Profile: profile}
	host, isHost := b.HostIndex(name)
	link, isLink := b.linkNames[name]
	switch {
	case kind.OfHost() && !isHost:
		v.failf("there is no host %q", name)
	case kind.OfHost():
		use.Host = int32(host)
	case !isLink:
		v.failf("there is no <link> %q", name)
	default:
		use.Links = link.list()
	}
	b.useProfile(v, use)
}

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

// readProfile returns the text of a file, and adds it to the hash of the description, by which checkpoints and studies
// tell machines apart.
func (b *builder) readProfile(path string) (string, error) {
	f, err := regular.Open(path)
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

// ConstantSpeeds returns the profiles that are one constant factor of the speed of a host. Host.Speed has the factor in
// it, and nothing changes with time.
func (p *Platform) ConstantSpeeds() []ProfileUse { return p.constantSpeeds }

// Factor returns the factor that a profile of ConstantSpeeds is.
func (u *ProfileUse) Factor() float64 { return u.Profile.points[0].value }
