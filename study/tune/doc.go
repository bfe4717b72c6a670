// Package tune recommends parameters of HPL and HPCG for a machine, by replays alone.
//
//	r := tune.Request{Settings: []study.Setting{{Word: "machine", Value: "dahu"}}, Ranks: 960, Memory: 192e9, Fill: 0.8}
//	s, leftOut, err := r.Study()       // all configurations that come into question
//	plan, err := study.NewPlan(s, version)
//	result, err := tune.Run(ctx, plan, tune.Options{Jobs: 4, Tolerances: tune.Tolerances(0), Indifference: 0.005})
//	err = result.WriteText(os.Stdout)
//
// A request becomes a study of all configurations; package search makes few of its runs, with one
// seed for all, and says which is the quickest. That one is replayed again with seeds that the search
// has not seen, noise and pivots both: the best of many is flattered by chance, and how much these
// replays differ tells which others may as well be the best.
//
// For HPCG, [RunBoxes] chooses the process grid and the box of each rank that give the highest rate, among
// those that take the share of the memory which HPCG's rules want.
//
// # Units
//
// Times are in seconds, rates in Gflop/s, memory in bytes; tolerances and fill are shares.
//
// # Errors
//
// A request that cannot be met says why, and what could be: memory that is too small, ranks that
// make no grid, lists of an HPL.dat that contradict each other. A replay that fails ends the search.
//
// # Source
//
// Package search. What HPL allocates: HPL_pdtest.c, HPL_pdpanel_init.c and HPL_pdupdateTT.c of HPL 2.3.
package tune
