// Crosscheck compares replay with SimGrid on fresh random cases.
//
//	go run ./scripts/crosscheck [-cases N] [-seed S] [-long N] [-collectives default,ompi,mpich]
//
// Each case is a random machine, a random program and random options, drawn from
// a seed and the number of the case alone. SimGrid plays it with smpirun -replay,
// replay plays it too, and the times at which the ranks end must be within
// 5e-9 s + 1e-6 of them: SimGrid lets events less than 1e-9 s apart happen
// together. SimGrid runs with network/optim:Full and cpu/optim:Full, as its default
// solver may overload links (docs/deviations.md).
//
// Long cases are chaotic: two times 1e-9 s apart happen together or not by the
// rounding of the last bit, and the difference grows. They are reported as a
// distribution and may be off by 2e-4.
//
// A case that is off is kept in a directory, with both sets of times, and
// -shrink leaves out what is not needed for it to be off. See docs/crosscheck.md.
package main
