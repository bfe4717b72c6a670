#!/bin/sh
# Compares bin/replay with SimGrid on fresh random cases, and what tracegen reads of random
# HPL.dat files with HPL itself:
# scripts/crosscheck.sh [CASES [SEED [FLAGS OF scripts/crosscheck...]]]
# Installs SimGrid and HPL if they are missing (Debian, as root). HPCC=0 in the environment
# leaves HPL out, another number is that of the files.
set -eu
cd "$(dirname "$0")/.."
cases=${1:-40}
seed=${2:-1}
shift "$(($# < 2 ? $# : 2))"
scripts/install-simgrid.sh
hpcc=${HPCC:-8}
if [ "$hpcc" != 0 ]; then
	scripts/install-hpcc.sh
	REPRISE_HPCC=$hpcc "${GO:-go}" test -count=1 -v -run 'TestReadDatAsHPCC$' ./tracegen/hpl
fi
exec "${GO:-go}" run ./scripts/crosscheck -cases "$cases" -seed "$seed" "$@"
