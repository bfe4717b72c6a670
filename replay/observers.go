package replay

import (
	"math"

	"reprise/netmodel"
	"reprise/replay/tape"
	"reprise/trace"
)

// Observers returns an Observer that tells all of a list, in their order: nil for none, and
// of one that one. At most one of them is Taped.
func Observers(list ...Observer) Observer {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	var all asked
	var wide, narrow []Observer
	for _, o := range list {
		part := whatIsAsked(o)
		if part.tapes != nil && all.tapes != nil {
			panic("replay: tapes of two observers")
		}
		if part.tapes != nil {
			all.tapes = part.tapes
		}
		if part.wide != nil {
			wide = append(wide, part.wide)
		}
		if part.narrow != nil {
			narrow = append(narrow, part.narrow)
		}
	}
	all.wide = together(wide)
	all.narrow, _ = together(narrow).(Narrow)
	return &all
}

// asked is what observers ask for together. As an Observer it is told nothing: its parts are.
type asked struct {
	Ignore
	tapes  *tape.Tapes // nil: nobody asks for paths
	wide   Observer    // that is told of all ranks; nil: none
	narrow Narrow      // that is told of some; nil: none
}

// whatIsAsked returns what an observer asks for.
func whatIsAsked(o Observer) asked {
	switch o := o.(type) {
	case *asked:
		return *o
	case Taped:
		return asked{tapes: o.Tapes()}
	case Narrow:
		return asked{narrow: o}
	}
	return asked{wide: o}
}

// together returns an observer that tells all of a list: nil for none.
func together(list []Observer) Observer {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	all := &observers{all: list}
	for _, o := range list {
		if !sparedBy(o).Actions {
			all.acting = append(all.acting, o)
		}
		if a := accountingOf(o); a != nil {
			all.accounting = append(all.accounting, a)
		}
		if s := summingOf(o); s != nil {
			all.summing = append(all.summing, s)
		}
	}
	return all
}

// A Narrow observer asks only for what the ranks [first, end) do, for the messages that one of
// them may receive, and for the posts of those that one of them sends, which takes less time. It is
// not told what the network carries. Marks apart, it is told nothing before the first of these ranks
// comes to step from, then first of all what is open; and nothing after the last has come to step to,
// but what becomes of messages.
type Narrow interface {
	Observer
	Ranks() (first, end int32)
	Steps() (from, to int64) // 0, math.MaxInt64: all of the run
}

// A Taped observer asks for nothing but the longest paths to the clocks of ranks, which takes less
// time: the replay keeps its tapes, and none of its methods are called.
type Taped interface {
	Observer
	Tapes() *tape.Tapes
}

// An Accounting observer is told sums of what a rank has spent its time on, which takes less time
// than to add up what passes.
type Accounting interface {
	Observer
	// Spent tells what a rank has spent its time on by now, in seconds: a number for each kind of
	// time, with kernels, for each kernel and for each phase, of which one that is open counts up to
	// now. It is called when the rank begins, at 0 s or where a checkpoint is, before each Marked of
	// a step, and when its time is over. The numbers are the caller's, up to its next call.
	Spent(rank int32, at float64, sums []float64, over bool)
}

// A Summing observer is told of transfers as many at once, which takes less time: in their order,
// and all of them by the end of the replay.
type Summing interface {
	Observer
	// Transferred tells of transfers that have ended. The list is the caller's.
	Transferred(list []Transferred)
}

// Transferred is a transfer that has ended.
type Transferred struct {
	Src, Dst int32   // ranks
	At       float64 // when it has, seconds
	Factor   float64 // of its rate: see netmodel.Network.Factor
	netmodel.Summary
}

// A Sparing observer does without some of what there is to tell, which takes less time.
type Sparing interface {
	Observer
	Spares() Spared
}

// Spared is what an observer does without.
type Spared struct {
	Actions  bool // ActionBegins and ActionEnds are not called
	Times    bool // TimePasses is not called
	Messages bool // SendPosted, ReceivePosted, Merged, Started, Ended and Released are not called
	Carried  bool // Carried is not called
}

// sparedBy returns what an observer does without.
func sparedBy(o Observer) Spared {
	if s, ok := o.(Sparing); ok {
		return s.Spares()
	}
	return Spared{}
}

