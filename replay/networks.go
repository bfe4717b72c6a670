package replay

import (
	"fmt"
	"strings"
)

// networks are the simulator options that names of network models stand for.
var networks = map[string]Property{
	"smpi": {Name: "network/model", Value: "SMPI"}, "lv08": {Name: "network/model",
		Value: "LV08"}, "cm02": {Name: "network/model", Value: "CM02"},
	"contention-free": {Name: "reprise/contention", Value: "no"},
}

// NetworkSettings returns the settings that a model of the network stands for: smpi, lv08,
// cm02, or contention-free.
func NetworkSettings(model string) ([]Property, error) {
	option, ok := networks[strings.ToLower(model)]
	if !ok {
		return nil, fmt.Errorf("%q, want smpi, lv08, cm02 or contention-free", model)
	}
	if option.Name == "network/model" { // not for a platform's host/model:default to overrule
		return []Property{{Name: "host/model", Value: "compound"}, option}, nil
	}
	return []Property{option}, nil
}
