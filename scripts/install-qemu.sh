#!/bin/sh
# Installs Debian's qemu-aarch64-static, which runs programs for arm64 here, unless it
# is there. Needs root and Debian.
set -eu
if command -v qemu-aarch64-static >/dev/null; then
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends qemu-user-static >/dev/null
command -v qemu-aarch64-static >/dev/null || { echo "install-qemu: qemu-user-static has no qemu-aarch64-static" >&2; exit 1; }
