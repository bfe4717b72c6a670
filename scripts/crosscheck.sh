#!/bin/sh
# Compares bin/replay with SimGrid on fresh random cases:
# scripts/crosscheck.sh [CASES [SEED [FLAGS OF scripts/crosscheck...]]]
# Installs SimGrid if it is missing (Debian, as root).
set -eu
cd "$(dirname "$0")/.."
cases=${1:-40}
seed=${2:-1}
shift "$(($# < 2 ? $# : 2))"
scripts/install-simgrid.sh
exec "${GO:-go}" run ./scripts/crosscheck -cases "$cases" -seed "$seed" "$@"
