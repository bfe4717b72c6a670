#!/bin/sh
# The demonstration: Stampede's whole trace, of which the first steps are replayed
# from the file, and the complete run of the README's first screen through a pipe.
# Usage: scripts/demo.sh [DIRECTORY]
# Needs tracegen, replay and trace on PATH (make demo puts them there).
set -eu
out=${1:-out}
mkdir -p "$out"

# run prints a command line and runs it.
run() {
	printf '\n\033[1m$ %s\033[0m\n' "$1"
	eval "$1"
}

echo "1. Stampede (TOP500 of June 2013): 6,006 ranks, N = 3,875,000; the whole trace, then its first steps replayed"
run "tracegen hpl -N 3875000 --NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 --RFACT crout \
--BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no -o '$out/stampede.trace.zst'"
run "trace stat '$out/stampede.trace.zst'"
run "replay --platform stampede --steps 0:3 '$out/stampede.trace.zst'"

echo
echo "2. A complete run: 1,024 ranks on Dahu's 32 nodes, N = 50,000; 6.51 s on the cluster itself (6.19 s in 2020)"
run "tracegen hpl -N 50000 --NB 128 -P 32 -Q 32 --PFACT crout --RFACT right --NBMIN 2 --BCAST 2rg --DEPTH 1 --SWAP bin | replay --platform dahu -"
