#!/bin/sh
# Makes anew what is generated, and fails where that is not what is committed: the licenses
# of what is linked, the code of the schema. What tools need is installed if it is missing
# (Debian, as root).
set -eu
cd "$(dirname "$0")/.."
if ! command -v protoc >/dev/null; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -qq -y --no-install-recommends protobuf-compiler >/dev/null
fi
# Another protoc writes its version into a comment; what it generates must be the same.
version=$(sed -n 's/^\/\/ \tprotoc  *\(v.*\)/\1/p' proto/trace.pb.go)
scripts/licenses.sh
scripts/proto.sh
sed -i.other "s/^\(\/\/ 	protoc  *\)v.*/\1$version/" proto/trace.pb.go
rm proto/trace.pb.go.other
git diff --exit-code -- THIRD_PARTY_LICENSES.txt proto
echo "generated files: clean"
