package smpi

import (
	"fmt"
	"slices"
	"strings"

	"reprise/platforms"
	"reprise/trace/warning"
)

// Names of options change from version to version of SimGrid. This file turns those of versions 3.5 to 4 into those of
// SimGrid 3.32, which are used here: OptionName. Obsolete says what became of an old name.

// renamed are the options that other versions call by another name, but for those that
// only have underscores in it where there are hyphens today.
var renamed = map[string]string{
	"workstation/model":               "host/model",
	"workstation_model":               "host/model",
	"host_model":                      "host/model",
	"network_model":                   "network/model",
	"cpu_model":                       "cpu/model",
	"smpi/running-power":              "smpi/host-speed",
	"smpi/async-small-thres":          "smpi/async-small-thresh",
	"smpi/send-is-detached-thres":     "smpi/send-is-detached-thresh",
	"smpi/use-shared-malloc":          "smpi/shared-malloc",
	"smpi/privatize-global-variables": "smpi/privatization",
	"maxmin-selective-update":         "network/maxmin-selective-update",
}

// renamedLater are the options that SimGrid 4 calls by another name.
var renamedLater = map[string]string{
	"precision/timing":          "surf/precision",
	"precision/work-amount":     "maxmin/precision",
	"precision/bmf":             "bmf/precision",
	"smpi/barrier-finalization": "smpi/finalization-barrier",
}

// OptionName returns the name in SimGrid 3.32 of an option of any version, the same if it
// has none.
func OptionName(name string) string {
	if optionTable.Find(name) != nil {
		return name
	}
	if now, ok := renamedLater[name]; ok {
		return now
	}
	hyphens := strings.ReplaceAll(name, "_", "-")
	for _, old := range [...]string{name, hyphens} {
		if now, ok := renamed[old]; ok {
			return now
		}
	}
	for i := range optionTable {
		if strings.ReplaceAll(optionTable[i].Name, "_", "-") == hyphens {
			return optionTable[i].Name
		}
	}
	return name
}

// asideFamilies are the families of SimGrid's options that have no effect on the times of a replay.
var asideFamilies = []string{"bmf", "cmonkey", "contexts", "debug", "disk", "exception", "model-check", "msg", "ns3",
	"path", "plugin", "storage", "tracing"}

// retired reports whether an option of older versions, which is gone today, has no effect
// on the times of a replay.
func retired(name string) bool {
	family, _, _ := strings.Cut(name, "/")
	switch strings.ReplaceAll(name, "_", "-") {
	case "clean-atexit", "verbose-exit", "surf/nthreads", "network/coordinates", "network/sender-gap", "gtnets-jitter",
		"gtnets-jitter-seed":
		return true
	}
	return slices.Contains([]string{"gtnets", "new_model", "simix", "triva", "viva", "vm", "vm_workstation"}, family)
}

// Obsolete says what became of an option that SimGrid 3.32 does not know by this name
// any more, "" if it does, or if only a newer version calls it so.
func Obsolete(name string) string {
	if _, newer := renamedLater[name]; newer {
		return ""
	}
	now := OptionName(name)
	switch opt := optionTable.Find(now); {
	case now == name && retired(name):
		return fmt.Sprintf("option %s of older versions of SimGrid has no effect on a replay", name)
	case now == name:
		return ""
	case opt != nil && opt.Idle:
		return fmt.Sprintf("option %s is called %s today, which has no effect on a replay", name, now)
	}
	return fmt.Sprintf("option %s is called %s today", name, now)
}

// ObsoleteOptions warns of the options that a platform's file sets by names of older
// versions of SimGrid.
func ObsoleteOptions(p *platforms.Platform) []warning.Warning {
	var list warning.List
	for _, prop := range p.Config() {
		if note := Obsolete(prop.Name); note != "" {
			list.Add(warning.At(p.Name(), prop.Line, "%s", note))
		}
	}
	return list.All()
}
