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
package platforms
