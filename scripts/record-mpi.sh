#!/bin/sh
# Records when the programs of testdata/oracle/smpi-mpi and of smpi-collectives.zip beside it end
# under SimGrid, in times.txt there: a line for each rank of each case. Installs SimGrid if it is
# missing (Debian, as root).
set -eu
cd "$(dirname "$0")/.."
scripts/install-simgrid.sh
oracle=$PWD/testdata/oracle
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
smpicc -O1 -o "$work/program" "$oracle/smpi-mpi/program.c"

# record DIRECTORY writes times.txt there; it has cases.txt and platform.xml, hosts n0, n1, ...
record() (
	cd "$1"
	sed -n 's/^case //p' cases.txt | while read -r name ranks options; do
		flags=$(printf '%s\n' "$options" | tr ' ' '\n' | sed '/./!d; /^hosts:/d; s/^/--cfg=/' | tr '\n' ' ')
		hosts=$(printf '%s\n' "$options" | tr ' ' '\n' | sed -n 's/^hosts://p' | tr ',' '\n')
		printf '%s\n' "${hosts:-$(seq 0 15)}" | sed 's/^/n/' > "$work/hosts"
		# shellcheck disable=SC2086 # flags are words
		smpirun -np "$ranks" -platform platform.xml -hostfile "$work/hosts" --log=root.thres:error \
			--cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=smpi/privatization:no --cfg=smpi/host-speed:1Gf \
			--cfg=network/optim:Full --cfg=cpu/optim:Full $flags "$work/program" cases.txt "$name" > "$work/out" 2> "$work/err" ||
			{ cat "$work/err" "$work/out" >&2; echo "record-mpi: case $name failed" >&2; exit 1; }
		sort -k2n "$work/out"
	done > "$work/times"
	mv "$work/times" times.txt
)

record "$oracle/smpi-mpi"
mkdir "$work/collectives"
python3 -m zipfile -e "$oracle/smpi-collectives.zip" "$work/collectives"
record "$work/collectives"
cd "$work/collectives"
rm -f "$oracle/smpi-collectives.zip"
python3 -m zipfile -c "$oracle/smpi-collectives.zip" cases.txt platform.xml times.txt
