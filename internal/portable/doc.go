// Package portable has elementary functions that give the same bits on every
// processor. Those of package math are written in assembly for some processors and
// compiled with fused multiply-adds for others, so that their last bits differ. What
// decides a result uses these, or what package math computes exactly or rounds
// correctly: Sqrt, Floor, Frexp and the like.
//
// Special arguments are as those of package math. scripts/arithmetic refuses math's
// functions where they could decide a result.
package portable
