package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/platforms/machines"
	"reprise/smpi"
	"reprise/smpi/option"
	"reprise/trace/warning"
)

// platformCommand is "replay platform", which describes a machine. Its options may stand before or after the machine,
// since --route takes two words. Flags of replays before the word mean nothing here, but for --json and --quiet.
func platformCommand(stdout, stderr io.Writer) *cli.Command {
	flags := []cli.Flag{ // for the help, and for the nearest name of a mistyped one
		&cli.IntFlag{Name: "ranks", DefaultText: "1",
			Usage: "size of the built-in machine default: as it is for `N` ranks"},
		&cli.StringFlag{Name: "route",
			Usage: "show the route between two hosts, `FROM TO`, too: its links, latency and bandwidth"},
		command.Switch("json", "print the description as JSON"),
	}
	return &cli.Command{
		Name:      "platform",
		Usage:     "describe a machine: hosts, links, levels, bisection, routes",
		UsageText: "replay platform FILE|DIR|NAME [--ranks N] [--route FROM TO] [--json]",
		Description: "FILE is SimGrid XML, DIR a machine directory, NAME a built-in machine: " +
			strings.Join(platforms.BuiltinNames(), ", ") + ". Options may stand before or after it.\n\n" +
			"    replay platform dahu\n" +
			"    replay platform cluster.xml --route node-0 node-17 --json",
		Flags:           flags,
		Subcommands:     []*cli.Command{newPlatformCommand(stdout, stderr)},
		SkipFlagParsing: true,
		HideHelpCommand: true,
		Action: func(c *cli.Context) (err error) {
			defer textutil.Stopped(&err)
			// The words behind "replay platform", which the library does not parse, as it has no flag of two values. Each
			// turn takes an option with its values, "--ranks N" or "--ranks=N", or the machine.
			var name, from, to string // the machine; the ends of a route, "" for none
			ranks, asJSON, help := 0, false, false
			for args := c.Args().Slice(); len(args) > 0; {
				word, taken := args[0], 1
				number, isNumber := strings.CutPrefix(word, "--ranks=")
				if word == "--ranks" {
					if taken = 2; len(args) < 2 {
						return command.Usagef("platform: --ranks wants a number")
					}
					number, isNumber = args[1], true
				}
				switch {
				case isNumber:
					if ranks, err = strconv.Atoi(number); err != nil || ranks < 1 || ranks > platforms.MaxHosts {
						return command.Usagef("platform: --ranks %q, want 1 to %d", number, platforms.MaxHosts)
					}
				case word == "--json":
					asJSON = true
				case word == "--help" || word == "-h":
					help = true
				case word == "--route":
					if taken = 3; len(args) < 3 {
						return command.Usagef("platform: --route wants two hosts")
					}
					from, to = args[1], args[2]
				case len(word) > 1 && word[0] == '-':
					return command.Usagef("platform: unknown option %s%s", word,
						command.Meant(flags, strings.TrimLeft(word, "-")))
				case name != "":
					return command.Usagef("platform: want 1 machine, got %q and %q", name, word)
				default:
					name = word
				}
				args = args[taken:]
			}
			switch {
			case help:
			case name == "":
				return command.Usagef("platform: want a FILE, a machine DIR, or the NAME of a built-in machine")
			case ranks > 0 && (name != "default" || regular.IsFile(name)):
				return command.Usagef("platform: --ranks is for the built-in machine \"default\": %s has its own size", name)
			}
			// Options before the word platform.
			before := c.Lineage()[1]
			for _, flag := range before.LocalFlagNames() {
				switch flag {
				case "json":
					asJSON = before.Bool(flag)
				case "quiet":
				default:
					return command.Usagef("--%s is for replays, not for replay platform", flag)
				}
			}
			if help {
				return cli.ShowSubcommandHelp(c)
			}
			begun()

			// The machine: a file, a machine directory, or built in. Options of the platform are applied as a replay
			// applies them, so that mistakes in them show here, too.
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				name, _, err = machines.Find(name)
				textutil.Check(err)
			}
			p := textutil.Must(platforms.Find(name, max(1, ranks)))
			o := smpi.DefaultOptions()
			d := described{Description: p.Describe(), Warnings: warning.Join(p.Warnings(), smpi.ObsoleteOptions(p))}
			if err := o.ApplyConfig(p); err != nil {
				return warning.With(err, d.Warnings)
			}
			for _, use := range p.Profiles() {
				c := changing{What: use.Kind.String(), Target: use.Target, Profile: use.Profile.Name,
					Values: use.Profile.Len()}
				c.First, c.Last = use.Profile.Span()
				c.Period, _ = use.Profile.Repeats()
				d.Profiles = append(d.Profiles, c)
			}
			if from != "" {
				if d.Route, err = findRoute(p, &o, from, to); err != nil {
					return warning.With(err, d.Warnings)
				}
			}
			if asJSON {
				return textutil.WriteJSON(stdout, d)
			}
			return d.writeText(stdout)
		},
	}
}

