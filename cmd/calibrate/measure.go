package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

func measureCommand() *cli.Command {
	return command.Nest(&cli.Command{
		Name:  "measure",
		Usage: "time kernels and messages on this machine",
		Description: "calibrate machine does both, and fits them. One by one:\n\n" +
			"    calibrate measure kernels --for run.trace.zst -o kernels.csv\n" +
			"    calibrate measure network -o network.csv -- mpirun -np 2",
	}, "measurement", measureKernelsCommand(), measureNetworkCommand(), measureHPLCommand())
}
