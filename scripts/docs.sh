#!/usr/bin/env bash
# Draws the pictures of README.md and docs/report.md anew, from real runs: docs/picture.svg and
# docs/report.png. Takes three minutes. Needs bin (make build) and chromium-headless-shell
# (scripts/install-test-tools.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
go run ./scripts/picture
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bin/tracegen hpl --quiet -N 50000 --NB 128 -P 32 -Q 32 --PFACT crout --RFACT right --NBMIN 2 --BCAST 2rg --DEPTH 1 --SWAP bin -o "$dir/dahu.trace.zst"
bin/replay --quiet --platform dahu --report "$dir/report.html" "$dir/dahu.trace.zst" > /dev/null
chromium-headless-shell --no-sandbox --hide-scrollbars --force-device-scale-factor=0.6 --window-size=1280,2380 \
	--virtual-time-budget=5000 --screenshot="$dir/report.png" "file://$dir/report.html" 2> /dev/null
mv "$dir/report.png" docs/report.png
