#!/usr/bin/env bash
# Runs the programs built for amd64 and for arm64, the latter under qemu, on the same input, and
# compares their outputs: traces and text byte by byte, results to the last digit of each number
# except time and memory of the run itself: scripts/crossarch.sh [DIRECTORY]
# Needs amd64 and unzip. Installs qemu if it is missing (Debian, as root).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out/crossarch}
go=${GO:-go}
scripts/install-qemu.sh
for arch in amd64 arm64; do
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch "$go" build -trimpath -buildvcs=false -tags urfave_cli_no_docs -o "$out/$arch/" ./cmd/tracegen ./cmd/trace ./cmd/replay
done
CGO_ENABLED=0 GOARCH=arm64 "$go" test -exec qemu-aarch64-static ./internal/portable ./kernels/noise

bin=$(cd "$out" && pwd)
docs=$PWD/testdata/docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cases=0 different=0

# both runs PROGRAM ARGUMENTS for both processors, in the current directory, and compares.
both() {
	local program=$1 measured='s/"(wall_s|peak_rss_bytes|messages_per_wall_s)": *[^,}]*//g'
	shift
	cases=$((cases + 1))
	if ! "$bin/amd64/$program" "$@" > "$work/amd64" 2> "$work/error" ||
		! qemu-aarch64-static "$bin/arm64/$program" "$@" > "$work/arm64" 2> "$work/error"; then
		echo "crossarch: $program $*: $(cat "$work/error")" >&2
		different=$((different + 1))
	elif ! cmp -s "$work/amd64" "$work/arm64" &&
		! diff <(sed -E "$measured" "$work/amd64") <(sed -E "$measured" "$work/arm64") > "$work/diff"; then
		echo "crossarch: $program $*: amd64 and arm64 differ:" >&2
		head -5 "$work/diff" >&2
		different=$((different + 1))
	fi
}

# Both kinds of broadcasts and swaps, look-ahead, pivots from random numbers and from the matrix, and
# a run that is long enough for an estimate.
trace() {
	local name=$1
	shift
	both tracegen hpl --quiet "$@"
	cp "$work/amd64" "$work/$name.trace.zst"
}
trace ring -N 4000 --NB 64 -P 4 -Q 4
trace long -N 3000 --NB 48 -P 3 -Q 5 --BCAST longM --DEPTH 2 --SWAP bin --seed 7
trace lu -N 500 --NB 24 -P 2 -Q 3 --BCAST 2ring --DEPTH 0 --pivots lu
trace many -N 96000 --NB 32 -P 2 -Q 2

# With polls, with noise of kernels and network, with several seeds, and by windows.
noise=(--kernels "$docs/noisy.yaml" --network-noise "$docs/network-noise.yaml" --platform dahu)
for name in ring long lu; do
	file=$work/$name.trace.zst
	both trace stat --json "$file"
	both trace cat --rank 1 "$file"
	for machine in default dahu stampede; do
		both replay --json --platform "$machine" "$file"
	done
	both replay --json "${noise[@]}" --seed 7 "$file"
	both replay --json "${noise[@]}" --runs 4 "$file"
done
both replay --json --platform dahu --tolerance 2% "$work/many.trace.zst"
both replay --json "${noise[@]}" --tolerance 2% "$work/many.trace.zst"

# The recorded scenarios of SimGrid.
for archive in smpi-replay.zip profiles/cases.zip; do
	dir=$work/$(basename "$archive" .zip)
	unzip -q "testdata/oracle/$archive" -d "$dir"
	for index in "$dir"/*/trace.index; do
		cd "$(dirname "$index")"
		options=()
		while read -r option; do options+=(--cfg "$option"); done < <(tr -s ' \n' '\n' < cfg | grep .)
		both replay --json --platform platform.xml --hostfile hostfile "${options[@]}" trace.index
		cd - > /dev/null
	done
done

if [ "$different" -gt 0 ]; then
	echo "crossarch: $different of $cases cases differ" >&2
	exit 1
fi
echo "crossarch: $cases cases, the same bits on amd64 and arm64"