// changing is how a quantity of the machine changes with time, by a profile of SimGrid: the values of a round, which
// begins anew after a period.
type changing struct {
	What    string  `json:"what"`
	Target  string  `json:"target"`
	Profile string  `json:"profile"`
	Values  int     `json:"values"` // of a round
	First   float64 `json:"first_s"`
	Last    float64 `json:"last_s"`
	Period  float64 `json:"period_s,omitempty"` // 0: it does not begin anew
}

// mostProfiles is the number of profiles that the text lists: a machine may have one for each host.
const mostProfiles = 20

// described is the answer; the route only where one was asked for. It is printed as text or JSON: keys are part of the
// interface of the command.
type described struct {
	*platforms.Description
	Profiles []changing        `json:"profiles,omitempty"`
	Route    *route            `json:"route,omitempty"`
	Warnings []warning.Warning `json:"warnings"`
}

// route is the way between two hosts. Bandwidth is what a message alone on it may have: that of
// its narrowest link, or less where the TCP window limits it. A way without links, as between
// hosts that have coordinates only, has none of these numbers.
type route struct {
	From      string      `json:"from"`
	To        string      `json:"to"`
	Latency   float64     `json:"latency_s"`
	Distance  float64     `json:"distance_s,omitempty"` // the part of the latency that is not of links
	Bandwidth *float64    `json:"bandwidth_bytes_per_s,omitempty"`
	Narrowest *float64    `json:"narrowest_link_bytes_per_s,omitempty"`
	Window    float64     `json:"tcp_window_bytes_per_s,omitempty"` // 0: no window
	Links     []routeLink `json:"links"`
}

// routeLink is a link of a route, in its order from the sender on.
type routeLink struct {
	Name      string  `json:"name"`
	Bandwidth float64 `json:"bandwidth_bytes_per_s"`
	Latency   float64 `json:"latency_s"`
	Policy    string  `json:"sharing_policy"`
}

// findRoute returns the route between two hosts. Of the loopback that all hosts have the options say how quick it is.
// Latencies add up, with the distance of hosts by coordinates (SimGrid: Vivaldi zones). The TCP window limits a message
// to gamma/(2*latency) byte/s.
func findRoute(p *platforms.Platform, o *smpi.Options, from, to string) (*route, error) {
	// The hosts, by their names.
	var ends [2]int
	for i, name := range [2]string{from, to} {
		host, ok := p.HostIndex(name)
		if !ok {
			return nil, fmt.Errorf("%s has no host %q; its first is %q", p.Name(), name, p.Host(0).Name)
		}
		ends[i] = host
	}
	links, err := p.AppendRoute(nil, ends[0], ends[1])
	if err != nil {
		return nil, err
	}
	// The sums over the links. The loopback has the numbers of the options, since the platform has none for it.
	r := &route{From: from, To: to, Links: []routeLink{}}
	narrowest := math.Inf(1)
	for _, l := range links {
		link := p.Link(l)
		if l == platforms.LoopbackLink {
			link.Bandwidth, link.Latency = o.LoopbackBandwidth, o.LoopbackLatency
		}
		r.Latency += link.Latency
		narrowest = min(narrowest, link.Bandwidth)
		r.Links = append(r.Links, routeLink{link.Name, link.Bandwidth, link.Latency, link.Policy.String()})
	}
	r.Distance = p.Distance(ends[0], ends[1])
	r.Latency += r.Distance
	if len(links) == 0 {
		return r, nil
	}
	// A message alone has all of each link, but no more than the TCP window lets through in a round trip.
	bandwidth := narrowest
	if window := o.Window(r.Latency); window < math.Inf(1) {
		r.Window, bandwidth = window, min(narrowest, window)
	}
	r.Narrowest, r.Bandwidth = &narrowest, &bandwidth
	return r, nil
}

