package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/platforms/compose"
	"reprise/smpi/option"
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
	var list []cli.Flag
	for _, o := range compose.Options() {
		switch {
		case o.Switch:
			list = append(list, &cli.BoolFlag{Name: o.Name, Usage: o.Usage, DisableDefaultText: true})
		case o.Repeatable:
			list = append(list, &cli.StringSliceFlag{Name: o.Name, Usage: o.Usage})
		default:
			list = append(list, &cli.StringFlag{Name: o.Name, Usage: o.Usage, DefaultText: o.Default})
		}
	}
	return append(list,
		&cli.StringFlag{Name: "o", Value: "-",
			Usage: "`FILE` to write, which appears whole or not at all; -: standard output"},
		&cli.BoolFlag{Name: "quiet", Usage: "nothing on stderr but errors", DisableDefaultText: true})
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
	var flags []option.Flag
	for _, o := range compose.Options() {
		value := c.String(o.Name)
		if o.Repeatable {
			value = strings.Join(c.StringSlice(o.Name), " ")
		}
		if c.IsSet(o.Name) {
			flags = append(flags, option.Flag{Name: o.Name, Value: value})
		}
	}
	s, err := compose.FromFlags(flags)
	if err != nil {
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
