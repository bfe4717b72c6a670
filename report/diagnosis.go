package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/report/record"
)

// mostSentences bounds a diagnosis: who wants more looks at the tables.
const mostSentences = 6

// Diagnose says in plain words, with numbers, what takes the time of a run and what would
// help, the most important first. Of what was not recorded it says nothing.
func Diagnose(d *Data) []string {
	t := timesOf(d)
	list := []string{t.whole(), t.phases()}
	if d.Path != nil {
		list = append(list, onPath(d.Path), whatIf(d.Path))
	} else if d.Record != nil {
		list = append(list, onLinks(&d.Record.Links))
	}
	if d.POP != nil {
		list = append(list, efficiency(d.POP))
	}
	if d.Record != nil {
		list = append(list, overTime(d.Record))
	}
	list = append(list, t.balance())
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	switch {
	case len(list) == 0 && t.Kinds != nil:
		return []string{"Nothing takes any time."}
	case len(list) == 0:
		return []string{"Where the time went was not recorded."}
	}
	return list[:min(len(list), mostSentences)]
}

// waits reports whether a kind of time is one in which a rank is blocked until a message comes.
func waits(kind string) bool {
	for k := range replay.TimeOverhead + 1 {
		if k.String() == kind {
			return k.Waits()
		}
	}
	return false
}

// whole says what a rank spends its time on.
func (t *times) whole() string {
	all := t.total()
	if all == 0 {
		return ""
	}
	waiting, longest := 0.0, share{}
	for _, k := range t.Kinds {
		if !waits(k.Name) {
			continue
		}
		if waiting += k.Mean; k.Mean > longest.Mean {
			longest = k
		}
	}
	spent := func(k replay.TimeKind) float64 { return named(t.Kinds, k.String()).Mean }
	list := []struct {
		before, after string
		mean          float64
	}{
		{"computes for ", mostly(routines(t.Kernels), spent(replay.TimeCompute), all), spent(replay.TimeCompute)},
		{"waits for messages for ", mostly([]share{longest}, waiting, all), waiting},
		{"polls for ", "", spent(replay.TimePoll)},
		{"spends ", " on overheads of messages", spent(replay.TimeOverhead)},
		{"sleeps for ", "", spent(replay.TimeSleep)},
	}
	var texts []string
	of := " of its time"
	for _, a := range list {
		if a.mean >= worthTelling*all {
			texts = append(texts, a.before+percent(a.mean/all)+of+a.after)
			of = ""
		}
	}
	return t.begin("a rank ") + enumerated(texts) + "."
}

// worthTelling is the share of the time below which nothing is told.
const worthTelling = 0.005

// mostly says what most of some time is, if one thing is more than half of it.
func mostly(shares []share, some, all float64) string {
	for _, s := range shares {
		if s.Mean > some/2 {
			return fmt.Sprintf(", most of it in %s (%s)", s.Name, percent(s.Mean/all))
		}
	}
	return ""
}

// begin begins a sentence about ranks.
func (t *times) begin(text string) string {
	switch {
	case t.StoppedAt != nil:
		return "So far, on average, " + text
	case t.Estimate:
		return "By estimate, on average, " + text
	}
	return "On average " + text
}

// phases names the two longest phases.
func (t *times) phases() string {
	all, list := t.total(), slices.Clone(t.Phases)
	slices.SortStableFunc(list, func(a, b share) int { return cmp.Compare(b.Mean, a.Mean) })
	list = slices.DeleteFunc(list, func(p share) bool { return p.Mean < worthTelling*all })
	switch {
	case all == 0 || len(list) == 0:
		return ""
	case len(list) == 1:
		return fmt.Sprintf("The longest phase is %s, %s of the time.", list[0].Name, percent(list[0].Mean/all))
	}
	return fmt.Sprintf("The longest phases are %s, %s of the time, and %s, %s; phases may lie inside each other.",
		list[0].Name, percent(list[0].Mean/all), list[1].Name, percent(list[1].Mean/all))
}

