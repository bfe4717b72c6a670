package capture

// persistent are the persistent collective operations of a rank, by its communicators. All ranks of a
// communicator make them in one order, but may start them in different ones (MPI 4.0, section 6.13).
type persistent struct {
	made  map[int]int64   // how many, by the rank's number of the communicator
	plans map[int64]nthOf // by request
	order map[int]uint64  // a hash of the order in which they and other operations began
}

// nthOf is the nth operation that was made of a communicator, from 1.
type nthOf struct {
	comm int
	nth  int64
}

func newPersistent() persistent {
	return persistent{map[int]int64{}, map[int64]nthOf{}, map[int]uint64{}}
}

// add notes an operation that is made, and returns which of its communicator it is; 0 for any other call.
func (p *persistent) add(e *event) int64 {
	if e.strange || !e.proc.collective() {
		return 0
	}
	if !e.request.persistent {
		if p.made[e.comm] > 0 {
			p.follow(e.comm, 0)
		}
		return 0
	}
	p.made[e.comm]++
	p.plans[e.request.number] = nthOf{e.comm, p.made[e.comm]}
	return p.made[e.comm]
}

func (p *persistent) start(request int64) {
	if plan, ok := p.plans[request]; ok {
		p.follow(plan.comm, plan.nth)
	}
}

func (p *persistent) follow(comm int, nth int64) {
	p.order[comm] = (p.order[comm] ^ uint64(nth+1)) * multiplier
}

// crossed returns the communicators of the run whose ranks started persistent operations in different
// orders. A trace matches the operations of a family by their order, so each persistent operation of such a
// communicator gets a family of its own.
func crossed(surveys []*survey, own []rankComms) map[int]bool {
	type started struct {
		hash  uint64
		known bool
	}
	first, found := map[int]started{}, map[int]bool{}
	for rank, v := range surveys {
		for local := range v.plans.made {
			id := own[rank].of[local]
			switch before := first[id]; {
			case !before.known:
				first[id] = started{v.plans.order[local], true}
			case before.hash != v.plans.order[local]:
				found[id] = true
			}
		}
	}
	return found
}
