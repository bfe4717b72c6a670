package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

func measureCommand() *cli.Command {
	return command.Nest(&cli.Command{
		Name:  "measure",
		Usage: "time kernels and messages on this machine",
	}, "measurement", measureKernelsCommand(), measureNetworkCommand(), measureHPLCommand())
}
