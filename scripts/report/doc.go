// Report measures Reprise and writes the tables and plots of docs/performance.md.
//
//	go run ./scripts/report [-only scaling,broadcasts,...] [-long] [-runs 3] [-bin bin] [-page docs/performance.md]
//
// The page is text with marked sections: whatever stands between
//
//	<!-- measured: NAME -->
//	<!-- end: NAME -->
//
// is replaced by what the part of that name measures, as soon as it has been
// measured; all else is left alone. So a part can be measured anew without the
// others, and a part that takes long keeps its figures. Plots are SVG files in the
// directory beside the page that is named after it. The parts are listed in part.go.
//
// What is measured is whole processes of the programs in -bin (make build): their
// wall time and peak memory. Of measurements that take less than some seconds the median
// of -runs counts. Each table tells machine, version, date and the commands; ratios are
// printed only of what ran side by side on the same machine.
package main
