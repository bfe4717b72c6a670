#!/bin/sh
# Records when the programs of testdata/oracle/smpi-mpi end under SimGrid, in times.txt there: a
# line for each rank of each case. Installs SimGrid if it is missing (Debian, as root).
set -eu
cd "$(dirname "$0")/.."
scripts/install-simgrid.sh
dir=$PWD/testdata/oracle/smpi-mpi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
smpicc -O1 -o "$work/program" "$dir/program.c"
seq 0 15 | sed 's/^/n/' > "$work/hosts"
cd "$work"
sed -n 's/^case //p' "$dir/cases.txt" | while read -r name ranks options; do
	flags=$(printf '%s\n' "$options" | tr ' ' '\n' | sed '/./!d; s/^/--cfg=/' | tr '\n' ' ')
	# shellcheck disable=SC2086 # flags are words
	smpirun -np "$ranks" -platform "$dir/platform.xml" -hostfile hosts --log=root.thres:error \
		--cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=smpi/privatization:no --cfg=smpi/host-speed:1Gf \
		--cfg=network/optim:Full --cfg=cpu/optim:Full $flags ./program "$dir/cases.txt" "$name" > out 2> err ||
		{ cat err out >&2; echo "record-mpi: case $name failed" >&2; exit 1; }
	sort -k2n out
done > times
mv times "$dir/times.txt"
