// Package platforms is the machine: hosts, links with their capacities, and
// which links a message takes from one host to another.
//
// A Platform comes from a SimGrid description (Parse, Load; XML, versions 3 to
// 4.1) or is built in (Builtin). Its hosts and links are numbered densely from
// 0, so that whoever simulates on it keeps flat arrays; AppendRoute gives the
// links between two hosts. Each direction of a split-duplex cable is a link of
// its own, so a link is one capacity constraint.
//
// Routes inside clusters (flat, fat tree, torus, dragonfly) are arithmetic on
// host numbers: nothing is stored per pair of hosts or per link, and a fat tree
// of 65,536 hosts is read in milliseconds. Zones with listed routes keep the
// lists, sorted.
//
// What a description asks for and this package does not do is an error with
// file and line, never ignored. docs/platforms.md says what is understood.
//
// The package knows nothing of messages, ranks or time: how links are shared is
// for the network model, what a simulator option means is for its reader.
//
//	p, err := platforms.Find("cluster.xml", ranks) // or what is built in: "dahu"
//	src, ok := p.HostIndex("node-0")
//	links, err := p.AppendRoute(nil, src, dst)
//
// # Units
//
// Bandwidths are in byte/s, latencies in seconds, speeds of a core in flop/s, times of
// profiles in seconds. Hosts and links are numbers from 0.
//
// # Errors
//
// Errors have the file and the line. [ErrNotListed] is that of a route which a file lists
// in the other direction only.
//
// # Source
//
// The XML is SimGrid's, docs/platforms.md; fat tree, torus and dragonfly number their
// links and choose their ways as SimGrid 3.32 does.
package platforms
