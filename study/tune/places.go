package tune

import (
	"errors"
	"fmt"
	"strconv"

	"reprise/internal/regular"
	"reprise/platforms/machines"
	"reprise/replay"
	"reprise/study"
)

// places are where ranks can be.
type places struct {
	name    string
	hosts   int // 0: as many as are wanted
	perHost int // ranks
}

func (p *places) finite() bool { return p.hosts > 0 }
func (p *places) ranks() int64 { return int64(p.hosts) * int64(p.perHost) }

// setting returns the value of a word, "" if it is not set.
func (r *Request) setting(word string) string {
	value := ""
	for _, s := range r.Settings {
		if s.Word == word {
			value = s.Value
		}
	}
	return value
}

// places looks at the machine.
func (r *Request) places() (*places, error) {
	name := r.setting("platform")
	if machine := r.setting("machine"); machine != "" {
		name = machine
		if !regular.IsFile(machine) {
			platform, _, err := machines.Find(machine)
			if err != nil {
				return nil, err
			}
			name = platform
		}
	}
	each := 0
	if text := r.setting("ranks-per-host"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("ranks-per-host: %s, want a positive number", text)
		}
		each = n
	}
	if name == "" || name == generic && !regular.IsFile(name) {
		return &places{name: generic, perHost: max(each, 1)}, nil
	}
	p, err := replay.FindPlatform(name, 1)
	if err != nil {
		return nil, err
	}
	if each == 0 {
		each = p.Host(0).Cores
	}
	return &places{name, p.NumHosts(), each}, nil
}

// generic is the machine that is as large as it has to be.
const generic = "default"

// ranks returns how many ranks there are to be.
func (r *Request) ranks(p *places) (int, error) {
	ranks := p.hosts * p.perHost
	switch {
	case r.Ranks > 0 && r.Nodes > 0:
		return 0, errors.New("ranks and nodes are both given: leave one out")
	case r.Ranks > 0:
		ranks = r.Ranks
	case r.Nodes > 0:
		ranks = r.Nodes * p.perHost
	case !p.finite():
		return 0, fmt.Errorf("the machine %s is as large as it has to be: say how many ranks or nodes", p.name)
	}
	if nodes := (ranks + p.perHost - 1) / p.perHost; p.finite() && nodes > p.hosts {
		return 0, fmt.Errorf("%d ranks need %d nodes, and %s has %d, of %d ranks each", ranks, nodes, p.name, p.hosts,
			p.perHost)
	}
	return ranks, nil
}

// set sets a word.
func (r *Request) set(word, value string) {
	r.Settings = append(r.Settings, study.Setting{Word: word, Value: value})
}
