// Package pop tells the parallel efficiency of a replay apart, as the POP project does: how much
// is lost because ranks have unequal work, because they wait for each other, and because
// messages take time; of the last, how much the wires take, and how much is contention.
//
//	parallel = load balance * serialisation * transfer
//	transfer = wire * contention
//
// It takes two further replays ([Of]): one in which no message slows another ([Uncontended]),
// which no tool that measures can make, and one on a network that takes no time ([Ideal]).
//
//	result, err := replay.Run(ctx, t, machine, options)
//	play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
//		return replay.Run(ctx, again, m, o) // the same trace, opened again
//	}
//	efficiencies, err := pop.Of(ctx, result, machine, options, play)
//	efficiencies.WriteText(os.Stdout)
//
// # The ideal network
//
// On it messages have no latency and as good as no size, and calls cost nothing: overheads, probes
// and tests take no time, and neither noise nor contention can make them longer. What is
// kept is what the program does and who waits for whom: computations with their noise,
// sleeps, smpi/init, the algorithms of collective operations, the sizes from which a sender waits for
// its receiver, the rule by which polls see messages, and profiles of hosts and links.
// A link that has no bandwidth at times still holds its messages until it has.
//
// Useful is computation, of kernels and flop. Sleeps are not.
//
// # Units
//
// Efficiencies are shares of 1, times are in seconds.
//
// # Errors
//
// [ErrIdle] says that no rank computes, so that there is nothing to divide by. Others are those of
// the replays.
//
// # Source
//
// The multiplicative model of the POP Centre of Excellence, https://co-design.pop-coe.eu/metrics;
// what splits its transfer efficiency is our own.
package pop
