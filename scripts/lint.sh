#!/bin/sh
# Formatting and staticcheck over all that is tracked, and the arithmetic of those that
# decide a result; the rules of imports are a test (internal/importrules).
set -eu
cd "$(dirname "$0")/.."
unformatted=$(git ls-files -z "*.go" | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
	printf 'not gofmt-ed:\n%s\n' "$unformatted" >&2
	exit 1
fi
go tool staticcheck ./...
"${GO:-go}" run ./scripts/arithmetic ./trace/... ./tracegen/... ./netmodel/... ./replay/... ./kernels/... ./platforms/...
echo "lint: clean"
