package replay

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay/collective"
	"reprise/smpi"
	"reprise/trace/warning"
)

// warnings returns all that is odd about the machine that was loaded. What polls cost is told
// by the result where it is not known before that there are any.
func (l *loader) warnings() []warning.Warning {
	if l.polls {
		l.chosen = append(l.chosen, l.defaultPolls()...)
	} else {
		l.machine.pollCost = l.defaultPolls()
	}
	lists := [][]warning.Warning{l.chosen, l.odd,
		netmodel.Windowed(l.machine.Platform, &l.options.Network.Options, l.machine.Hosts), l.oversubscribed()}
	if l.machine.Kernels != nil {
		lists = append(lists, l.unknownHosts(), l.nominal(), l.modelless(), l.steady(), l.unscaled())
	}
	if l.spec.ComputeScale != 0 && l.noFlops {
		lists = append(lists, []warning.Warning{warning.New("compute-scale changes nothing: the trace has no computations in flop, and kernels take what their models say")})
	}
	return warning.Join(lists...)
}

// defaultPolls warns that polls cost what SimGrid has by default, which was measured on no
// machine, if the platform is a file and neither that nor the settings say anything else.
// Built-in machines are as they were published.
func (l *loader) defaultPolls() []warning.Warning {
	const name = "smpi/iprobe"
	inFile := slices.ContainsFunc(l.machine.Platform.Config(), func(p platforms.Prop) bool { return p.Name == name })
	if l.builtin || inFile || l.sets(name) {
		return nil
	}
	grows, and := "", ""
	if l.options.Network.GrowInjectedTimes {
		grows, and = " and more with each miss", " and smpi/grow-injected-times:no"
	}
	return []warning.Warning{warning.New("a poll costs SimGrid's default of %g s%s: set smpi/iprobe:SECONDS%s for predictions (docs/replay.md#polls)", l.options.Network.IprobeCost, grows, and).As(warning.Choice)}
}

// ownModel warns of a platform that asks for another network model than smpirun would play, which sets that of SMPI
// on SimGrid's command line, where it wins over the platform; unless the settings choose the model.
func (l *loader) ownModel(o smpi.Options) {
	asked := o.Model
	if err := o.Set("network/model", "SMPI"); err != nil || o.Model == asked || l.sets("network/model") ||
		l.sets("host/model") {
		return
	}
	l.odd = append(l.odd, warning.New("%s asks for the network model %v, which is played: smpirun would play %v, whatever a platform asks for; network/model:SMPI (replay --network smpi) does that here", l.spec.Platform, asked, o.Model))
}

// nominal warns of kernels that go by a speed which is not that of the cores.
func (l *loader) nominal() []warning.Warning {
	m := &l.machine
	if !m.Platform.NominalSpeed() {
		return nil
	}
	names := m.kernelsIn(kernels.Flop, l.called, m.Hosts[0])
	if len(names) == 0 {
		return nil
	}
	return []warning.Warning{warning.New("the speed of %s's hosts, %.4g flop/s, is nominal, but %s of %s goes by it: the machine's own models, %s, are in seconds",
		l.spec.Platform, m.Platform.Host(0).Speed, andOthers(names), l.spec.Kernels, l.spec.Platform)}
}

// oversubscribed warns of ranks that share cores, and of kernels that are not slowed down by that.
func (l *loader) oversubscribed() []warning.Warning {
	m := &l.machine
	host, ranks, ok := m.Oversubscribed()
	if !ok {
		return nil
	}
	ph := m.Platform.Host(int(host))
	text := fmt.Sprintf("host %s runs %s on %s", ph.Name, textutil.Count(ranks, "rank"), textutil.Count(ph.Cores, "core"))
	if names := m.kernelsIn(kernels.Seconds, l.called, host); len(names) > 0 {
		text += fmt.Sprintf(", and %s is not slowed down by that: models in seconds take theirs, only those in flop share the cores", andOthers(names))
	} else {
		text += ", which they share"
	}
	return []warning.Warning{warning.New("%s", text)}
}

