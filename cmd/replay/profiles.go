package main

import (
	"fmt"
	"io"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/platforms"
)

// checkProfiles refuses parts of a trace where the machine changes with time.
func (s *settings) checkProfiles(p *platforms.Platform) error {
	if len(p.Profiles()) == 0 {
		return nil
	}
	for _, o := range []struct {
		name string
		set  bool
	}{{"steps", s.from > 0 || s.to > 0}, {"tolerance", s.sample.tolerance > 0}, {"budget", s.sample.budget > 0}} {
		if o.set {
			return command.Usagef("--%s: %s has profiles, whose times are of a run from its beginning: all steps must be played",
				o.name, p.Name())
		}
	}
	return nil
}

// changing is how a quantity of the machine changes, as replay platform tells it.
type changing struct {
	What    string  `json:"what"`
	Target  string  `json:"target"`
	Profile string  `json:"profile"`
	Values  int     `json:"values"` // of a round
	First   float64 `json:"first_s"`
	Last    float64 `json:"last_s"`
	Period  float64 `json:"period_s,omitempty"` // 0: it does not begin anew
}

// profilesOf lists what changes.
func profilesOf(p *platforms.Platform) (list []changing) {
	for _, use := range p.Profiles() {
		c := changing{What: use.Kind.String(), Target: use.Target, Profile: use.Profile.Name, Values: use.Profile.Len()}
		c.First, c.Last = use.Profile.Span()
		c.Period, _ = use.Profile.Repeats()
		list = append(list, c)
	}
	return list
}

// mostProfiles is the number of profiles that the text lists.
const mostProfiles = 20

func writeProfiles(w io.Writer, list []changing) {
	if len(list) > 0 {
		fmt.Fprintf(w, "\n%s\n", textutil.Count(len(list), "profile"))
	}
	for i, c := range list {
		if i == mostProfiles {
			fmt.Fprintf(w, "  and %d more (--json lists all)\n", len(list)-i)
			return
		}
		again := ""
		if c.Period > 0 {
			again = fmt.Sprintf(", again every %.6g s", c.Period)
		}
		fmt.Fprintf(w, "  %s %s\t%s\t%s\tfrom %.6g s to %.6g s%s\n", c.What, c.Target, c.Profile,
			textutil.Count(c.Values, "value"), c.First, c.Last, again)
	}
}
