package main

import (
	"context"
	"path/filepath"
	"strings"

	"reprise/internal/actiontimes"
	"reprise/platforms"
	"reprise/replay"
)

// actions replays a case in its directory by the library and returns for each rank
// the time at which each line has completed, NaN if it is no action. It returns nil
// for cases of too many actions.
func (t *tools) actions(dir string, c *testCase) ([][]float64, error) {
	if c.script.actions() > actiontimes.MostActions/16 {
		return nil, nil
	}
	s, err := actiontimes.Open(filepath.Join(dir, "trace.index"), dir)
	if err != nil {
		return nil, err
	}
	m, o, err := loadMachine(dir, c)
	if err != nil {
		return nil, err
	}
	res, err := replay.RunSource(context.Background(), s.Header(), s, m, o)
	if err != nil {
		return nil, err
	}
	return s.EndTimes(res, o.Network.InitTime), nil
}

// loadMachine does what the command does with a case's files and options.
func loadMachine(dir string, c *testCase) (m replay.Machine, o replay.Options, err error) {
	if m.Platform, err = platforms.Load(filepath.Join(dir, "platform.xml")); err != nil {
		return m, o, err
	}
	o = replay.DefaultOptions()
	if err := o.Network.ApplyConfig(m.Platform); err != nil {
		return m, o, err
	}
	for _, option := range c.options {
		name, value, _ := strings.Cut(option, ":")
		if err := o.Network.Set(name, value); err != nil {
			return m, o, err
		}
	}
	m.Hosts, err = replay.ParseHostfile(strings.NewReader(lines(c.hosts)), "hostfile", m.Platform, len(c.script.ranks))
	return m, o, err
}
