package main

import "github.com/urfave/cli/v2"

// quietFlag is that of commands that show progress.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true}
}
