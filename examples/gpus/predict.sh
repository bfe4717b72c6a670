#!/bin/sh
# Predicts the published runs of docs/reality.md from the data sheets beside this script: for each the mean of the draws
# (DRAWS, 40) and the interval at 80 %. With the name of a sheet it predicts the runs of that alone. The run of h100 takes
# minutes.
set -eu
cd "$(dirname "$0")"
only=${1-}
if [ -n "$only" ] && [ ! -f "$only.yaml" ]; then
	echo "predict.sh: $only? want h100, mi250x or mi300a, or nothing" >&2
	exit 2
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# run SHEET OPTIONS: a run on the machine of a sheet.
run() {
	sheet=$1
	shift
	[ "${only:-$sheet}" = "$sheet" ] || return 0
	[ -d "$out/$sheet" ] || calibrate machine "$out/$sheet" --sheet "$sheet.yaml" --quiet
	tracegen hpl --quiet --variant rochpl "$@" -o "$out/trace.zst"
	replay --quiet --machine "$out/$sheet" --tolerance 1% --uncertainty --draws "${DRAWS:-40}" --level 80% "$out/trace.zst" > "$out/result"
	echo "$sheet $*"
	grep '^Gflops' "$out/result"
}

for n in 38400 192000 218880; do
	run mi250x -N $n --NB 384 -P 2 -Q 4 --NBMIN 8
	run mi300a -N $n --NB 384 -P 2 -Q 2 --NBMIN 8
done
run h100 -N 528384 --NB 1024 -P 8 -Q 4