// modelless warns of kernels for which not all hosts have a model: whether they are called
// where there is none, and of a stream whether they are at all, is not known before the end.
func (l *loader) modelless() (list []warning.Warning) {
	nowhere, somewhere := l.machine.withoutModel(l.called)
	if len(nowhere) > 0 && l.streams { // a file is refused
		list = append(list, warning.New("%s has no model for %s, which the trace declares: the replay ends where it is called", l.spec.Kernels, andOthers(nowhere)).As(warning.Risk))
	}
	if len(somewhere) > 0 {
		list = append(list, warning.New("%s has a model for %s on some of the hosts only: the replay ends where it is called on another one", l.spec.Kernels, andOthers(somewhere)).As(warning.Risk))
	}
	return list
}

// steady warns of kernels that do not follow the speed of a host which changes.
func (l *loader) steady() []warning.Warning {
	m := &l.machine
	for _, use := range m.Platform.Profiles() {
		if use.Kind != platforms.HostSpeed || !slices.Contains(m.Hosts, use.Host) {
			continue
		}
		if names := m.kernelsIn(kernels.Seconds, l.called, use.Host); len(names) > 0 {
			return []warning.Warning{warning.New("the speed of host %q has a profile, which %s does not follow: models in seconds are measured times, only those in flop go by the speed", use.Target, andOthers(names))}
		}
	}
	return nil
}

// unscaled warns of kernels that do not follow the constant factor which a profile is.
func (l *loader) unscaled() []warning.Warning {
	m := &l.machine
	for _, use := range m.Platform.ConstantSpeeds() {
		if !slices.Contains(m.Hosts, use.Host) {
			continue
		}
		if names := m.kernelsIn(kernels.Seconds, l.called, use.Host); len(names) > 0 {
			return []warning.Warning{warning.New("host %q has %g of its speed, which %s does not follow: models in seconds are measured times, only those in flop go by the speed; replay --host-speed scales both", use.Target, use.Factor(), andOthers(names))}
		}
	}
	return nil
}

// andOthers names the first of one or more kernels and says how many others there are.
func andOthers(names []string) string {
	if len(names) == 1 {
		return "kernel " + names[0]
	}
	return fmt.Sprintf("kernel %s (and %s)", names[0], textutil.Count(len(names)-1, "other"))
}

// mostUnknown is how many names of hosts a warning has.
const mostUnknown = 5

// unknownHosts warns of models for hosts that the platform does not have. A built-in set of
// models may be for more of them.
func (l *loader) unknownHosts() []warning.Warning {
	p := l.machine.Platform
	names := func(yield func(string) bool) {
		for i := 0; i < p.NumHosts() && yield(p.Host(i).Name); i++ {
		}
	}
	list, some := l.machine.Kernels.Unmatched(names)
	switch {
	case len(list) == 0 || some && !regular.IsFile(l.spec.Kernels):
		return nil
	case !some:
		return []warning.Warning{warning.New("%s has models for hosts by name, but none is a host of %s, whose first is %q",
			l.spec.Kernels, l.spec.Platform, p.Host(0).Name)}
	}
	text := ""
	for _, name := range list[:min(len(list), mostUnknown)] {
		text += ", " + textutil.Quote(name)
	}
	if more := len(list) - mostUnknown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []warning.Warning{warning.New("%s has models for hosts that %s does not have: %s", l.spec.Kernels,
		l.spec.Platform, text[2:])}
}

// knownAlgorithm refuses names of algorithms for collective operations that are none here.
// In a platform's file they may be, where nobody calls the operation.
func knownAlgorithm(option, name string) error {
	name = strings.TrimSpace(name)
	operation, ok := strings.CutPrefix(option, "smpi/")
	if known := collective.Algorithms(operation); ok && known != nil && !slices.Contains(known, name) {
		return fmt.Errorf("algorithm %s of %s, known are %s", textutil.Quote(name), operation, strings.Join(known, ", "))
	}
	return nil
}
