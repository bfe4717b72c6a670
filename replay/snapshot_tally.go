package replay

import (
	"errors"
	"fmt"
	"slices"
)

// tally is what the state says of each message and each rank, counted anew.
type tally struct {
	place []whereabouts // by message
	refs  []int         // by message: sides that hold it
	open  []bool        // by open collective operation: whether a slot, or nobody, has it
	waits []int32       // by rank: transfers that it waits for
}

// whereabouts is where a message is listed.
type whereabouts uint8

const (
	unlisted whereabouts = iota
	listedFree
	listedSend
	listedRecv
	listedWindow // waits in one to begin
)

var errLists = errors.New("the lists of messages are broken")

// tally counts what is known of each message, and checks the lists on the way.
func (e *engine) tally() (*tally, error) {
	t := &tally{make([]whereabouts, len(e.matcher.messages)), make([]int, len(e.matcher.messages)), make([]bool, len(e.collectives.open)), make([]int32, len(e.ranks))}
	for _, n := range e.collectives.idle {
		if err := t.take(^n); err != nil {
			return nil, err
		}
	}
	if _, err := e.tallyList(t, e.matcher.free, listedFree); err != nil {
		return nil, err
	}
	for r := range e.ranks {
		if err := e.tallyPosts(t, int32(r)); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	taken := make([]bool, len(e.slots.overflow))
	for r := range e.ranks {
		if err := e.tallyRequests(t, int32(r), taken); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	if err := e.tallyWindows(t); err != nil {
		return nil, err
	}
	if slices.Contains(t.open, false) {
		return nil, errOpen
	}
	for id := range e.matcher.messages {
		m := &e.matcher.messages[id]
		if t.place[id] == listedFree || m.flags&msgEnded != 0 {
			continue
		}
		if m.flags&msgSendWait != 0 && m.src >= 0 {
			t.refs[id]++
			t.waits[m.src]++
		}
		if m.flags&msgRecvWait != 0 {
			t.refs[id]++
			t.waits[m.dst]++
		}
	}
	return t, nil
}

// tallyList notes where the messages of a list are, and returns the last of them. No
// message is in two places, so that every list ends.
func (e *engine) tallyList(t *tally, head int32, p whereabouts) (last int32, err error) {
	last = -1
	for id := head; id >= 0; last, id = id, e.matcher.after[id] {
		if t.place[id] != unlisted {
			return -1, errLists
		}
		t.place[id] = p
	}
	return last, nil
}

// tallyPosts does so for the posts to rank r, each of which one side has yet to take.
func (e *engine) tallyPosts(t *tally, r int32) error {
	rk := &e.ranks[r]
	wild := int32(0)
	for _, l := range []struct {
		list  *postList
		place whereabouts
		never messageFlags
	}{
		{&rk.sends, listedSend, msgAlias | msgRecvWait},
		{&rk.recvs, listedRecv, ^(msgRecvWait | msgNotify)},
	} {
		last, err := e.tallyList(t, l.list.head, l.place)
		if err != nil || last != l.list.tail {
			return errLists
		}
		for id := l.list.head; id >= 0; id = e.matcher.after[id] {
			m := &e.matcher.messages[id]
			if m.dst != r || m.flags&l.never != 0 || l.place == listedSend && m.src < 0 {
				return fmt.Errorf("message %d is no post to it", id)
			}
			t.refs[id]++
			if l.place == listedRecv && isWild(m.src, m.tag) {
				wild++
			}
		}
	}
	if wild != rk.wild {
		return fmt.Errorf("%d receives with wildcards, and %d are counted", wild, rk.wild)
	}
	return nil
}

// tallyRequests counts the requests of rank r.
func (e *engine) tallyRequests(t *tally, r int32, taken []bool) error {
	rk := &e.ranks[r]
	if rk.overflow > 0 && taken[rk.overflow] || len(e.slots.overflow[0]) > 0 {
		return errors.New("the lists of requests are broken")
	}
	taken[rk.overflow] = true
	lists := [][]request{rk.reqs[:], e.slots.overflow[rk.overflow]}
	if rk.collective && e.collectives.runs != nil {
		lists = append(lists, e.collectives.runs[r].requests)
	}
	for i := 0; i < len(lists); i++ {
		for _, q := range lists[i] {
			if q >= noRequest {
				if err := e.tallyRequest(t, r, q); err != nil {
					return err
				}
				continue
			}
			if i > 1 {
				return errOpen
			}
			if err := t.take(q); err != nil {
				return err
			}
			lists = append(lists, e.collectives.open[^q].requests)
		}
	}
	return nil
}

var errOpen = errors.New("the lists of open collective operations are broken")

// take notes who has an open collective operation, by its request.
func (t *tally) take(q request) error {
	if int(^q) >= len(t.open) || t.open[^q] {
		return errOpen
	}
	t.open[^q] = true
	return nil
}

func (e *engine) tallyRequest(t *tally, r int32, q request) error {
	if q <= completeRequest {
		return nil
	}
	id := q>>1 - 1
	m := &e.matcher.messages[id]
	owner := m.dst
	if side(q&1) == sender {
		owner = m.src
	}
	alias := m.flags&msgAlias != 0
	switch {
	case t.place[id] == listedFree || owner != r, side(q&1) == sender && (alias || m.flags&msgDetached != 0 && !m.ofWindow()):
		return fmt.Errorf("message %d is not one of its requests", id)
	case alias:
		send := e.matcher.after[id]
		if send < 0 || t.place[send] == listedFree || e.matcher.messages[send].dst != r || e.matcher.messages[send].flags&msgAlias != 0 {
			return errLists
		}
		t.refs[send]++
	}
	t.refs[id]++
	return nil
}

// checkMessage checks a message against the tally and the network.
func (e *engine) checkMessage(id int32, t *tally) error {
	m, waits := &e.matcher.messages[id], e.changes.waits(id)
	flies := waits || e.network.InFlight(id)
	if t.place[id] == listedFree {
		if flies {
			return errors.New("it is free, and under way")
		}
		return nil
	}
	begun, ended, alias := m.flags&msgStarted != 0, m.flags&msgEnded != 0, m.flags&msgAlias != 0
	switch {
	case int(m.refs) != t.refs[id]:
		return fmt.Errorf("%d sides hold it, and %d are counted", t.refs[id], m.refs)
	case m.refs == 0 && ended:
		return errors.New("nobody holds it, and it is not free")
	case alias:
		if m.flags != msgAlias|msgEnded || flies {
			return errors.New("a receive that leads to its send is more than that")
		}
		return nil
	case flies != (begun && !ended), !begun && ended, !begun && t.place[id] == unlisted, m.src < 0 && t.place[id] != listedRecv:
		return errors.New("it is under way, or not, where it should not be")
	case !flies || waits:
		return nil
	}
	most := m.size
	if e.matcher.numTruncated > 0 {
		most = maxBytes
	}
	return e.network.CheckFlow(id, int(e.machine.Hosts[m.src]), int(e.machine.Hosts[m.dst]), most)
}
