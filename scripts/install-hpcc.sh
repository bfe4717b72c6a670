#!/bin/sh
# Installs Debian's hpcc (the HPC Challenge benchmark, with HPL 2.0) and Open MPI's mpirun
# unless they are there. Needs root and Debian.
set -eu
if command -v hpcc >/dev/null && command -v mpirun >/dev/null; then
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends hpcc openmpi-bin >/dev/null
command -v hpcc >/dev/null || { echo "install-hpcc: there is no hpcc" >&2; exit 1; }
