// Package maxmin shares capacities fairly: it solves systems of constraints, as links, and of variables that use them,
// as flows, by weighted max-min fairness, and solves them again when variables come and go.
//
// # The problem
//
// A constraint has a capacity C and a policy. A variable has a penalty p and a bound B on its
// share v, and an element of weight w on each constraint that it uses:
//
//	Shared   sum of w*v over the variables on it  <= C
//	Fatpipe  w*v of each variable on it           <= C
//	         v <= B
//
// The level of a variable is v*p. The shares are max-min fair if no level can be raised without
// lowering one that is no higher. That is so if and only if
//
//	(i)  no constraint carries more than its capacity, and
//	(ii) every variable has its bound, or a bottleneck: a saturated constraint on which no
//	     variable has a higher level.
//
// If variables with different usages w/p meet on a FATPIPE, the answer is by definition that of SimGrid's algorithm,
// which stops all of them at the level of the first that fills the FATPIPE.
//
// # Three solvers
//
// Progressive filling raises one level for all variables together. When a constraint saturates, the variables on it are
// fixed; variables that reach their bound before that are fixed at the bound. Then the level of the others rises on.
// The reference solver does that with the whole system each time ([Options]).
//
// The local solver, which is used otherwise, repairs the solution where it was disturbed: it fills a working set of
// variables anew, with the others frozen, and adds variables for which (ii) has become false, until there are none. As
// both conditions are local the result is the same. On the traffic of a parallel program that is one or two fillings of
// 1 to 5 variables, whatever the size of the system. Variables that a FATPIPE with different usages ties together are
// left to the reference.
//
// With hundreds of variables on each constraint, every change moves nearly all levels a little. Then a system may work
// by clocks (System.UseClocks): all variables with one bottleneck share one level, and a change costs work for the
// bottlenecks that it reaches, not for their variables. There one variable may stand for several that use the same
// constraints and have one level (System.Resize): its elements are as many times as large.
//
// The files, in the order in which to read them:
//
//	system.go     what a system is made of, and what can be done with it
//	elements.go   variables, constraints and the lists of elements that join them
//	local.go      the local solver: its working set, from the changes to the commit
//	filling.go    progressive filling of the working set
//	clocks.go     the solver for crowds; its table of pairs is in pairs.go
//	reference.go  progressive filling, plainly
//	component.go  a part of the system as the reference takes it
//	query.go      what a solution can be asked
//	snapshot.go   the system as checkpoints keep it
//	invariants.go what must hold after each solve, in tests
//
// # Units
//
// A share is in the unit of capacities and bounds, byte/s in package netmodel; weights have none.
// Penalties may have any unit: only their ratios matter.
//
// # Errors
//
// There are none but of saved states. Numbers of constraints that are out of range panic.
//
// # Source
//
// D. Bertsekas and R. Gallager, Data Networks, 2nd ed., 6.5.2, for max-min fairness, bottlenecks
// and progressive filling. Words, policies and the reference's order of arithmetic are those of
// SimGrid's solver (lmm, maxmin.cpp), but for two: a level is what shares times penalties rise
// to, and a usage is w/p, the load of an element per level. The local repair is our own.
package maxmin
