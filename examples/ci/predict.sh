#!/bin/sh
# Predicts each input and compares with the baseline:
#   predict.sh            exit 0: no input is slower; 1: one is; 2: trouble
#   predict.sh --accept   makes the baseline anew
# out gets a trace and a result of each input, JUnit's XML, and summary.md of all.
set -u
cd "$(dirname "$0")" || exit 2
threshold=${THRESHOLD:-1%} runs=${RUNS:-10}

# result INPUT SEED FILE: predicts an input, with the seeds from SEED on.
result() {
	tracegen hpl --quiet --hpl-dat "$1/HPL.dat" -o "out/$1.trace.zst" &&
		replay --quiet --platform dahu --kernels node.yaml --runs "$runs" --seed "$2" --json "out/$1.trace.zst" > out/result &&
		mv out/result "$3"
}

mkdir -p out baseline || exit 2
case ${1-} in
--accept)
	for input in small large; do
		result "$input" 1 "baseline/$input.json" || exit 2
	done
	exit 0 ;;
?*)
	echo "predict.sh: $1? want --accept, or nothing" >&2
	exit 2 ;;
esac

worst=0
for input in small large; do
	result "$input" 101 "out/$input.json" || exit 2 # other draws of the noise than those of the baseline
	printf '## %s\n\n' "$input"
	replay compare --threshold "$threshold" --markdown --junit "out/$input.xml" "baseline/$input.json" "out/$input.json"
	code=$?
	[ "$code" -gt "$worst" ] && worst=$code
	printf '\n'
done > out/summary.md
cat out/summary.md
exit "$worst"
