#!/bin/sh
# Runs every fuzz target for a while: scripts/fuzz.sh [TIME PER TARGET [LONGER TIME]]
# The longer time is for what comes from elsewhere and has most to go wrong: checkpoints,
# traces and XML.
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
long=${2:-$time}
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		case ${package#reprise/}.$target in
		replay.FuzzSnapshot* | replay.FuzzResume | replay.FuzzPrograms | trace.Fuzz* | tracegen/simgrid.Fuzz* | platforms.Fuzz* | internal/snapshot.Fuzz*) for=$long ;;
		*) for=$time ;;
		esac
		echo "$package $target $for"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$for" -fuzzminimizetime 10x "$package"
	done
done
