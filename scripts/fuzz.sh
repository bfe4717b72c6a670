#!/bin/sh
# Runs every fuzz target for a while, as many at once as there are processors:
# scripts/fuzz.sh [TIME PER TARGET [LONGER TIME]]
# The longer time is for readers of traces and XML.
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
long=${2:-$time}

# Prints package, target and time, a line each.
targets() {
	for file in $(grep -rlE '^func Fuzz' --include='*_test.go' . | sort); do
		package=$(dirname "$file")
		for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
			case ${package#./}.$target in
			replay.FuzzPrograms | trace.Fuzz* | tracegen/simgrid.Fuzz* | platforms.Fuzz*) echo "$package $target $long" ;;
			*) echo "$package $target $time" ;;
			esac
		done
	done
}

targets | xargs -n 3 -P "$(getconf _NPROCESSORS_ONLN)" sh -c '
	# Go before 1.27 sometimes calls it a failure that the time is over (golang/go#75804):
	# then there is no failing input.
	ended() {
		case $1 in
		*"Failing input"*) return 1 ;;
		*"    context deadline exceeded"*) return 0 ;;
		*) return 1 ;;
		esac
	}
	if ! said=$(go test -run "^$" -fuzz "^$1\$" -fuzztime "$2" -fuzzminimizetime 10x -parallel 1 "$0" 2>&1) &&
		! ended "$said"; then
		printf "%s %s:\n%s\n" "$0" "$1" "$said" >&2
		exit 1
	fi
	echo "$0 $1 $2: ok"'
