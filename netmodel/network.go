package netmodel

import (
	"reprise/platforms"
)

// Network holds the transfers in flight and computes the dates at which they
// begin and end their bandwidth phases. Its user drives it:
//
//	for t := n.Next(); !math.IsInf(t, 1); t = n.Next() {
//		done = n.Advance(t, done[:0])
//		// complete the messages of done; that may Start others
//	}
//
// A Network is not safe for concurrent use. Its methods allocate nothing once its
// arrays have grown to the largest number of flows that are in flight together.
type Network struct{}

// Stats counts what a Network did.
type Stats struct {
	Flows       int64 // transfers started
	Events      int64 // starts and ends of bandwidth phases
	Solves      int64 // times that shares were recomputed
	SolvedFlows int64 // flows in those solves, summed
}

// New returns an idle network over the links and routes of p, at date 0. It
// validates o and gives the platform's global loopback link the bandwidth and the
// latency of o.
func New(p *platforms.Platform, o Options) (*Network, error)

// Start adds the transfer of a message of size bytes (>= 0, without envelope) from
// host src to host dst, whose latency phase begins at date at, which may lie in
// the future but not before the date of the last Advance. It returns the id of
// the flow, which is valid until Advance returns it. Ids are small: a free one is
// reused before a new one is made.
func (n *Network) Start(src, dst int, size int64, at float64) (flow int32, err error)

// Next returns the date of the next event, the start or the end of a bandwidth
// phase, or +Inf if nothing is in flight. If the last Advance changed the set of
// flows that share links, it computes the new shares first.
func (n *Network) Next() float64

// Advance moves the clock to t, at most the date that Next returned: all events
// dated up to t plus the time precision happen, at t. It appends to done the flows
// that ended, by ascending planned date, and returns it.
func (n *Network) Advance(t float64, done []int32) []int32

// Active returns the number of flows in flight, in either phase.
func (n *Network) Active() int

// Stats returns the counts since New.
func (n *Network) Stats() Stats
