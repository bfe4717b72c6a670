package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/internal/command"
	"reprise/platforms"
	"reprise/smpi"
)

// machineOf returns the machine of --platform, of which replay must be able to read
// the cores and their speed.
func machineOf(c *cli.Context, name string, hosts int) (calibrate.Machine, error) {
	m := calibrate.Machine{Name: name, Hosts: hosts, Cores: c.Int("cores"), Speed: c.String("speed")}
	err := m.Validate()
	if err == nil {
		err = checkSpeed(m)
	}
	if err != nil {
		err = command.Usagef("%s: %w", c.Command.Name, err)
	}
	return m, err
}

// checkSpeed reads a platform with one host of the machine, as replay does.
func checkSpeed(m calibrate.Machine) error {
	m.Hosts = 1
	var b bytes.Buffer
	if err := calibrate.WritePlatform(&b, m, calibrate.Cables{Bandwidth: 1}, nil); err != nil {
		return err
	}
	if err := readPlatform(b.Bytes(), "platform"); err != nil {
		return fmt.Errorf("--cores %d, --speed %q: %w", m.Cores, m.Speed, err)
	}
	return nil
}

// readPlatform reads a platform and its properties, as replay does.
func readPlatform(text []byte, name string) error {
	p, err := platforms.Parse(bytes.NewReader(text), name)
	if err != nil {
		return err
	}
	o := smpi.DefaultOptions()
	if err := o.ApplyConfig(p); err != nil {
		return err
	}
	return o.Validate()
}

// checkProperties refuses properties that replay would refuse.
func checkProperties(list []calibrate.Property) error {
	o := smpi.DefaultOptions()
	for _, p := range list {
		if err := o.Set(p.Name, p.Value); err != nil {
			return err
		}
	}
	return o.Validate()
}

// propertiesOf reads --property.
func propertiesOf(c *cli.Context) ([]calibrate.Property, error) {
	var list []calibrate.Property
	for _, text := range c.StringSlice("property") {
		name, value, ok := strings.Cut(text, ":")
		if !ok || name == "" {
			return nil, command.Usagef("%s: --property %q, want NAME:VALUE", c.Command.Name, text)
		}
		list = append(list, calibrate.Property{Name: name, Value: value})
	}
	if err := checkProperties(list); err != nil {
		return nil, command.Usagef("%s: --property: %w", c.Command.Name, err)
	}
	return list, nil
}
