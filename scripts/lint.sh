#!/bin/sh
# Formatting, vet and staticcheck over all packages, and the arithmetic of those that
# decide a result; the rules of imports are a test (internal/house).
set -eu
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l calibrate cmd examples internal kernels netmodel platforms proto replay trace tracegen)
if [ -n "$unformatted" ]; then
	printf 'not gofmt-ed:\n%s\n' "$unformatted" >&2
	exit 1
fi
go vet ./...
go tool staticcheck ./...
"${GO:-go}" run ./scripts/arithmetic ./trace/... ./tracegen/... ./netmodel/... ./replay/... ./kernels/... ./platforms/... ./noise/... \
	./cmd/tracegen ./cmd/replay ./cmd/trace
echo "lint: clean"
