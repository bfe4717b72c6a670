package replay

import (
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
	all := &observers{}
	for _, o := range list {
		if t, ok := o.(Taped); ok {
			if all.tapes != nil {
				panic("replay: tapes of two observers")
			}
			all.tapes = t.Tapes()
			continue
		}
		all.told = append(all.told, o)
		if !sparedBy(o).Actions {
			all.acting = append(all.acting, o)
		}
	}
	return all
}

// A Taped observer asks for nothing but the longest paths to the clocks of ranks, which takes less
// time: the replay keeps its tapes, and none of its methods are called.
type Taped interface {
	Observer
	Tapes() *tape.Tapes
}

// A Sparing observer does without some of what there is to tell, which takes less time.
type Sparing interface {
	Observer
	Spares() Spared
}

// Spared is what an observer does without.
type Spared struct {
	Actions bool // ActionBegins and ActionEnds are not called
	// Parts: Carried is called once for each transfer, at its end, with the mean rate, with
	// alone as it is then, and with the link that bounds it then, or if it is alone by then the
	// one with which it began.
	Parts bool
}

// sparedBy returns what an observer does without.
func sparedBy(o Observer) Spared {
	if s, ok := o.(Sparing); ok {
		return s.Spares()
	}
	return Spared{}
}

// askedFor returns who is to be told, and whose tapes are kept; nil for nobody.
func askedFor(o Observer) (to Observer, tapes *tape.Tapes) {
	switch o := o.(type) {
	case nil:
		return nil, nil
	case Taped:
		return nil, o.Tapes()
	case *observers:
		switch len(o.told) {
		case 0:
			return nil, o.tapes
		case 1:
			return o.told[0], o.tapes
		}
		return o, o.tapes
	}
	return o, nil
}

// observers are told the same, but for actions, which those that spare them are not told.
type observers struct {
	told, acting []Observer
	tapes        *tape.Tapes
}

// Spares implements Sparing: what all do without.
func (list *observers) Spares() Spared {
	all := Spared{Actions: true, Parts: true}
	for _, o := range list.told {
		s := sparedBy(o)
		all.Actions, all.Parts = all.Actions && s.Actions, all.Parts && s.Parts
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
	for _, o := range list.told {
		o.Marked(rank, mark, at)
	}
}

// TimePasses implements Observer.
func (list *observers) TimePasses(rank int32, k TimeKind, kernel int32, from, to float64) {
	for _, o := range list.told {
		o.TimePasses(rank, k, kernel, from, to)
	}
}

// Released implements Observer.
func (list *observers) Released(rank, message int32, since, at float64) {
	for _, o := range list.told {
		o.Released(rank, message, since, at)
	}
}

// SendPosted implements Observer.
func (list *observers) SendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	for _, o := range list.told {
		o.SendPosted(message, src, dst, tag, bytes, at)
	}
}

// ReceivePosted implements Observer.
func (list *observers) ReceivePosted(message, dst, src, tag int32, bytes int64, at float64) {
	for _, o := range list.told {
		o.ReceivePosted(message, dst, src, tag, bytes, at)
	}
}

// Merged implements Observer.
func (list *observers) Merged(send, receive int32) {
	for _, o := range list.told {
		o.Merged(send, receive)
	}
}

// Started implements Observer.
func (list *observers) Started(message int32, at float64) {
	for _, o := range list.told {
		o.Started(message, at)
	}
}

// Carried implements Observer.
func (list *observers) Carried(message int32, from, to, rate, alone float64, link int32) {
	for _, o := range list.told {
		o.Carried(message, from, to, rate, alone, link)
	}
}

// Ended implements Observer.
func (list *observers) Ended(message int32, at float64) {
	for _, o := range list.told {
		o.Ended(message, at)
	}
}
