// Validate compares Reprise's predictions with published runs of HPL on real
// clusters and with SMPI's published simulations of them, and writes the tables and
// plots of docs/validation.md.
//
//	go run ./scripts/validate -data DIR [-work DIR] [-bin bin] [-jobs N] [-only dahu,factorial,...] [-all] [-page docs/validation.md]
//	go run ./scripts/validate -short
//	go run ./scripts/validate -intervals SEED,...
//
// The published data are other people's and not part of the repository: -data is
// the directory that holds them. Platforms (XML) and kernel models (YAML) are built
// from the coefficients in there, and in one case from what published figures show
// (readings.go), so that nothing of ours but the simulation is under test; each part's
// file says from which.
//
// The page is text with marked sections, one for each part (package internal/page), and
// a table of claims, of which each part writes the rows that it says something about.
// Every replay is a run of the programs in -bin. Its result is kept in -work under a
// hash of the programs and of all that they read, so that a second validation with
// the same programs takes seconds. Parts are measured side by side; -jobs replays go
// on at once, one for each processor by default.
//
// Two hours on two cores do not suffice for everything. -all replays completely what are
// estimates from windows of steps without it: Dahu's large matrices without noise of
// kernels, and grids of many rows; Stampede's stay estimates, but narrower ones. And it
// replays what is left out without it: such grids with the network of 2019, Stampede's
// smaller matrices with full duplex links, a second machine of the topology study.
//
// -short takes a minute or two, needs no data, and writes nothing: it replays the
// smallest of the published runs with the built-in machine and kernel sets and
// compares with the single figures in testdata/validation. Its exit code is 1 if one
// is further off than the limit beside it.
//
// -intervals draws runs with noise or polls from each seed, compares 50 estimates of such with their
// complete runs, and prints them all; like the part of that name it needs no data. Its exit
// code is 1 if the intervals do not hold.
package main
