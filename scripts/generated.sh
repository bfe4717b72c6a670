#!/bin/sh
# Makes anew what is generated, the licenses of what is linked, and fails where that is not what is committed.
set -eu
cd "$(dirname "$0")/.."
scripts/licenses.sh
git diff --exit-code -- THIRD_PARTY_LICENSES.txt
echo "generated files: clean"
