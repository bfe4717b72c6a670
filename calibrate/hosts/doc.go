// Package hosts models how the hosts of a machine differ from one another, and
// from day to day: a hierarchical Gaussian over coefficients of kernels, from
// which new machines can be drawn.
//
//	sample, err := hosts.NewSample(variables)
//	err = sample.Read(table, hosts.ReadOptions{})          // or hosts.FromFits(report)
//	report, err := hosts.Estimate(sample, hosts.DefaultOptions())
//	err = report.Model.WriteYAML(w)                        // hosts.Parse reads it
//	err = report.Model.WriteMachine(w, hosts.Machine{Hosts: 256, Seed: 7, Day: 1})
//
// The vector x of coefficients of host h on day d is
//
//	x(h,d) = mean + between(h) + within(h,d),   between ~ N(0, spatial), within ~ N(0, temporal)
//
// and a machine with slow nodes is a mixture of such classes. The unit is a host,
// or one of its CPUs. docs/calibrate.md has the methods and the file.
//
// # Units
//
// Coefficients are in the unit of their kernel's file, seconds per what the term counts; days
// are numbers.
//
// # Errors
//
// One of a file begins with its name and line. What cannot be estimated, as from a single
// day, is one or a warning in the report.
//
// # Source
//
// T. Cornebize, "High Performance Computing: Towards Better Performance Predictions and
// Experiments", PhD thesis, Université Grenoble Alpes, 2021.
package hosts
