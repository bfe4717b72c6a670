#!/bin/sh
# Generates proto/trace.pb.go from proto/trace.proto. Needs protoc (Debian:
# protobuf-compiler); the Go plugin is the version that go.mod names.
set -eu
cd "$(dirname "$0")/.."
plugin=$(mktemp -d)
trap 'rm -rf "$plugin"' EXIT
printf '#!/bin/sh\nexec go tool protoc-gen-go "$@"\n' > "$plugin/protoc-gen-go"
chmod +x "$plugin/protoc-gen-go"
PATH="$plugin:$PATH" protoc --go_out=. --go_opt=paths=source_relative proto/trace.proto
