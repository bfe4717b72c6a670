#!/bin/sh
# Formatting, vet and staticcheck over all packages; the rules of imports are a
# test (internal/house).
set -eu
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l calibrate cmd internal kernels netmodel platforms proto replay trace tracegen)
if [ -n "$unformatted" ]; then
	printf 'not gofmt-ed:\n%s\n' "$unformatted" >&2
	exit 1
fi
go vet ./...
go tool staticcheck ./...
echo "lint: clean"
