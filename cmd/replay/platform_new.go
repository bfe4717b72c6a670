package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/platforms/compose"
	"reprise/replay"
)

// newPlatformCommand is "replay platform new", which describes a machine from a few words.
func newPlatformCommand(stdout, stderr io.Writer) *cli.Command {
	return command.Prepare(&cli.Command{
		Name:      "new",
		Usage:     "describe a machine from a few words, as SimGrid XML",
		UsageText: "replay platform new --nodes N [options]",
		Description: "Hosts are node-0, node-1, ... Units are those of platforms: Gbps bits, GBps bytes, us, ns, Gf. On stderr it says how many share what.\n\n" +
			"   replay platform new --nodes 64 --cores 8 --nic 100Gbps --latency 1us --fat-tree 'leaf=16 up=8x200Gbps' > p.xml\n" +
			"   replay platform new --nodes 4096 --fat-tree 'leaf=32 up=16x200Gbps group=16 up=8x400Gbps@2us' -o p.xml\n" +
			"   replay platform new --nodes 512 --dragonfly 'groups=8 switches=8 hosts=8 local=200Gbps global=2x200Gbps' -o p.xml\n" +
			"   replay platform new --nodes 64 --torus 4x4x4 --slow 'node-[3,17,40]=0.9' -o p.xml",
		Flags: newPlatformFlags(),
		Action: func(c *cli.Context) error {
			if err := onlyQuietBefore(c); err != nil {
				return err
			}
			spec, err := specOf(c)
			if err != nil {
				return err
			}
			begun()
			if err := writePlatform(spec, c.String("o"), stdout); err != nil {
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

func newPlatformFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "nodes", Usage: "number of nodes, `N`", DefaultText: "none: must be given"},
		&cli.IntFlag{Name: "cores", Value: 1, Usage: "`N` cores of a node, each for a rank"},
		&cli.StringFlag{Name: "speed", Value: "32Gf", Usage: "`SPEED` of a core, in flop/s: kernel models in seconds do not go by it"},
		&cli.StringFlag{Name: "nic", Value: "100Gbps", Usage: "`BANDWIDTH` of the cable of a node, each way"},
		&cli.StringFlag{Name: "latency", Value: "0.5us", Usage: "`TIME` that each cable on the way takes; a route has at least two"},
		&cli.StringFlag{Name: "loopback", Value: "20GBps@0.1us", Usage: "messages within a node, `BANDWIDTH@LATENCY`"},
		&cli.BoolFlag{Name: "flat", Usage: "all nodes on one switch; so it is if no other network is asked for", DisableDefaultText: true},
		&cli.StringFlag{Name: "fat-tree", Usage: "`LEVELS` of switches, 'leaf=16 up=8x200Gbps': 16 nodes on a leaf switch, which has 8 cables up; further levels 'group=8 up=4x400Gbps'"},
		&cli.StringFlag{Name: "torus", Usage: "a torus of `SIZES`, 4x4x8"},
		&cli.StringFlag{Name: "dragonfly", Usage: "`GROUPS` of switches, 'groups=9 switches=8 hosts=8 local=200Gbps global=2x200Gbps': cables between two switches of a group and between two groups"},
		&cli.StringSliceFlag{Name: "slow", Usage: "nodes of a pattern compute at FACTOR of the speed, `PATTERN=FACTOR`, such as node-[3,17]=0.9, for models in flop (of those in seconds: replay --host-speed); may be repeated"},
		&cli.StringFlag{Name: "o", Value: "-", Usage: "`FILE` to write, which appears whole or not at all; -: standard output"},
		&cli.BoolFlag{Name: "quiet", Usage: "nothing on stderr but errors", DisableDefaultText: true},
	}
}

// onlyQuietBefore refuses options before the words "platform new" that mean nothing there.
func onlyQuietBefore(c *cli.Context) error {
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
	return nil
}

// specOf reads the flags.
func specOf(c *cli.Context) (*compose.Spec, error) {
	if c.NArg() > 0 {
		return nil, command.Usagef("platform new: unexpected %q: it takes options only", c.Args().First())
	}
	var flags []compose.Flag
	for _, name := range compose.FlagNames() {
		if c.IsSet(name) {
			flags = append(flags, compose.Flag{Name: name, Value: fmt.Sprint(c.Value(name))})
		}
	}
	s, err := compose.FromFlags(flags)
	if err != nil {
		return nil, command.Usagef("platform new: %w", err)
	}
	for _, text := range c.StringSlice("slow") {
		slow, err := replay.ParseHostSpeed(text)
		if err != nil {
			return nil, command.Usagef("--slow %w", err)
		}
		s.Slow = append(s.Slow, compose.Slow{Pattern: slow.Pattern, Factor: slow.Factor})
	}
	if err := s.Check(); err != nil {
		return nil, command.Usagef("platform new: %w", err)
	}
	return s, nil
}

// writePlatform writes the description to a file or to standard output.
func writePlatform(s *compose.Spec, path string, stdout io.Writer) error {
	if path == "-" {
		return s.Write(stdout)
	}
	return atomicfile.Write(path, s.Write)
}
