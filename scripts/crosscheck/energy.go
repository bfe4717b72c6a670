package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// This file gives the hosts and links of cases powers (-energy), and compares joules with those of SimGrid's plugins
// host_energy and link_energy, as smpirun computes them by default.

// energyStream gives powers a random source of their own.
const energyStream = 1 << 34

// energyTolerance is relative, beside the rounding of what SimGrid prints.
const energyTolerance, energyRounding = 1e-6, 1e-6

var (
	poweredElement = regexp.MustCompile(`<(host|cluster|link) ([^>]*?)(/?)>`)
	energyLine     = regexp.MustCompile(`Energy consumption of (?:host|link) '?([^ ']+)'?: (\S+) Joules|Total energy (consumption|over all links): (\S+)`)
)

// addWatts gives most hosts and links powers.
func (m *options) addWatts(c *testCase) {
	d := newSource(m.seed, uint64(c.number)|energyStream)
	watts := func() string { return fmt.Sprintf("%.4g", d.logarithmic(1, 400)) }
	c.energy = true
	c.platform = poweredElement.ReplaceAllStringFunc(c.platform, func(text string) string {
		if d.chance(0.1) {
			return text
		}
		e := poweredElement.FindStringSubmatch(text)
		name, props := "wattage_range", ""
		value := watts() + ":" + watts()
		if e[1] != "link" {
			var states []string
			speeds := regexp.MustCompile(`speed="([^"]*)"`).FindStringSubmatch(e[2])[1]
			for range strings.Count(speeds, ",") + 1 {
				state := watts() + ":" + watts()
				if d.chance(0.6) {
					state += ":" + watts()
				}
				states = append(states, state)
			}
			name, value = "wattage_per_state", strings.Join(states, ",")
			props = fmt.Sprintf(`<prop id="wattage_off" value="%s"/>`, watts())
		}
		text = fmt.Sprintf(`<%s %s><prop id="%s" value="%s"/>%s`, e[1], e[2], name, value, props)
		if e[3] != "" {
			text += "</" + e[1] + ">"
		}
		return text
	})
}

// energies returns the joules that SimGrid prints for hosts, links and all of them, by name.
func energies(log string) (map[string]float64, error) {
	list := map[string]float64{}
	for _, l := range energyLine.FindAllStringSubmatch(log, -1) {
		joules, err := strconv.ParseFloat(l[2]+l[4], 64)
		if err != nil {
			return nil, fmt.Errorf("energy: %w", err)
		}
		name := l[1]
		if l[3] != "" {
			name = "all " + strings.Fields(l[3])[0]
		}
		list[name] = joules
	}
	return list, nil
}

// compareEnergies compares what replay says in JSON of the case in a directory with the joules of SimGrid.
func compareEnergies(dir string, text []byte) error {
	log, err := os.ReadFile(filepath.Join(dir, "energy.txt"))
	if err != nil {
		return err
	}
	theirs, err := energies(string(log))
	if err != nil {
		return err
	}
	type one struct {
		Name   string
		Joules float64 `json:"energy_j"`
	}
	var ours struct {
		Hosts, Links []one
		Joules       *float64 `json:"energy_j"`
		LinkJoules   *float64 `json:"link_energy_j"`
	}
	if err := json.Unmarshal(text, &ours); err != nil {
		return fmt.Errorf("replay --json: %w", err)
	}
	list := append(ours.Hosts, ours.Links...)
	if ours.Joules != nil {
		list = append(list, one{"all consumption", *ours.Joules})
	}
	if ours.LinkJoules != nil {
		list = append(list, one{"all over", *ours.LinkJoules})
	}
	worst, most := "", 1.0
	for _, o := range list {
		want, ok := theirs[o.Name]
		if !ok {
			return fmt.Errorf("SimGrid has no energy of %q", o.Name)
		}
		if off := math.Abs(o.Joules-want) / (energyTolerance*math.Abs(want) + energyRounding); off > most {
			worst, most = fmt.Sprintf("%s: %.9g J, in SimGrid %.9g J", o.Name, o.Joules, want), off
		}
	}
	if worst != "" {
		return fmt.Errorf("energy of %s", worst)
	}
	return nil
}
