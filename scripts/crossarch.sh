#!/bin/sh
# Builds the programs for amd64 and for arm64, and compares what they write bit by bit,
# the latter under qemu: scripts/crossarch.sh [DIRECTORY]
# Needs amd64. Installs qemu if it is missing (Debian, as root).
set -eu
cd "$(dirname "$0")/.."
out=${1:-out/crossarch}
go=${GO:-go}
scripts/install-qemu.sh
for arch in amd64 arm64; do
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch "$go" build -trimpath -buildvcs=false -tags urfave_cli_no_docs -o "$out/$arch/" ./cmd/tracegen ./cmd/trace ./cmd/replay
done
CGO_ENABLED=0 GOARCH=arm64 "$go" test -exec qemu-aarch64-static ./internal/portable ./noise
exec "$go" run ./scripts/crossarch -bin "$out"
