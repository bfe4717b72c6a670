// Package design makes designs of experiments: which levels of which factors a run has.
//
// A design is a list of rows, and a row has the number, from 0, of a level for each factor.
//
//	rows := design.Full([]int{3, 2})                // all 6 combinations of 3 and 2 levels
//	f, err := design.NewFractional(7, 4)            // 8 of 2^7 combinations
//	fmt.Println(f.Resolution, f.Generators, f.Rows) // 3 [D=AB E=AC F=BC G=ABC]
//	places := design.LatinHypercube(20, 3, 1)       // 20 points of (0,1)^3
//
// # Units
//
// Levels and factors are numbers from 0; places of a Latin hypercube lie in (0,1).
//
// # Errors
//
// Sizes beyond MaxRows are errors, before anything of that size is made.
//
// # Source
//
// Box, Hunter and Hunter, Statistics for Experimenters, chapters 5 and 6; McKay, Beckman and
// Conover, Technometrics 21 (1979) 239, for Latin hypercubes.
package design
