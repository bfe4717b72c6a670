#!/bin/sh
# Runs every fuzz target for a while: scripts/fuzz.sh [TIME PER TARGET]
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x "$package"
	done
done
