#!/bin/sh
# Makes the profile that the compiler optimises replay by, from its benchmarks, and
# keeps it in the repository, where cmd/study has a link to it. To be run when the engine or the solver has changed much.
# Usage: scripts/pgo.sh
set -eu
cd "$(dirname "$0")/.."
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test -trimpath -pgo=off -run '^$' -bench . -benchtime 5s -cpuprofile "$profile" -o /dev/null ./cmd/replay
go tool pprof -proto -output cmd/replay/default.pgo "$profile"
