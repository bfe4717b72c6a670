package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/replay/collective"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file decides what neither the command line nor the platform says: by which algorithms collective operations
// go, how many ranks a host gets, and how long recorded computations take. A prediction is of a run under a real MPI, so
// the defaults are those of one; texts of SimGrid, which are played to be compared with SimGrid, keep those of SMPI.
// Results name each choice with its reason (Choices).

// Choices are the defaults that a replay goes by, those that were set instead included.
type Choices struct {
	Collectives Choice     `json:"collectives"` // a selection of package collective, with single algorithms behind it
	Placement   Choice     `json:"placement"`   // of ranks on hosts
	Recording   *Recording `json:"recording,omitempty"`
}

// Choice is what was taken, and why.
type Choice struct {
	Value   string `json:"value"`
	Because string `json:"because"`
}

// Recording says how the computations of a recorded program are played.
type Recording struct {
	Hosts   string  `json:"recorded_on"` // "": the trace does not say
	MPI     string  `json:"mpi"`         // that it was recorded with
	Host    string  `json:"played_on"`   // the first host that is used; others of another speed in proportion to it
	Factor  float64 `json:"factor"`      // of the recorded seconds
	Because string  `json:"because"`
}

// Properties of hosts by which a machine states what a replay would choose otherwise.
const (
	// RanksProperty is how many ranks a host gets, in place of one a core.
	RanksProperty = "ranks_per_host"
	// scaleProperty has factors of recorded seconds by hosts that they were recorded on, PATTERN=FACTOR with blanks
	// between: of machines that were measured against those.
	scaleProperty = "recording_scale"
)

// isText reports whether a trace is a text of SimGrid, or was converted from one.
func isText(h *trace.Header) bool { return h.Program == trace.SimGridText }

// mpis are the words by which the MPIs name themselves, and the selections that have their decisions. MPIs derived from
// MPICH have changed some of them.
var mpis = []struct{ word, selection string }{
	{"Open MPI", "ompi"}, {"MPICH", "mpich"}, {"Intel", "mpich"}, {"CRAY", "mpich"}, {"MVAPICH", "mpich"},
}

// mostMPI bounds the name of an MPI in a reason, in bytes.
const mostMPI = 60

// chooseCollectives returns the selection for a trace, if neither the settings nor the platform have one.
func chooseCollectives(h *trace.Header) Choice {
	mpi, recorded := h.Param(trace.ParamMPI)
	switch {
	case isText(h):
		return Choice{"default", "SMPI's, for texts of SimGrid"}
	case !recorded:
		return Choice{"ompi", "the default"}
	}
	for _, m := range mpis {
		if strings.Contains(mpi, m.word) {
			name, _, _ := strings.Cut(textutil.Visible(mpi), ",") // how it was built stands behind the version
			return Choice{m.selection, "recorded with " + textutil.Cut(name, mostMPI)}
		}
	}
	return Choice{"ompi", "the default; of the MPI of the recording no decisions are known"}
}

// collectives notes by which algorithms collective operations go, once all options are set.
func (l *loader) collectives(chosen Choice) {
	const name = "smpi/coll-selector"
	o := &l.options.Network
	c := &l.machine.Choices.Collectives
	switch *c = (Choice{o.CollSelector, chosen.Because}); {
	case l.sets(name):
		c.Because = "--cfg"
	case l.platformSets(name):
		c.Because = "the platform"
	}
	for _, a := range o.CollAlgorithms {
		c.Value += fmt.Sprintf(", %s %s", a.Operation, a.Algorithm)
	}
}

// PlacesOf returns how many ranks a host gets where nothing else is said: as many as its property ranks_per_host says,
// else one for each core.
func PlacesOf(p *platforms.Platform, host int) (int, error) {
	prop, stated := p.HostProp(host, RanksProperty)
	if !stated {
		return p.Host(host).Cores, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(prop.Value))
	if err != nil || n < 1 || n > maxPlaces {
		return 0, fmt.Errorf("%s:%d: %s %s, want a number of 1 to %d", p.Name(), prop.Line, RanksProperty,
			textutil.Quote(prop.Value), maxPlaces)
	}
	return n, nil
}

