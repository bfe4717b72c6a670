package capture

import (
	"errors"
	"fmt"
	"io"
)

// survey is what must be known of a rank's calls before they are translated: its
// communicators, what receives have found that did not say it, and sites.
type survey struct {
	events    int64
	creations []creation
	freed     map[int]int64 // communicators, by the rank's number, to the call that freed it
	finds     map[instance]status
	open      map[instance]struct{} // receives that have not been seen to end
	receives  map[int64]bool        // persistent requests that receive
	withdrawn bool                  // a send was cancelled
	refused   map[string]int64

	sharedWindows int64 // made: what is loaded and stored there is not seen

	taken   int64           // how often messages were asked for
	probed  map[int64]int64 // by message of a matched probe that is not received: taken then
	early   map[int64]early // messages of matched probes that others were received before
	split   map[int]bool    // communicators, by the rank's number, whose operations were under way while others were
	plans   persistent      // collective operations
	levels  map[int64]bool  // of MPI_Pcontrol
	kernels map[used]bool
	sites   sites
}

// creation is a call that makes a communicator.
type creation struct {
	call    int64 // its number on the rank
	proc    procedureNumber
	parent  int  // number of the rank's communicator
	strange bool // it is of a call that is not recorded, or so is its parent
	*made
}

// instance is a request as it is started: of one that is not persistent, start is 0.
type instance struct {
	persistent    bool
	number, start int64
}

// starts counts how often persistent requests were started.
type starts map[int64]int64

func (s starts) instance(r request) instance {
	if !r.persistent {
		return instance{number: r.number}
	}
	return instance{true, r.number, s[r.number]}
}

// newSurvey reads a stream, and again where sites are several places.
func newSurvey(s *stream) (*survey, error) {
	v := &survey{freed: map[int]int64{}, finds: map[instance]status{}, open: map[instance]struct{}{},
		receives: map[int64]bool{}, refused: map[string]int64{}, probed: map[int64]int64{}, early: map[int64]early{}, split: map[int]bool{}, plans: newPersistent(), levels: map[int64]bool{}, kernels: map[used]bool{}, sites: sites{times: map[site]gaps{}, depths: map[site]int{}}}
	started := starts{}
	var e event
	s.rewind()
	if s.head.Multiple != 0 {
		if err := s.order(); err != nil {
			return nil, err
		}
		s.rewind()
	}
	for at := (site{}); ; at.before = at.after {
		err := s.next(&e)
		if errors.Is(err, io.EOF) {
			return v, v.sites.part(s)
		}
		if err != nil {
			return nil, err
		}
		v.events++
		at.after = s.key
		v.sites.add(at, e.gap, e.lost)
		if err := v.note(&e, started); err != nil {
			return nil, fmt.Errorf("%s: call %d (%v): %w", s.name, v.events, e.called, err)
		}
	}
}

func (v *survey) note(e *event, started starts) error {
	switch {
	case e.proc == procKernel:
		v.kernels[e.kernel.used] = true
	case e.proc.known().refused:
		v.refused[e.called.String()]++
	case e.strange && (e.proc == procCommfree || e.proc == procCommdisconnect):
	case e.strange:
		v.refused[e.called.String()+" on a communicator of a call that is not recorded"]++
	case e.proc == procWinallocateshared:
		v.sharedWindows++
	}
	if e.request.number > 0 && e.proc.collective() && e.proc.known().blocking {
		v.split[e.comm] = true
	}
	v.plans.add(e)
	switch {
	case e.made != nil:
		if e.comm < 0 && !e.strange {
			return errors.New("a communicator without parent")
		}
		v.creations = append(v.creations, creation{v.events, e.proc, e.comm, e.strange, e.made})
	case (e.proc == procCommfree || e.proc == procCommdisconnect) && e.comm >= 0:
		v.freed[e.comm] = v.events
	case e.proc == procPcontrol:
		v.levels[e.code] = true
	case e.proc == procStart, e.proc == procStartall:
		for _, r := range e.requests {
			started[r.number]++
			v.plans.start(r.number)
			if v.receives[r.number] {
				v.open[started.instance(r)] = struct{}{}
			}
		}
	case e.proc == procIrecv && !e.strange:
		v.open[instance{number: e.request.number}] = struct{}{}
	case e.proc == procRecvinit && !e.strange:
		v.receives[e.request.number] = true
	case e.proc == procRequestfree, e.proc == procCancel:
		if r := e.requests[0]; r.status.wild || r.status.bytes >= 0 || r.cancelled { // it was looked at
			v.find(r, started)
		}
	}
	v.matching(e)
	for _, i := range e.ended {
		if i >= len(e.requests) {
			return fmt.Errorf("request %d of %d has ended", i, len(e.requests))
		}
		v.find(e.requests[i], started)
	}
	return nil
}

// find notes what a request that has ended, or is let go of, has found.
func (v *survey) find(r request, started starts) {
	i := started.instance(r)
	_, receives := v.open[i]
	delete(v.open, i)
	v.withdrawn = v.withdrawn || r.cancelled && !receives
	if _, noted := v.finds[i]; noted {
		return // of a persistent one that is not under way, or of one that was looked at before
	}
	if r.status.wild || r.status.bytes >= 0 || r.cancelled {
		found := r.status
		found.found = !r.cancelled
		v.finds[i] = found
	} else if r.persistent {
		v.finds[i] = status{found: true, bytes: -1}
	}
}
