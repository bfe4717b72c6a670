// Package netmodel says how long messages take: the protocol of an MPI library
// (overheads at the sender and the receiver, eager and rendezvous sends) and the
// fluid sharing of links between the transfers in flight.
//
// The model is the one that SMPI, the MPI layer of SimGrid, calls a generalised
// LogGPS: see docs/network-model.md for its formulas and sources. In short, a
// message of s bytes is carried as z = s+16 bytes, in two phases:
//
//	latency phase    L*g(z) seconds, loads no link
//	bandwidth phase  z bytes at the rate f(z)*v, where v is the flow's share
//
// L is the sum of the latencies on the route, f and g are factors by size, and the
// shares v are weighted max-min fair over the links that the flows in their
// bandwidth phase use, and recomputed whenever one starts or ends.
//
// The key types are
//
//   - [Options]: every option that affects time, under SimGrid's names;
//   - [Protocol]: what sends and receives cost on a host, and how they are sent;
//   - [Network]: the transfers in flight and the times at which they end; their shares are
//     those of a [maxmin.System], of which links are the constraints and flows the variables;
//   - [Noise]: laws by size that make overheads and latencies random.
//
// The package knows hosts, links, flows, bytes and seconds. It knows nothing of
// ranks, tags or traces, and does not compute routes: package platforms does.
//
//	n, err := netmodel.New(platform, netmodel.DefaultOptions())
//	err = n.Start(0, src, dst, bytes, now) // transfer 0 between two hosts
//	ended := n.Advance(n.Next(), nil)      // at the time of the next event
//
// # Units
//
// Sizes are in bytes, times and latencies in seconds, bandwidths and rates in byte/s.
//
// # Errors
//
// An error of an option names it, one of a file of noise its line. A transfer between hosts
// without a route is refused when it starts.
//
// # Source
//
// SimGrid 3.32's model SMPI: docs/network-model.md gives each formula and the paper that
// it comes from, docs/deviations.md what differs.
package netmodel
