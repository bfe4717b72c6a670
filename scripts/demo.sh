#!/bin/sh
# The demonstration: Stampede's first steps from a pipe, and one complete run
# of a smaller machine from a file. Usage: scripts/demo.sh [DIRECTORY]
# Needs tracegen, replay and trace on PATH (make demo puts them there).
set -eu
out=${1:-out}
mkdir -p "$out"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
run() { say "$*"; "$@"; }

echo "1. Stampede (TOP500 of June 2013): 6,006 ranks, N = 3,875,000; the whole trace, then its first steps replayed"
stampede="-N 3875000 --NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 --RFACT crout
	--BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no"
# shellcheck disable=SC2086
run tracegen hpl $stampede -o "$out/stampede.trace.zst"
run trace stat "$out/stampede.trace.zst"
say tracegen hpl -N 3875000 -P 77 -Q 78 ... --first-steps 3 "|" replay --platform stampede -
# shellcheck disable=SC2086
tracegen hpl $stampede --first-steps 3 | replay --platform stampede -

echo
echo "2. A complete run: 1,024 ranks on Dahu's 32 nodes, N = 20,000"
run tracegen hpl -N 20000 --NB 128 -P 32 -Q 32 --BCAST 2rg --DEPTH 1 --SWAP bin -o "$out/dahu.trace.zst"
run replay --platform dahu "$out/dahu.trace.zst"
