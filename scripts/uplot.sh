#!/bin/sh
# Fetches what report/page embeds of uPlot: its published program and style, and its licence.
# Needs npm, once for each new version.
set -eu
cd "$(dirname "$0")/.."
version=1.6.32
fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
npm pack --silent --pack-destination "$fetched" "uplot@$version" >/dev/null
tar -xzf "$fetched/uplot-$version.tgz" -C "$fetched"
cp "$fetched/package/dist/uPlot.iife.min.js" "$fetched/package/dist/uPlot.min.css" report/page/
cp "$fetched/package/LICENSE" report/page/uPlot.LICENSE
