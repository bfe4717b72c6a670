package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/replay"
	"reprise/report/path"
	"reprise/report/record"
	"reprise/report/typedarray"
)

// This file words what the data of a page says: Diagnose.

// mostSentences bounds a diagnosis: who wants more looks at the tables.
const mostSentences = 6

// Diagnose says in plain words, with numbers, where the time of a run goes and what would help, the most important
// first. Parts that were not recorded have no sentence.
//
// It looks at the data of the page alone, so that what it says can be checked there.
func Diagnose(d *Data) []string {
	t := timesOf(d)
	var list []string
	add := func(sentence string) {
		if sentence != "" {
			list = append(list, sentence)
		}
	}
	add(t.whole())
	add(t.devices())

	// The two longest phases.
	all, phases := t.total(), slices.Clone(t.Phases)
	slices.SortStableFunc(phases, func(a, b replay.Share) int { return cmp.Compare(b.Mean, a.Mean) })
	phases = slices.DeleteFunc(phases, func(p replay.Share) bool { return p.Mean < worthTelling*all })
	switch {
	case all == 0 || len(phases) == 0:
	case len(phases) == 1:
		add(fmt.Sprintf("The longest phase is %s, %s of the time.", phases[0].Name, percent(phases[0].Mean/all)))
	default:
		add(fmt.Sprintf("The longest phases are %s, %s of the time, and %s, %s; phases may lie inside each other.",
			phases[0].Name, percent(phases[0].Mean/all), phases[1].Name, percent(phases[1].Mean/all)))
	}

	// The critical path says more of messages than the links do, so these stand in only where there is no path.
	if d.Path != nil {
		add(onPath(d.Path))
		add(whatIf(d.Path))
	} else if d.Record != nil && len(d.Record.Links.Hottest) > 0 && d.Record.Links.Hottest[0].Lost != 0 {
		hot, levels, level := &d.Record.Links.Hottest[0], d.Record.Links.Levels, ""
		if hot.Level >= 0 && hot.Level < len(levels) {
			level = levels[hot.Level] + " "
		}
		add(fmt.Sprintf("Messages lose the most time on %s%s, because they share it: %s in all; "+
			"over the run it carries %s of its capacity.", level, hot.Name, seconds(hot.Lost, 3), percent(hot.Use)))
	}

	// The greatest loss of parallel efficiency.
	if d.POP != nil {
		type loss struct {
			share float64
			to    string
		}
		worst := slices.MinFunc([]loss{
			{d.POP.LoadBalance, "unequal work"}, {d.POP.Serialisation, "ranks that wait for each other's work"},
			{d.POP.Wire, "the time that messages take"}, {d.POP.Contention, "messages that share links"},
		}, func(a, b loss) int { return cmp.Compare(a.share, b.share) })
		const rounding = 1e-9
		if d.POP.Parallel > 1-rounding {
			add("The parallel efficiency is 100 %: nothing is lost.")
		} else {
			add(fmt.Sprintf("The parallel efficiency is %s; most is lost to %s (%s).", percent(d.POP.Parallel), worst.to,
				percent(max(0, 1-worst.share))))
		}
	}
	if d.Record != nil {
		add(overTime(d.Record))
	}
	// The balance of work, where it is off by 2 % or more. Estimates do not know the ranks: their least and most are 0.
	const unequal = 1.02
	if c := named(t.Kinds, replay.TimeCompute.String()); c.Mean > 0 && c.Max >= unequal*c.Mean {
		add(fmt.Sprintf("The busiest rank computes %s longer than the mean, the idlest %s less.", percent(c.Max/c.Mean-1),
			percent(1-c.Min/c.Mean)))
	}
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

// whole says how the mean rank spends its time: a clause for each use of time that is worth telling. "Of its time"
// stands in the first of them only.
func (t *times) whole() string {
	all := t.total()
	if all == 0 {
		return ""
	}
	waiting, longest := 0.0, replay.Share{}
	for _, k := range t.Kinds {
		if !waits(k.Name) {
			continue
		}
		if waiting += k.Mean; k.Mean > longest.Mean {
			longest = k
		}
	}
	// Kernels that differ in their attributes only are one routine: people know dgemm, not each of its calls.
	var routines []replay.Share
	for _, k := range t.Kernels {
		name, _, _ := strings.Cut(k.Name, " ")
		i := slices.IndexFunc(routines, func(s replay.Share) bool { return s.Name == name })
		if i < 0 {
			routines, i = append(routines, replay.Share{Name: name}), len(routines)
		}
		routines[i].Mean += k.Mean
	}
	// Each use of time has words before and behind its share.
	spent := func(k replay.TimeKind) float64 { return named(t.Kinds, k.String()).Mean }
	list := []struct {
		before, after string
		mean          float64
	}{
		{"computes for ", mostly(routines, spent(replay.TimeCompute), all), spent(replay.TimeCompute)},
		{"waits for messages for ", mostly([]replay.Share{longest}, waiting, all), waiting},
		{"waits for its device for ", "", spent(replay.TimeDevice)},
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
	whose := "On average a rank "
	switch {
	case t.StoppedAt != nil:
		whose = "So far, on average, a rank "
	case t.Estimate:
		whose = "By estimate, on average, a rank "
	}
	if n := len(texts) - 1; n > 0 {
		return whose + strings.Join(texts[:n], ", ") + " and " + texts[n] + "."
	}
	return whose + strings.Join(texts, "") + "."
}

// devices says which share of the time devices are busy, and what they wait for else.
func (t *times) devices() string {
	all := 0.0
	for _, s := range t.Devices {
		all += s.Mean
	}
	if all == 0 {
		return ""
	}
	text, and := "A device is busy for "+percent(named(t.Devices, "busy").Mean/all)+" of the time", ", waits "
	for _, s := range t.Devices {
		if for_, waits := strings.CutPrefix(s.Name, "waits "); waits && s.Mean >= worthTelling*all {
			text += and + for_ + " for " + percent(s.Mean/all)
			and = " and "
		}
	}
	return text + "."
}

// worthTelling is the share of the time below which nothing is told.
const worthTelling = 0.005

// mostly names the share, if there is one, that is more than half of some, a part of all; percentages are of all.
func mostly(shares []replay.Share, some, all float64) string {
	for _, s := range shares {
		if s.Mean > some/2 {
			return fmt.Sprintf(", most of it in %s (%s)", s.Name, percent(s.Mean/all))
		}
	}
	return ""
}

// little is a share that is not worth a word.
const little = 0.05

// onPath says what the critical path consists of: the sums of kernels and of messages, each with its largest part.
// Polls have a word where they are more than a little.
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
	// Each sum is followed by its largest part, if it has any, with the place where that happens.
	text := "Of the critical path, the longest chain of events, " + percent(kernels/p.Seconds) + " is kernels"
	if kernel.Seconds > 0 {
		text += fmt.Sprintf(" (%s%s: %s)", kernel.Name, prefixed(" in ", kernel.Phase), percent(kernel.Seconds/p.Seconds))
	}
	text += " and " + percent(messages/p.Seconds) + " is messages"
	if message.Seconds > 0 {
		text += fmt.Sprintf(", above all %s%s%s (%s)", message.Kind, prefixed(" on ", message.Level),
			prefixed(" in ", message.Phase), percent(message.Seconds/p.Seconds))
	}
	if polls > little*p.Seconds {
		text += fmt.Sprintf("; %s is polls, and waiting for the next one", percent(polls/p.Seconds))
	}
	return text + "."
}

// prefixed puts words before a text, if there is any.
func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// leastGain is the share of the makespan below which a change gains nothing that is worth a sentence.
const leastGain = 0.001

// whatIf says what would help most, of all and of the network: the list has the greatest gain first, and the first of
// each of the two kinds is told.
func whatIf(p *path.Data) string {
	var texts []string
	told := map[bool]bool{} // by whether it is of the network
	for _, w := range p.WhatIfs {
		network := w.Kind == "latency" || w.Kind == "bandwidth"
		if told[network] || p.Seconds == 0 || w.Gain < leastGain*p.Seconds {
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
		if p.Seconds > 0 && len(p.WhatIfs) > 0 {
			return "What if: no change of 1 % would save 0.1 %."
		}
		return ""
	}
	return "What if: " + strings.Join(texts, ", and ") + "."
}

// DiagnoseRuns says in plain words how replays with several seeds differ.
func DiagnoseRuns(e *replay.Ensemble) []string {
	s := &e.Makespan
	if s.Mean == 0 {
		return []string{}
	}
	return []string{
		fmt.Sprintf("The quickest of %d runs takes %s, the slowest %s.", len(e.Runs), seconds(s.Min, 6), seconds(s.Max, 6)),
		fmt.Sprintf("One run scatters by %s around the mean, which is known to %s.", percent(s.SD/s.Mean),
			percent(s.Interval/s.Mean)),
	}
}

// DiagnoseDraws says in plain words how uncertain a prediction is, and by which part.
func DiagnoseDraws(u *replay.Uncertainty) []string {
	s := &u.Makespan
	if s.Mean == 0 {
		return []string{}
	}
	list := []string{fmt.Sprintf("%s of runs are expected between %s less and %s more than the mean.", percent(u.Level),
		percent(1-s.Low/s.Mean), percent(s.High/s.Mean-1))}
	if len(u.Parts) == 0 || u.Parts[0].Name == "sampling" { // no cause is known by itself
		return list
	}
	most := slices.MaxFunc(u.Parts, func(a, b replay.UncertaintyPart) int { return cmp.Compare(a.SD, b.SD) })
	return append(list, fmt.Sprintf("Most of that is %s: by itself it makes runs scatter by %s.", most.Name,
		percent(most.SD/s.Mean)))
}

// times is where the time of the mean rank went, in the JSON of a result. Of an estimate the least and the most of all
// ranks are not known, and 0.
type times struct {
	StoppedAt *float64       `json:"stopped_at_s"`
	Kinds     []replay.Share `json:"time_by_kind"`
	Phases    []replay.Share `json:"time_by_phase"`
	Kernels   []replay.Share `json:"time_by_kernel"`
	Devices   []replay.Share `json:"device_by_state"`
	Estimate  bool           `json:"estimate"`
}

// timesOf returns where the time went, by the tables of data if there are any. Results of several replays have lists of
// runs in place of tables, and nothing of them is read here.
func timesOf(d *Data) *times {
	t := &times{}
	if err := json.Unmarshal(d.Result, t); err != nil {
		t = &times{}
	}
	if len(d.Tables) == 0 {
		return t
	}
	by := map[string][]replay.Share{}
	for _, table := range d.Tables {
		for _, r := range table.Rows {
			by[table.By] = append(by[table.By], replay.Share{Name: r.Name, Mean: r.Mean})
		}
	}
	return &times{Kinds: by["kind"], Phases: by["phase"], Kernels: by["kernel"], Estimate: t.Estimate}
}

// total returns the end of the mean rank, in seconds.
func (t *times) total() float64 {
	sum := 0.0
	for _, k := range t.Kinds {
		sum += k.Mean
	}
	return sum
}

// named returns the row with a name, one of nothing if there is none.
func named(shares []replay.Share, name string) replay.Share {
	for _, s := range shares {
		if s.Name == name {
			return s
		}
	}
	return replay.Share{Name: name}
}

// seconds writes a time with the unit that leaves it between 1 and 1000, as page/units.js does, with at most
// so many digits, and all of a whole number.
func seconds(v float64, digits int) string {
	if v == 0 {
		return "0 s"
	}
	of, name := 1.0, ""
	for _, unit := range []struct {
		of   float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}} {
		if of, name = unit.of, unit.name; v >= 0.9995*of {
			break
		}
	}
	// All digits of a whole number are kept: 1234 s with two digits would be 1200 s.
	whole := len(strconv.FormatFloat(math.Floor(v/of), 'f', 0, 64))
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v/of, 'g', max(digits, whole), 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " " + name
}

// percent writes a share of 1 with as many digits as one reads.
func percent(share float64) string {
	switch {
	case share < 0.001 && share > 0:
		return "under 0.1 %"
	case share < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// overTime says how the share of waiting changes over the run, if it does: the first quarter of the columns against the
// last one. Steps of HPL grow shorter, so these are no quarters of the time.
func overTime(d *record.Data) string {
	const change = 0.05
	c := d.Columns.Count / 4
	// The least that a quarter can be is a column. Values of another length are those of a forged page.
	values, err := typedarray.Values[float32](d.Series.Values)
	if err != nil || c < 1 || len(values) < 3*d.Columns.Count*len(d.Series.Kinds) {
		return ""
	}
	waiting := func(from, to int) float64 { // the share of their time that ranks wait or poll in these columns
		var some, all float64
		for row, kind := range d.Series.Kinds {
			sum := 0.0
			for _, v := range values[3*row*d.Columns.Count:][from:to] { // the means
				sum += float64(v)
			}
			if all += sum; waits(kind) || kind == replay.TimePoll.String() {
				some += sum
			}
		}
		if all == 0 {
			return 0
		}
		return some / all
	}
	first, last := waiting(0, c), waiting(d.Columns.Count-c, d.Columns.Count)
	if last-first < change && first-last < change {
		return ""
	}
	columns := "steps"
	if d.Columns.Kind != "step" {
		columns = "run"
	}
	return fmt.Sprintf("In the first quarter of the %s ranks wait or poll for %s of their time, in the last for %s.",
		columns, percent(first), percent(last))
}