// writeText writes the answer as aligned columns. Profiles are as many as links that change, so the text lists the
// first of them.
func (d *described) writeText(w io.Writer) error {
	// Cells end with tabs, so that a block of lines with as many of them is aligned; lines of text have none.
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	nominal := ""
	if d.Nominal {
		nominal = " (nominal)"
	}
	fmt.Fprintf(t, "%s: %s, %s, %.4g flop/s%s, %s\n", d.Name, textutil.Count(d.Hosts, "host"),
		textutil.Count(d.Cores, "core"), d.Flops, nominal, textutil.Count(d.Links, "link"))
	for i := range d.Zones {
		z := &d.Zones[i]
		fmt.Fprintf(t, "\n%s: %s, %s\n", z.Name, z.Topology, textutil.Count(z.Points, "point"))
		for _, l := range z.Levels {
			fmt.Fprintf(t, "  %s\t%s\t%s each\t%.4g byte/s\t%.4g s\n", l.Name, textutil.Count(l.Nodes, "node"),
				textutil.Count(l.Cables, "cable"), l.Bandwidth, l.Latency)
		}
		if z.Bisection > 0 {
			fmt.Fprintf(t, "  bisection\tone way\t\t%.4g byte/s\n", z.Bisection)
		}
	}
	if len(d.Profiles) > 0 {
		fmt.Fprintf(t, "\n%s\n", textutil.Count(len(d.Profiles), "profile"))
	}
	for i, c := range d.Profiles {
		if i == mostProfiles {
			fmt.Fprintf(t, "  and %d more (--json lists all)\n", len(d.Profiles)-i)
			break
		}
		again := ""
		if c.Period > 0 {
			again = fmt.Sprintf(", again every %.6g s", c.Period)
		}
		fmt.Fprintf(t, "  %s %s\t%s\t%s\tfrom %.6g s to %.6g s%s\n", c.What, c.Target, c.Profile,
			textutil.Count(c.Values, "value"), c.First, c.Last, again)
	}
	if r := d.Route; r != nil {
		latency := fmt.Sprintf("%.4g s", r.Latency)
		if r.Distance != 0 {
			latency += fmt.Sprintf(" (%.4g s by coordinates)", r.Distance)
		}
		limit := "nothing that limits the bandwidth"
		if r.Bandwidth != nil {
			limit = fmt.Sprintf("bandwidth %.4g byte/s", *r.Bandwidth)
			if *r.Bandwidth != *r.Narrowest {
				limit += fmt.Sprintf(" by the TCP window (network/TCP-gamma), the narrowest link has %.4g", *r.Narrowest)
			}
		}
		fmt.Fprintf(t, "\nroute from %s to %s: %s, latency %s, %s\n", r.From, r.To, textutil.Count(len(r.Links), "link"),
			latency, limit)
		for _, l := range r.Links {
			fmt.Fprintf(t, "  %s\t%.4g byte/s\t%.4g s\t%s\n", l.Name, l.Bandwidth, l.Latency, l.Policy)
		}
	}
	for _, odd := range d.Warnings {
		fmt.Fprintf(t, "warning: %v\n", odd)
	}
	return t.Flush()
}

// newPlatformCommand is "replay platform new", which describes a machine from a few words. Its flags are those of
// package compose, which the platform of --platform 'new ...' has, too.
func newPlatformCommand(stdout, stderr io.Writer) *cli.Command {
	// The flags follow the options of package compose, in its order.
	var flags []cli.Flag
	for _, o := range compose.Options() {
		flags = append(flags, flagOf(o.Name, o.Usage, o.Default, o.Switch, o.Repeatable))
	}
	flags = append(flags,
		&cli.StringFlag{Name: "o", Value: "-",
			Usage: "`FILE` to write, which appears whole or not at all; -: standard output"},
		command.Switch("quiet", "nothing on stderr but errors"))
	return command.Prepare(&cli.Command{
		Name:      "new",
		Usage:     "write the description of a new machine, as SimGrid XML",
		UsageText: "replay platform new --nodes N [options]",
		Description: "Hosts are node-0, node-1, ... Units are those of platforms: Gbps bits, GBps bytes, us, ns, Gf. " +
			"A summary on stderr says how many hosts share which links.\n\n" +
			"   replay platform new --nodes 64 --cores 8 --nic 100Gbps --latency 1us " +
			"--fat-tree 'leaf=16 up=8x200Gbps' > p.xml\n" +
			"   replay platform new --nodes 4096 --fat-tree 'leaf=32 up=16x200Gbps group=16 up=8x400Gbps@2us' -o p.xml\n" +
			"   replay platform new --nodes 512 " +
			"--dragonfly 'groups=8 switches=8 hosts=8 local=200Gbps global=2x200Gbps' -o p.xml\n" +
			"   replay platform new --nodes 64 --torus 4x4x4 --slow 'node-[3,17,40]=0.9' -o p.xml",
		Flags: flags,
		Action: func(c *cli.Context) error {
			// Options before the words "platform new" mean nothing here.
			for _, outer := range c.Lineage()[1:] {
				if outer.Command == nil {
					continue
				}
				for _, name := range outer.LocalFlagNames() {
					if name != "quiet" {
						return command.Usagef("--%s is for replays, not for replay platform new", name)
					}
				}
			}
			if c.NArg() > 0 {
				return command.Usagef("platform new: unexpected %q: it takes options only", c.Args().First())
			}
			// Only flags that were given: package compose tells defaults from given values.
			var given []option.Flag
			for _, o := range compose.Options() {
				value := c.String(o.Name)
				if o.Repeatable {
					value = strings.Join(c.StringSlice(o.Name), " ")
				}
				if c.IsSet(o.Name) {
					given = append(given, option.Flag{Name: o.Name, Value: value})
				}
			}
			spec, err := compose.FromFlags(given)
			if err == nil {
				spec.StateNetwork()
			}
			if err != nil {
				return command.Usagef("platform new: %w", err)
			}
			begun()
			// The XML is complete or not there, so that a script can go by the file.
			if file := c.String("o"); file == "-" {
				err = spec.Write(stdout)
			} else {
				err = atomicfile.Write(file, spec.Write)
			}
			if err != nil {
				return err
			}
			if !c.Bool("quiet") {
				for _, sentence := range spec.Words() {
					command.Tell(stderr, "replay", sentence)
				}
			}
			return nil
		},
	})
}