// placement notes how ranks were placed.
func (l *loader) placement() {
	_, stated := l.machine.Platform.HostProp(int(l.machine.Hosts[0]), RanksProperty)
	c := &l.machine.Choices.Placement
	switch s := &l.spec; {
	case s.Hostfile != "":
		*c = Choice{"hostfile", s.Hostfile}
	case s.RanksPerHost > 0:
		*c = Choice{fmt.Sprintf("%d ranks a host", s.RanksPerHost), "--ranks-per-host"}
	case isText(l.header):
		*c = Choice{"as few ranks a host as fit", "SMPI's, for texts of SimGrid"}
	case stated:
		*c = Choice{"hosts are filled", "by " + RanksProperty + " of the machine"}
	default:
		*c = Choice{"hosts are filled", "one rank a core, the default"}
	}
}

// recordedTime has the computations of a recorded program take the seconds that were recorded, times what the machine
// says of the recording host and what is set. In the trace they are flop, by the rate that it states; hosts of another
// speed than the first one's take them in proportion, as do hosts that are made slower.
func (l *loader) recordedTime() error {
	h, p := l.header, l.machine.Platform
	text, recorded := h.Param(trace.ParamRate)
	if !recorded {
		return nil
	}
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate > 0) {
		return fmt.Errorf("parameter %q of the trace: %s, want flop/s above 0", trace.ParamRate, textutil.Quote(text))
	}
	first := l.machine.Hosts[0]
	host := p.Host(int(first))
	speed := host.Speed
	for _, use := range p.ConstantSpeeds() { // that the host is made slower is no part of its speed
		if use.Host == first {
			speed /= use.Factor()
		}
	}
	r := &Recording{Host: host.Name, Factor: l.options.ComputeScale, Because: "as recorded"}
	r.Hosts, _ = h.Param(trace.ParamHosts)
	r.MPI, _ = h.Param(trace.ParamMPI)
	if r.Factor != 1 {
		r.Because = "--compute-scale"
	}
	if prop, stated := p.HostProp(int(first), scaleProperty); stated {
		name, _, _ := strings.Cut(r.Hosts, ",")
		for _, word := range strings.Fields(prop.Value) {
			b, err := ParseHostSpeed(word)
			var pattern textutil.Pattern
			if err == nil {
				pattern, err = textutil.ParsePattern(b.Pattern)
			}
			if err != nil {
				return fmt.Errorf("%s:%d: %s %s: %w", p.Name(), prop.Line, scaleProperty, textutil.Quote(word), err)
			}
			if pattern.Match(name) {
				r.Factor *= b.Factor
				r.Because = strings.TrimPrefix(r.Because+" and ", "as recorded and ") + scaleProperty + " of the machine"
				break
			}
		}
	}
	if speed > 0 { // a host of speed 0 computes nothing
		l.options.ComputeScale = r.Factor * speed / rate
	}
	l.machine.Choices.Recording = r
	return nil
}

// String says how the computations are played.
func (r *Recording) String() string {
	on := r.Hosts
	if on == "" {
		on = "a host that the trace does not name"
	}
	return fmt.Sprintf("computations recorded on %s, played on %s in %.4g times their time (%s)", on, r.Host, r.Factor, r.Because)
}

// linearShare is the share of the time from which linear collective operations are worth a warning: with an algorithm
// of a real MPI they take a small part of it.
const linearShare = 0.05

// warnLinear warns of linear collective operations, the set bits of called, that take a large share of the time.
func warnLinear(list []warning.Warning, called int64, share float64) []warning.Warning {
	if called == 0 || share <= linearShare {
		return list
	}
	var names []string
	for kind := range trace.NumCollectives {
		if called>>kind&1 != 0 {
			names = append(names, trace.CollectiveKind(kind).String())
		}
	}
	slices.Sort(names)
	return append(list, warning.New("collective operations take over %g %% of the time, and SMPI's own algorithms of %s are "+
		"linear, as those of no MPI: --cfg smpi/coll-selector:ompi or mpich has theirs", 100*linearShare,
		strings.Join(names, ", ")))
}

// linear returns the operations among those that are called whose algorithms are linear, as bits.
func linear(s *collective.Selector, called []bool) (bits int64) {
	for kind, is := range called {
		if is && s.Linear(trace.CollectiveKind(kind)) {
			bits |= 1 << kind
		}
	}
	return bits
}
