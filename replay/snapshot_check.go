package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/trace"
)

// What a checkpoint says hangs together: a rank waits for one thing, a message is in one
// place and known to those who wait for it. A file that says otherwise was not written by a
// replay, whatever its checksum; played on, it could end in a panic, or never.

// checkState checks the state that was read. The parts have been checked one by one.
func (e *engine) checkState() error {
	if e.prober.numPolls < max(e.prober.factor, e.prober.testFactor)-1 {
		return fmt.Errorf("probes that cost %d times as much after %d", max(e.prober.factor, e.prober.testFactor), e.prober.numPolls)
	}
	tally, err := e.tally()
	if err != nil {
		return err
	}
	for id := range e.matcher.messages {
		if err := e.checkMessage(int32(id), tally); err != nil {
			return fmt.Errorf("message %d: %w", id, err)
		}
	}
	if err := e.checkProcessors(); err != nil {
		return err
	}
	live := len(e.ranks)
	for r := range e.ranks {
		if e.ranks[r].over {
			live--
		}
		if err := e.checkRank(int32(r), tally); err != nil {
			return fmt.Errorf("rank %d: %w", r, err)
		}
	}
	if live != e.live {
		return fmt.Errorf("%d ranks have actions left, and %d are counted", live, e.live)
	}
	return nil
}

// checkRank checks that a rank waits for one thing, in an action in which ranks do.
func (e *engine) checkRank(r int32, t *tally) error {
	rk := &e.ranks[r]
	if rk.waits != t.waits[r] {
		return fmt.Errorf("it waits for %d transfers, and %d are to end", rk.waits, t.waits[r])
	}
	at := e.wakeups.Time(r)
	parked, awaiting, left := !math.IsInf(at, 1), rk.awaitedPeer != noneAwaited, rk.pos < rk.filled
	ok := false
	switch {
	case rk.over:
		ok = !parked && !awaiting && !left && rk.waits == 0 && !rk.collective
	case rk.waits > 0:
		ok = !parked && !awaiting && rk.stage == stageFresh && (rk.collective || rk.pos > 0)
	case parked:
		ok = at >= e.now && left == (rk.stage != stageFresh)
		if awaiting && isWild(rk.awaitedPeer, rk.awaitedTag) { // an earlier message than the one known may come
			ok = ok && (rk.spinning || rk.stage == stageLook)
		} else {
			ok = ok && awaiting == (rk.spinning && math.IsInf(rk.arrival, 1))
		}
	default:
		ok = awaiting && rk.stage == stageLook || rk.stage == stageAny || rk.stage == stageCompute && e.cpus.work[r].rate == 0
	}
	if !ok {
		return errors.New("it waits for several things, or for none")
	}
	if err := errors.Join(e.checkStage(r, rk), e.checkCompletion(r, rk), e.checkSync(r, rk)); err != nil {
		return err
	}
	if awaiting || rk.spinning {
		if err := e.checkBusyWait(r, rk, parked); err != nil {
			return err
		}
	}
	return e.checkActions(r, rk)
}

// checkStage checks that what rank r is in the midst of can be.
func (e *engine) checkStage(r int32, rk *rank) error {
	if rk.stage == stageFresh {
		return nil
	}
	a := e.action(r, int(rk.pos))
	ok := rk.pos < rk.filled
	if rk.stage == stageStands && ok && !local(a) {
		return nil
	}
	switch a.Kind {
	case trace.KindPoll, trace.KindIprobe, trace.KindRecv, trace.KindIrecv, trace.KindProbe, trace.KindComplete:
	case trace.KindIcollective:
	case trace.KindAccess, trace.KindSync:
		ok = ok && rk.stage == stageBegin
	case trace.KindFlops, trace.KindCollective, trace.KindWait, trace.KindWaitAll:
		ok = ok && rk.shared && (a.Kind == trace.KindFlops || rk.collective)
	case trace.KindCompute:
		ok = ok && rk.shared && int(a.Sym) < len(e.costs.kernelNames) && e.costs.models[int(e.costs.rowOf[r])+int(a.Sym)].speed > 0
	case trace.KindTest:
		ok = ok && rk.stage != stageCompute
	default:
		ok = false
	}
	ends := rk.stage == stageTested || rk.stage == stageAny
	if !ok || rk.stage == stageStands || ends && a.Kind != trace.KindComplete && (a.Kind != trace.KindTest || rk.stage == stageAny) {
		return fmt.Errorf("it is in the midst of a %v, at stage %d", a.Kind, rk.stage)
	}
	return nil
}