// observers are told the same, but for actions and sums, of which only those are told that want to
// be.
type observers struct {
	all, acting []Observer
	accounting  []Accounting
	summing     []Summing
}

// accountingOf returns an observer that is told sums of times, nil if it is not.
func accountingOf(o Observer) Accounting {
	if list, ok := o.(*observers); ok && list.accounting == nil {
		return nil
	}
	a, _ := o.(Accounting)
	return a
}

// summingOf returns an observer that is told of many messages at once, nil if it is not.
func summingOf(o Observer) Summing {
	if list, ok := o.(*observers); ok && list.summing == nil {
		return nil
	}
	s, _ := o.(Summing)
	return s
}

// Ranks implements Narrow: all ranks that one of them asks for. The others know their own.
func (list *observers) Ranks() (first, end int32) {
	first = math.MaxInt32
	for _, o := range list.all {
		if n, ok := o.(Narrow); ok {
			from, to := n.Ranks()
			first, end = min(first, from), max(end, to)
		}
	}
	return first, end
}

// Steps implements Narrow: all steps that one of them asks for.
func (list *observers) Steps() (from, to int64) {
	from = math.MaxInt64
	for _, o := range list.all {
		if n, ok := o.(Narrow); ok {
			first, end := n.Steps()
			from, to = min(from, first), max(to, end)
		}
	}
	return from, to
}

// Spent implements Accounting.
func (list *observers) Spent(rank int32, at float64, sums []float64, over bool) {
	for _, o := range list.accounting {
		o.Spent(rank, at, sums, over)
	}
}

// Transferred implements Summing.
func (list *observers) Transferred(ended []Transferred) {
	for _, o := range list.summing {
		o.Transferred(ended)
	}
}

// Spares implements Sparing: what all do without.
func (list *observers) Spares() Spared {
	all := Spared{Actions: true, Times: true, Messages: true, Carried: true}
	for _, o := range list.all {
		s := sparedBy(o)
		all = Spared{all.Actions && s.Actions, all.Times && s.Times, all.Messages && s.Messages, all.Carried && s.Carried}
	}
	return all
}

// ActionBegins implements Observer.
func (list *observers) ActionBegins(rank int32, a trace.Action, at float64) {
	for _, o := range list.acting {
		o.ActionBegins(rank, a, at)
	}
}

// ActionEnds implements Observer.
func (list *observers) ActionEnds(rank int32, at float64) {
	for _, o := range list.acting {
		o.ActionEnds(rank, at)
	}
}

// Marked implements Observer.
func (list *observers) Marked(rank int32, mark trace.Action, at float64) {
	for _, o := range list.all {
		o.Marked(rank, mark, at)
	}
}

// TimePasses implements Observer.
func (list *observers) TimePasses(rank int32, k TimeKind, kernel int32, from, to float64) {
	for _, o := range list.all {
		o.TimePasses(rank, k, kernel, from, to)
	}
}

// Released implements Observer.
func (list *observers) Released(rank, message int32, since, at float64) {
	for _, o := range list.all {
		o.Released(rank, message, since, at)
	}
}

// SendPosted implements Observer.
func (list *observers) SendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	for _, o := range list.all {
		o.SendPosted(message, src, dst, tag, bytes, at)
	}
}

// ReceivePosted implements Observer.
func (list *observers) ReceivePosted(message, dst, src, tag int32, bytes int64, at float64) {
	for _, o := range list.all {
		o.ReceivePosted(message, dst, src, tag, bytes, at)
	}
}

// Merged implements Observer.
func (list *observers) Merged(send, receive int32) {
	for _, o := range list.all {
		o.Merged(send, receive)
	}
}

// Started implements Observer.
func (list *observers) Started(message int32, at float64) {
	for _, o := range list.all {
		o.Started(message, at)
	}
}

// Carried implements Observer.
func (list *observers) Carried(message int32, from, to, rate, alone float64, link int32) {
	for _, o := range list.all {
		o.Carried(message, from, to, rate, alone, link)
	}
}

// Ended implements Observer.
func (list *observers) Ended(message int32, at float64) {
	for _, o := range list.all {
		o.Ended(message, at)
	}
}
