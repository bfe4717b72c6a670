package compose

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/smpi/option"
)

// This file makes a Spec of options: of flags (FromFlags) or of an inline specification in one text (Inline).

// Option is an option of replay platform new, and a word of an inline specification.
type Option struct {
	Name, Usage, Default string
	Switch               bool // it has no value
	Repeatable           bool // inline, several values have blanks between
	// set sets the value of the option in a request; nil for the options that say how nodes are joined, of which one at
	// most is given. These are read last, as their cables are like those of the nodes unless they say otherwise.
	set func(*request, string) error
}

// request is the values of options, given in any order. The words of the topology wait until all options are read.
type request struct {
	Spec
	nodes           bool // their number is given
	topology, shape string
}

// Options returns all options, in the order of help.
func Options() []Option { return options }

// options are in the order in which a person describes a machine: the nodes, their cables, the network between them,
// and what is not as it should be.
var options = []Option{
	{Name: "nodes", Usage: "number of nodes, `N`", Default: "none: must be given",
		set: func(r *request, v string) (err error) {
			r.nodes = true
			r.Nodes, err = parseWhole(v)
			return err
		}},
	{Name: "cores", Usage: "`N` cores of a node, each for a rank", Default: "1",
		set: setter(parseWhole, func(r *request) *int { return &r.Cores })},
	{Name: "speed", Usage: "`SPEED` of a core, in flop/s; kernel models in seconds do not depend on it", Default: "32Gf",
		set: setter(platforms.ParseSpeed, func(r *request) *float64 { return &r.Speed })},
	{Name: "nic", Usage: "`BANDWIDTH` of the cable of a node, each way", Default: "100Gbps",
		set: setter(platforms.ParseBandwidth, func(r *request) *float64 { return &r.NIC.Bandwidth })},
	{Name: "latency", Usage: "`TIME` that each cable on the way takes; a route has at least two", Default: "0.5us",
		set: setter(platforms.ParseLatency, func(r *request) *float64 { return &r.NIC.Latency })},
	{Name: "loopback", Usage: "messages within a node, `BANDWIDTH@LATENCY`", Default: "20GBps@0.1us",
		set: func(r *request, v string) (err error) {
			r.Loopback, err = ParseCable(v, r.Loopback)
			return err
		}},
	{Name: "flat", Usage: "all nodes on one switch (also if no other network is given)", Switch: true},
	{Name: "fat-tree", Usage: "`LEVELS` of switches, 'leaf=16 up=8x200Gbps': 16 nodes on a leaf switch, which has 8 cables up; further levels 'group=8 up=4x400Gbps'; the last switch may be partly filled. 'routing=static' behind them: by the destination (D-mod-K), in place of 'routing=adaptive', the default: packets are spread over all cables up"},
	{Name: "torus", Usage: "a torus of `SIZES`, 4x4x8"},
	{Name: "dragonfly", Usage: "`GROUPS` of switches, 'groups=9 switches=8 hosts=8 local=200Gbps global=2x200Gbps': cables between two switches of a group and between two groups. 'routing=adaptive' behind them: packets are spread over all cables that leave a switch or a group, in place of 'routing=static', the default: the shortest way"},
	{Name: "watts", Usage: "power of a node in W, idle and with all cores, `IDLE:FULL`, or IDLE:EPSILON:FULL: EPSILON with hardly any load", Default: "not known: no energy",
		set: setter(platforms.ParseHostWatts, func(r *request) *[]float64 { return &r.Watts })},
	{Name: "slow", Usage: "nodes of a pattern compute at FACTOR of the speed, `PATTERN=FACTOR`, such as node-[3,17]=0.9, for models in flop (of those in seconds: replay --host-speed); may be repeated", Repeatable: true, set: func(r *request, v string) error {
		r.Slow = nil
		for _, text := range strings.Fields(v) {
			pattern, factor, err := textutil.ParsePatternFactor(text)
			if err != nil {
				return err
			}
			r.Slow = append(r.Slow, Slow{pattern, factor})
		}
		return nil
	}},
}

// setter returns the set of an option of a single value.
func setter[T any](parse func(string) (T, error), of func(*request) *T) func(*request, string) error {
	return func(r *request, text string) (err error) {
		*of(r), err = parse(text)
		return err
	}
}

// parseWhole reads a whole number of any sign: Check says which are possible.
func parseWhole(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s, want a whole number", textutil.Quote(text))
	}
	return n, nil
}

// FromFlags returns the machine that options describe, each of which is there once at most. The error names the
// option whose value is not possible.
func FromFlags(flags []option.Flag) (*Spec, error) {
	r := &request{Spec: *DefaultSpec(0)}
	for _, f := range flags {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == f.Name })
		switch set := options[i].set; {
		case set != nil:
			if err := set(r, f.Value); err != nil {
				return nil, fmt.Errorf("--%s: %w", f.Name, err)
			}
		case r.topology != "":
			return nil, fmt.Errorf("--%s and --%s exclude each other", r.topology, f.Name)
		default:
			r.topology, r.shape = f.Name, f.Value
		}
	}
	if !r.nodes {
		return nil, errors.New("want --nodes N")
	}
	var err error
	switch r.topology {
	case "fat-tree":
		r.Topology, err = ParseFatTree(r.shape, r.NIC)
	case "torus":
		r.Topology, err = ParseTorus(r.shape)
	case "dragonfly":
		r.Topology, err = ParseDragonfly(r.shape, r.NIC)
	}
	if err == nil {
		err = r.Check()
	}
	return &r.Spec, err
}

// Inline reads a platform that is described where its name could stand: "new --nodes 64 --cores 8". Ok is false
// if the text is a name.
func Inline(text string) (s *Spec, ok bool, err error) {
	rest, ok := strings.CutPrefix(text, "new")
	if !ok || rest != "" && rest[0] != ' ' {
		return nil, false, nil
	}
	var names, switches []string
	for _, o := range options {
		names = append(names, o.Name)
		if o.Switch {
			switches = append(switches, o.Name)
		}
	}
	flags, err := option.ParseFlags(rest, names, switches)
	if err == nil {
		s, err = FromFlags(flags)
	}
	return s, true, err
}

// Parse returns the platform of a description, under a name for messages.
// It goes by way of the text, so that a platform that is described in words is the one that its file would be.
func (s *Spec) Parse(name string) (*platforms.Platform, error) {
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		return nil, err
	}
	return platforms.Parse(strings.NewReader(b.String()), name)
}

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
	if _, err := strconv.Atoi(text); err != nil && !both {
		number, cable, both = "1", text, true
	}
	c = like
	if n, err = parseCount(number); err == nil && both {
		c, err = ParseCable(cable, like)
	}
	return n, c, err
}

// parseCount reads a number of switches, nodes or cables.
func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxCount {
		return 0, fmt.Errorf("%s is no number of 1 to %d", textutil.Quote(text), maxCount)
	}
	return n, nil
}

// pair is KEY=VALUE.
type pair struct{ key, value string }

// parseWords reads words KEY=VALUE. The first one of the key routing, static or adaptive, is apart; "": there is none.
func parseWords(text string) (list []pair, routing string, err error) {
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			return nil, "", fmt.Errorf("%s is no KEY=VALUE", textutil.Quote(word))
		case key != "routing" || routing != "":
			list = append(list, pair{key, value})
		case value != "static" && value != "adaptive":
			return nil, "", fmt.Errorf("routing=%s, known are static and adaptive", textutil.Quote(value))
		default:
			routing = value
		}
	}
	return list, routing, nil
}
