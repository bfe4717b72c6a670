// Package mixture fits mixtures of normal laws to numbers, by expectation and
// maximisation from deterministic starts.
//
//	fit, err := mixture.New(x, 2, mixture.Options{LeastVariance: 1e-12, LeastMembers: 10})
//	fmt.Println(fit.Laws[0].Mean, fit.BIC())
//
// # Units
//
// Means are in the unit of the numbers, variances in its square.
//
// # Errors
//
// [ErrTooFew]: numbers in which that many laws cannot be told apart.
//
// # Source
//
// A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum Likelihood from Incomplete Data via the
// EM Algorithm", Journal of the Royal Statistical Society B 39, 1977; the criterion is that of
// G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6, 1978.
package mixture
