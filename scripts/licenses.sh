#!/usr/bin/env bash
# Writes THIRD_PARTY_LICENSES.txt, which goes with the programs: the licenses of Go and of the modules
# that are linked into them on some platform of a release: scripts/licenses.sh [FILE]
# The licenses of a module are the files in the directories of its linked packages and above.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
out=${1:-THIRD_PARTY_LICENSES.txt}
go=${GO:-go}
line=$(printf '=%.0s' {1..80})
new=$(mktemp)
trap 'rm -f "$new" "$new".*' EXIT

# texts writes files of a directory under a title.
texts() {
	local title=$1 dir=$2 name
	shift 2
	printf '\n%s\n%s\n%s\n' "$line" "$title" "$line"
	for name in "$@"; do
		printf '\n--- %s\n\n%s\n' "$name" "$(sed 's/\r$//' "$dir/$name" | sed '/[^[:space:]]/,$!d' | sed '1s/^[[:space:]]*//')"
	done
}

{
	printf 'The programs in bin contain, besides what is under LICENSE, Go and its standard\nlibrary, and the modules below. This file is written by "make licenses".\n'
	texts "Go, go.dev" "$("$go" env GOROOT)" LICENSE PATENTS
	for platform in darwin/amd64 darwin/arm64 linux/amd64 linux/arm64; do
		CGO_ENABLED=0 GOFLAGS= GOOS=${platform%/*} GOARCH=${platform#*/} "$go" list -deps \
			-f '{{with .Module}}{{if .Version}}{{.Path}} {{.Version}} {{.Dir}} {{$.Dir}}{{end}}{{end}}' ./cmd/...
	done | sort -u > "$new.packages"
	cut -d' ' -f1-3 "$new.packages" | sort -u | while read -r module version root; do
		awk -v module="$module" '$1 == module { print $4 }' "$new.packages" | while read -r dir; do
			while :; do
				find "$dir" -mindepth 1 -maxdepth 1 ! -name '*.go' | grep -Ei '/(third_party_)?(licen[sc]es?|copying|notice|patents|copyright)([.-][^/]*)?$' |
					xargs -r -I{} find {} -type f || true
				[ "$dir" != "$root" ] || break
				dir=$(dirname "$dir")
			done
		done | sort -u | sed "s|^$root/||" > "$new.names"
		[ -s "$new.names" ] || { echo "licenses: $module has no license" >&2; exit 1; }
		mapfile -t names < "$new.names"
		texts "$module $version" "$root" "${names[@]}"
	done
} > "$new"
cat "$new" > "$out"
