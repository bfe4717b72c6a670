package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/platforms/machines"
	"reprise/smpi"
	"reprise/trace/warning"
)

// platformCommand is "replay platform", which describes a machine. Its options
// may stand before or after the machine, since --route takes two words.
func platformCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:      "platform",
		Usage:     "describe a machine: hosts, links, levels, bisection, routes",
		UsageText: "replay platform FILE|DIR|NAME [--ranks N] [--route FROM TO] [--json]",
		Description: "FILE is SimGrid XML, DIR a machine directory, NAME a built-in machine: " +
			strings.Join(platforms.BuiltinNames(), ", ") + ". Options may stand before or after it.\n\n" +
			"    replay platform dahu\n" +
			"    replay platform cluster.xml --route node-0 node-17 --json",
		Flags:           platformFlags(), // for the help: parsePlatformQuery reads them
		Subcommands:     []*cli.Command{newPlatformCommand(stdout, stderr)},
		SkipFlagParsing: true,
		HideHelpCommand: true,
		Action: func(c *cli.Context) error {
			q, err := parsePlatformQuery(c.Args().Slice())
			if err != nil {
				return err
			}
			if err := q.takeBefore(c.Lineage()[1]); err != nil {
				return err
			}
			if q.help {
				return cli.ShowSubcommandHelp(c)
			}
			begun()
			return q.answer(stdout)
		},
	}
}

func platformFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "ranks", Usage: "size of the built-in machine default: as it is for `N` ranks", DefaultText: "1"},
		&cli.StringFlag{Name: "route", Usage: "show the route between two hosts, `FROM TO`, too: its links, latency and bandwidth"},
		&cli.BoolFlag{Name: "json", Usage: "print the description as JSON", DisableDefaultText: true},
	}
}

// platformQuery is what "replay platform" is asked.
type platformQuery struct {
	machine    string
	ranks      int    // of the built-in machine "default"; 0: not given
	from, to   string // of a route, "" for none
	json, help bool
}

func parsePlatformQuery(args []string) (*platformQuery, error) {
	q := &platformQuery{}
	for len(args) > 0 {
		if number, ok := strings.CutPrefix(args[0], "--ranks="); ok {
			args = slices.Concat([]string{"--ranks", number}, args[1:])
		}
		taken, err := q.take(args)
		if err != nil {
			return nil, err
		}
		args = args[taken:]
	}
	switch {
	case q.help:
	case q.machine == "":
		return nil, command.Usagef("platform: want a FILE, a machine DIR, or the NAME of a built-in machine")
	case q.ranks > 0 && (q.machine != "default" || regular.IsFile(q.machine)):
		return nil, command.Usagef("platform: --ranks is for the built-in machine \"default\": %s has its own size",
			q.machine)
	}
	return q, nil
}

// takeBefore reads the options that stand before the word platform.
func (q *platformQuery) takeBefore(c *cli.Context) error {
	for _, name := range c.LocalFlagNames() {
		switch name {
		case "json":
			q.json = c.Bool(name)
		case "quiet":
		default:
			return command.Usagef("--%s is for replays, not for replay platform", name)
		}
	}
	return nil
}

// take reads the first of args and returns how many words belong to it.
func (q *platformQuery) take(args []string) (int, error) {
	switch word := args[0]; {
	case word == "--json":
		q.json = true
	case word == "--help" || word == "-h":
		q.help = true
	case word == "--route":
		if len(args) < 3 {
			return 0, command.Usagef("platform: --route wants two hosts")
		}
		q.from, q.to = args[1], args[2]
		return 3, nil
	case word == "--ranks":
		if len(args) < 2 {
			return 0, command.Usagef("platform: --ranks wants a number")
		}
		var err error
		if q.ranks, err = strconv.Atoi(args[1]); err != nil || q.ranks < 1 || q.ranks > platforms.MaxHosts {
			return 0, command.Usagef("platform: --ranks %q, want 1 to %d", args[1], platforms.MaxHosts)
		}
		return 2, nil
	case len(word) > 1 && word[0] == '-':
		return 0, command.Usagef("platform: unknown option %s%s", word,
			command.Meant(platformFlags(), strings.TrimLeft(word, "-")))
	case q.machine != "":
		return 0, command.Usagef("platform: want 1 machine, got %q and %q", q.machine, word)
	default:
		q.machine = word
	}
	return 1, nil
}

// described is the answer; the route only where one was asked for.
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

type routeLink struct {
	Name      string  `json:"name"`
	Bandwidth float64 `json:"bandwidth_bytes_per_s"`
	Latency   float64 `json:"latency_s"`
	Policy    string  `json:"sharing_policy"`
}

func (q *platformQuery) answer(w io.Writer) error {
	p, err := q.load()
	if err != nil {
		return err
	}
	o := smpi.DefaultOptions()
	odd := warning.Join(p.Warnings(), smpi.ObsoleteOptions(p))
	if err := o.ApplyConfig(p); err != nil {
		return warning.With(err, odd)
	}
	d := described{Description: p.Describe(), Profiles: profilesOf(p), Warnings: odd}
	if q.from != "" {
		if d.Route, err = findRoute(p, &o, q.from, q.to); err != nil {
			return warning.With(err, odd)
		}
	}
	if q.json {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(d)
	}
	return d.writeText(w)
}

// load loads the machine, from a file, a machine directory, or what is built in.
func (q *platformQuery) load() (*platforms.Platform, error) {
	name := q.machine
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if name, _, err = machines.Find(name); err != nil {
			return nil, err
		}
	}
	return platforms.Find(name, max(1, q.ranks))
}

// findRoute returns the route between two hosts. Of the loopback that all hosts have the
// options say how quick it is.
func findRoute(p *platforms.Platform, o *smpi.Options, from, to string) (*route, error) {
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
	bandwidth := narrowest
	if window := o.Window(r.Latency); window < math.Inf(1) {
		r.Window, bandwidth = window, min(narrowest, window)
	}
	r.Narrowest, r.Bandwidth = &narrowest, &bandwidth
	return r, nil
}

func (d *described) writeText(w io.Writer) error {
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
	writeProfiles(t, d.Profiles)
	if r := d.Route; r != nil {
		fmt.Fprintf(t, "\nroute from %s to %s: %s, latency %.4g s%s%s\n", r.From, r.To, textutil.Count(len(r.Links), "link"),
			r.Latency, r.apart(), r.limited())
		for _, l := range r.Links {
			fmt.Fprintf(t, "  %s\t%.4g byte/s\t%.4g s\t%s\n", l.Name, l.Bandwidth, l.Latency, l.Policy)
		}
	}
	for _, odd := range d.Warnings {
		fmt.Fprintf(t, "warning: %v\n", odd)
	}
	return t.Flush()
}

// apart says how much of the latency coordinates make.
func (r *route) apart() string {
	if r.Distance == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.4g s by coordinates)", r.Distance)
}

// limited says what bandwidth there is, and if it is the TCP window that limits it.
func (r *route) limited() string {
	switch {
	case r.Bandwidth == nil:
		return ", nothing that limits the bandwidth"
	case *r.Bandwidth == *r.Narrowest:
		return fmt.Sprintf(", bandwidth %.4g byte/s", *r.Bandwidth)
	}
	return fmt.Sprintf(", bandwidth %.4g byte/s by the TCP window (network/TCP-gamma), the narrowest link has %.4g",
		*r.Bandwidth, *r.Narrowest)
}
