#!/bin/sh
# Installs Debian's SimGrid (smpirun, smpicxx and headers) unless it is there.
# Needs root and Debian 12 or later; elsewhere install SimGrid 3.32 or later by
# hand and put smpirun and smpicxx on PATH.
set -eu
if command -v smpirun >/dev/null && command -v smpicxx >/dev/null; then
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends libsimgrid-dev g++ >/dev/null
command -v smpirun >/dev/null || { echo "install-simgrid: libsimgrid-dev has no smpirun" >&2; exit 1; }
