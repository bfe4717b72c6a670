// Package regress fits models to measured times: linear ones in any terms by
// least squares, with standard errors, and pieces of straight lines in one
// variable whose breakpoints are learned, by least squares on logarithms with
// coefficients that are not negative.
//
//	line, err := regress.LeastSquares(x, y, nil, 2) // x: two terms for each y
//	fmt.Println(line.Coef, line.StdErr)
//
// # Units
//
// A coefficient is in the unit of y by that of its term.
//
// # Errors
//
// [ErrTooFew], [ErrRank] and [ErrPoints] say why a fit would mean nothing.
//
// # Source
//
// Linear fits go by Gonum's decompositions. Criteria are those of H. Akaike, "A New Look at the
// Statistical Model Identification", IEEE Transactions on Automatic Control 19, 1974, of
// G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6, 1978, and of A. McQuarrie, "A small-sample
// correction for the Schwarz SIC model selection criterion", Statistics & Probability Letters 44, 1999.
package regress
