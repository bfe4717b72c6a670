#!/bin/sh
# Installs what make reality needs: Open MPI with its compiler, OpenBLAS and Debian's hpcc,
# whose HPL is a real one (2.0). Needs root and Debian where one is missing.
set -eu
missing=
command -v mpirun >/dev/null || missing="$missing openmpi-bin"
command -v mpicc >/dev/null || missing="$missing libopenmpi-dev"
command -v hpcc >/dev/null || missing="$missing hpcc"
ldconfig -p | grep -q 'libopenblas\.so\.0' || missing="$missing libopenblas0-pthread"
if [ -z "$missing" ]; then
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # one word for each package
apt-get install -qq -y --no-install-recommends $missing >/dev/null
