// Package compose describes machines from a few words, as SimGrid XML.
//
//	tree, err := compose.ParseFatTree("leaf=16 up=8x200Gbps", nic)
//	...
//	spec := compose.DefaultSpec(64)
//	spec.Topology = tree
//	err = spec.Write(w)
//
// A [Spec] is hosts of one kind, node-0, node-1, ..., and a [Topology] that joins them: [Flat],
// a [FatTree], a [Torus] or a [Dragonfly]. What is written is read by package platforms and by
// SimGrid 3.32, with the same routes, and grows with the number of switches and the links
// between them, not with pairs of hosts.
//
// # Form
//
// A flat network and a torus are a <cluster>. So is a fat tree whose cables are all like those
// of the hosts: a FAT_TREE, routed statically by destination (D-mod-K). SimGrid's FAT_TREE has
// one speed for all levels, so other trees are zones: each leaf switch is a flat cluster, and
// the cables of a switch upwards are one link of their sum. Flows share that as they do where
// routing is adaptive; a flow by itself gets no more than a cable. A dragonfly is zones as
// well, with minimal routes.
//
// # Units
//
// Bandwidths are in byte/s, latencies in seconds, speeds in flop/s of a core. Texts have units
// as platforms have them: 100Gbps is 12.5e9 byte/s.
//
// # Errors
//
// An error says which word of a topology, or which number, is not possible, and what is.
//
// # Source
//
// Fat trees: C. Leiserson, "Fat-trees: universal networks for hardware-efficient
// supercomputing", 1985. Dragonflies: J. Kim, W. Dally, S. Scott, D. Abts, "Technology-driven,
// highly-scalable dragonfly topology", 2008.
package compose
