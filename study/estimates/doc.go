// Package estimates shares the windows of an estimate (replay.Sample) between processes, on one host
// or many, which see a directory.
//
//	dir := estimates.New("shared", 30*time.Second)
//	defer dir.Leave()
//	e, err := replay.Sample(ctx, open, machine, options, replay.SampleOptions{
//		Tolerance: 0.002, Workers: runtime.GOMAXPROCS(0), Share: dir})
//
// Each process makes the same estimate, and finds the same windows to be wanted. Whoever creates the lease
// of a window first plays it (package workqueue); the others read what came out. So all of them end
// with the same bits as one process alone, a process may come or be killed at any time, and nobody has to
// be told what to do.
//
// The directory holds
//
//	estimate.json           what the windows depend on: trace, machine, options, version
//	windows/FROM-TO.json    what came out of the steps [FROM, TO): a replay.WindowTimes
//	workers, leases         of package workqueue
//
// Results stay there: the same estimate, or one to within another tolerance, goes on with them.
//
// # Units
//
// Times are in seconds.
//
// # Errors
//
// A directory of another run is refused with what differs, a study's directory as well. Errors are those
// of the file system, and name the file.
//
// # Source
//
// Leases: package workqueue. Windows: docs/sampling.md.
package estimates
