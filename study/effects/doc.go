// Package effects finds how values depend on the levels of factors.
//
//	e := effects.Of([]int{2, 3}, rows, values) // rows as those of package design
//	for f, of := range e.Factors {
//		fmt.Println(f, of.Levels, of.Share)
//	}
//
// Values are fitted by a mean, plus an effect of the level of each factor: main effects. What two
// factors explain together beyond that is their interaction.
//
// # Units
//
// Effects are in the unit of the values; shares are of the sum of squares about the mean. Of
// logarithms of times, effects are relative.
//
// # Errors
//
// There are none: what cannot be told apart, as of a factor whose levels go with those of another
// one, is given to the first of the two, and Confounded is set.
//
// # Source
//
// Analysis of variance by least squares: Box, Hunter and Hunter, Statistics for Experimenters,
// chapters 4 and 5.
package effects
