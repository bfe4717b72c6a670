package main

import (
	"fmt"
	"slices"

	"reprise/internal/command"
	"reprise/internal/words"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/warning"
)

// note notes what was chosen where the command line leaves it open, and what follows.
func (m *machine) note(format string, args ...any) {
	m.notes = append(m.notes, warning.New(format, args...))
}

// notePolls notes that polls cost what SimGrid has by default, which was measured on no
// machine, if the platform is a file and neither that nor the command line says anything
// else. Built-in machines are as they were published.
func (m *machine) notePolls(s *settings, polls bool, o *netmodel.Options) {
	const name = "smpi/iprobe"
	set := s.sets(name) ||
		slices.ContainsFunc(m.Platform.Config(), func(p platforms.Prop) bool { return p.Name == name })
	if set || s.platform == "" || !command.Exists(s.platform) || !polls {
		return
	}
	grows, and := "", ""
	if o.GrowInjectedTimes {
		grows, and = " and more with each miss", " and smpi/grow-injected-times:no"
	}
	m.note("a poll costs SimGrid's default of %g s%s: --cfg smpi/iprobe:SECONDS%s for predictions (docs/replay.md#polls)", o.IprobeCost, grows, and)
}

// warnings tell what was chosen for the user, and what of the machine has no effect, or one
// that is hardly meant.
func (m *machine) warnings() []warning.Warning { return warning.Join(m.notes, m.oddities()) }

// oddities is warnings without what was chosen, which causes no error: what one carries.
func (m *machine) oddities() []warning.Warning {
	list := slices.Concat(m.odd, m.crowded())
	if m.Kernels != nil {
		list = slices.Concat(list, m.strangers(), m.nominal(), m.incomplete, m.steady())
	}
	return list
}

// nominal warns of kernels that go by a speed which is not that of the cores.
func (m *machine) nominal() []warning.Warning {
	if !m.Platform.NominalSpeed() {
		return nil
	}
	names := m.KernelsIn(kernels.Flop, m.called, m.Hosts[0])
	if len(names) == 0 {
		return nil
	}
	return []warning.Warning{warning.New("the speed of %s's hosts, %.4g flop/s, is nominal, but %s of %s goes by it: the machine's own models, %s, are in seconds",
		m.platformName, m.Platform.Host(0).Speed, andOthers(names), m.kernelName, m.platformName)}
}

// crowded warns of ranks that share cores, and of kernels that are not slowed down by that.
func (m *machine) crowded() []warning.Warning {
	host, ranks, ok := m.Crowded()
	if !ok {
		return nil
	}
	ph := m.Platform.Host(int(host))
	text := fmt.Sprintf("host %s runs %s on %s", ph.Name, words.Count(ranks, "rank"), words.Count(ph.Cores, "core"))
	if names := m.KernelsIn(kernels.Seconds, m.called, host); len(names) > 0 {
		text += fmt.Sprintf(", and %s is not slowed down by that: models in seconds take theirs, only those in flop share the cores", andOthers(names))
	} else {
		text += ", which they share"
	}
	return []warning.Warning{warning.New("%s", text)}
}

// modelless warns of kernels for which not all hosts have a model: whether they are called
// where there is none, and of a stream whether they are at all, is not known before the end.
func (m *machine) modelless() []warning.Warning {
	if m.Kernels == nil {
		return nil
	}
	var list []warning.Warning
	nowhere, somewhere := m.WithoutModel(m.called)
	if len(nowhere) > 0 && m.streams { // a file is refused
		list = append(list, warning.New("%s has no model for %s, which the trace declares: the replay ends where it is called", m.kernelName, andOthers(nowhere)))
	}
	if len(somewhere) > 0 {
		list = append(list, warning.New("%s has a model for %s on some of the hosts only: the replay ends where it is called on another one", m.kernelName, andOthers(somewhere)))
	}
	return list
}

// andOthers names the first of one or more kernels and says how many others there are.
func andOthers(names []string) string {
	if len(names) == 1 {
		return "kernel " + names[0]
	}
	return fmt.Sprintf("kernel %s (and %s)", names[0], words.Count(len(names)-1, "other"))
}

// mostStrangers is how many names of hosts a warning has.
const mostStrangers = 5

// strangers warns of models for hosts that the platform does not have. A built-in set of
// models may be for more of them.
func (m *machine) strangers() []warning.Warning {
	p := m.Platform
	names := func(yield func(string) bool) {
		for i := 0; i < p.NumHosts() && yield(p.Host(i).Name); i++ {
		}
	}
	list, some := m.Kernels.Unmatched(names)
	switch {
	case len(list) == 0 || some && !command.Exists(m.kernelName):
		return nil
	case !some:
		return []warning.Warning{warning.New("%s has models for hosts by name, but none is a host of %s, whose first is %q", m.kernelName, m.platformName, p.Host(0).Name)}
	}
	text := ""
	for _, name := range list[:min(len(list), mostStrangers)] {
		text += ", " + words.Quote(name)
	}
	if more := len(list) - mostStrangers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []warning.Warning{warning.New("%s has models for hosts that %s does not have: %s", m.kernelName, m.platformName, text[2:])}
}