// checkCompletion checks that a rank which is in the completion of a collective operation has
// one to complete.
func (e *engine) checkCompletion(r int32, rk *rank) error {
	a := e.action(r, int(rk.pos)%bufferedActions)
	if !rk.collective || !completes(a.Kind) {
		return nil
	}
	var named []int32
	switch a.Kind {
	case trace.KindWait:
		named = []int32{a.Req}
	case trace.KindComplete:
		named, _ = e.requestList(r, a.X[0])
	}
	ok := false
	for k, list := range e.requestsOf(rk) {
		for i, q := range list {
			ok = ok || q < noRequest && (a.Kind == trace.KindWaitAll || slices.Contains(named, int32(i+k*inlineRequests)))
		}
	}
	if !ok || rk.pos >= rk.filled {
		return fmt.Errorf("it is in the midst of a %v of no collective operation", a.Kind)
	}
	return nil
}

// checkBusyWait checks a rank that does nothing but probe: that it has not missed what it
// waits for.
func (e *engine) checkBusyWait(r int32, rk *rank, parked bool) error {
	src, l, busy := e.busyWait(r)
	awaiting, wild := rk.awaitedPeer != noneAwaited, isWild(src, l.tag)
	if !busy || awaiting && (src != rk.awaitedPeer || l != rk.awaited()) || src < trace.AnySource || int(src) >= len(e.ranks) {
		return errors.New("it waits for another message than its action")
	}
	m := e.findFirst(rk, src, l)
	ok := !awaiting || m < 0 || wild && parked
	if wild {
		ok = ok && awaiting
	}
	if rk.spinning {
		ok = ok && parked && e.prober.ordered && (rk.stage == stageBegin || rk.stage == stageLook) && (m < 0 || rk.arrival <= e.visible(m))
	}
	if !ok {
		return errors.New("it waits for a message that is there")
	}
	return nil
}

// checkActions checks what of a rank's last actions is still to be played.
func (e *engine) checkActions(r int32, rk *rank) error {
	rest := e.actions[int(r)*bufferedActions:][rk.pos:rk.filled]
	for i := range rest {
		a := &rest[i]
		ok := true
		switch a.Kind {
		case trace.KindCompute:
			ok = slices.Min(a.X[:]) >= 0
		case trace.KindFlops, trace.KindSleep:
			ok = a.Flops() >= 0 && a.Flops() <= math.MaxFloat64 // the same bits for both
		case trace.KindMark:
			ok = false
		case trace.KindPoll:
			ok = i == len(rest)-1
		}
		if !ok {
			return fmt.Errorf("action %d is a %v that cannot be", i, a.Kind)
		}
	}
	return e.source.(Resumable).Follows(r, rest)
}

// checkProcessors checks that those who compute on shared cores are those who are at it.
func (e *engine) checkProcessors() error {
	computing := make([]bool, len(e.ranks))
	for h := range e.cpus.hosts {
		for _, r := range e.cpus.hosts[h].active {
			w := &e.cpus.work[r]
			if computing[r] || e.cpus.index[e.machine.Hosts[r]] != int32(h+1) || w.at > e.now || e.wakeups.Time(r) != w.at+w.left/w.rate {
				return fmt.Errorf("rank %d computes what it does not, or not until then", r)
			}
			computing[r] = true
		}
	}
	for r := range e.ranks {
		if computing[r] != (e.ranks[r].stage == stageCompute) {
			return fmt.Errorf("rank %d computes, or does not, at stage %d", r, e.ranks[r].stage)
		}
	}
	return nil
}