// balance says how unequal the work of the ranks is, if it is.
func (t *times) balance() string {
	const unequal = 1.02
	c := named(t.Kinds, replay.TimeCompute.String())
	if c.Mean == 0 || c.Max < unequal*c.Mean {
		return ""
	}
	return fmt.Sprintf("The busiest rank computes %s longer than the mean, the idlest %s less.", percent(c.Max/c.Mean-1), percent(1-c.Min/c.Mean))
}

// little is a share that is not worth a word.
const little = 0.05

// onPath says what the critical path consists of.
func onPath(p *path.Data) string {
	if p.Seconds == 0 {
		return ""
	}
	var kernels, messages, polls float64
	var kernel, message path.Part
	for _, part := range p.Parts {
		switch part.Kind {
		case "kernel", "flop":
			if kernels += part.Seconds; part.Seconds > kernel.Seconds {
				kernel = part
			}
		case "latency", "wire", "contention":
			if messages += part.Seconds; part.Seconds > message.Seconds {
				message = part
			}
		case "poll":
			polls += part.Seconds
		}
	}
	text := "Of the critical path, the longest chain of events, " + percent(kernels/p.Seconds) + " is kernels"
	if kernel.Seconds > 0 {
		text += fmt.Sprintf(" (%s%s: %s)", kernel.Name, in(kernel.Phase), percent(kernel.Seconds/p.Seconds))
	}
	text += " and " + percent(messages/p.Seconds) + " is messages"
	if message.Seconds > 0 {
		text += fmt.Sprintf(", above all %s%s%s (%s)", message.Kind, on(message.Level), in(message.Phase), percent(message.Seconds/p.Seconds))
	}
	if polls > little*p.Seconds {
		text += fmt.Sprintf("; %s is polls, and waiting for the next one", percent(polls/p.Seconds))
	}
	return text + "."
}

func in(phase string) string { return prefixed(" in ", phase) }
func on(level string) string { return prefixed(" on ", level) }

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// whatIf says what would help most, of all and of the network.
func whatIf(p *path.Data) string {
	var texts []string
	told := map[bool]bool{}
	for _, w := range p.WhatIfs {
		network := w.Kind == "latency" || w.Kind == "bandwidth"
		if told[network] || w.Gain <= 0 || p.Seconds == 0 {
			continue
		}
		told[network] = true
		text := fmt.Sprintf("%s would save %.2g %%", w.What, 100*w.Gain/p.Seconds)
		if w.Replayed == nil {
			text += " (no replay has confirmed it)"
		} else {
			text += fmt.Sprintf(" (%.2g %% in a replay with it)", 100**w.Replayed/p.Seconds)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return "What if: " + strings.Join(texts, ", and ") + "."
}

// onLinks says where messages lose the most time.
func onLinks(l *record.Links) string {
	if len(l.Hottest) == 0 || l.Hottest[0].Lost == 0 {
		return ""
	}
	hot := &l.Hottest[0]
	level := ""
	if hot.Level >= 0 && hot.Level < len(l.Levels) {
		level = l.Levels[hot.Level] + " "
	}
	return fmt.Sprintf("Messages lose the most time on %s%s, because they share it: %s in all; over the run it carries %s of its capacity.", level, hot.Name, seconds(hot.Lost, 3), percent(hot.Use))
}

// efficiency says to what most of the parallel efficiency is lost.
func efficiency(d *pop.Data) string {
	type loss struct {
		share float64
		to    string
	}
	worst := slices.MinFunc([]loss{
		{d.LoadBalance, "unequal work"}, {d.Serialisation, "ranks that wait for each other's work"},
		{d.Wire, "the time that messages take"}, {d.Contention, "messages that share links"},
	}, func(a, b loss) int { return cmp.Compare(a.share, b.share) })
	const rounding = 1e-9
	if d.Parallel > 1-rounding {
		return "The parallel efficiency is 100 %: nothing is lost."
	}
	return fmt.Sprintf("The parallel efficiency is %s; most is lost to %s (%s).", percent(d.Parallel), worst.to, percent(max(0, 1-worst.share)))
}
