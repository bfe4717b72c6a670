#!/bin/sh
# Installs what tests would be skipped without: Python with libzstd, groff, zsh, fish, pj_dump, two MPIs, Fortran, a BLAS, HPCC and a browser.
# Needs root and Debian where one is missing.
set -eu
missing=
command -v python3 >/dev/null || missing="$missing python3"
ldconfig -p | grep -q 'libzstd\.so\.1' || missing="$missing libzstd1"
for tool in groff zsh fish; do
	command -v "$tool" >/dev/null || missing="$missing $tool"
done
command -v pj_dump >/dev/null || missing="$missing pajeng"
command -v mpicc >/dev/null || missing="$missing libopenmpi-dev"
command -v mpirun >/dev/null || missing="$missing openmpi-bin"
command -v mpiexec.mpich >/dev/null || missing="$missing mpich"
mpicc.mpich -E -include mpi.h - </dev/null >/dev/null 2>&1 || missing="$missing libmpich-dev" # its compiler can be there without
command -v gfortran >/dev/null || missing="$missing gfortran"
command -v hpcc >/dev/null || missing="$missing hpcc"
ldconfig -p | grep -q 'libopenblas\.so\.0' || missing="$missing libopenblas0-pthread"
command -v chromium-headless-shell >/dev/null || missing="$missing chromium-headless-shell"
if [ -z "$missing" ]; then
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # one word for each package
apt-get install -qq -y --no-install-recommends $missing >/dev/null
