#!/usr/bin/env bash
# Writes the archives of a release: for each platform the commands, their manual pages, completion for
# shells, documentation and licenses, and a file of checksums: scripts/dist.sh [DIRECTORY [PLATFORM...]]
# The same commit, Go, tar and gzip give the same bytes wherever they are made: archives hold no
# path, no user and no time except the commit's. Needs GNU tar.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out/dist}
shift "$(($# < 1 ? $# : 1))"
[ $# -gt 0 ] || set -- darwin/amd64 darwin/arm64 linux/amd64 linux/arm64
go=${GO:-go}

changes=$(git status --porcelain)
if [ -n "$changes" ]; then
	printf 'dist: not committed, so that nobody could make the same archives:\n%s\n' "$changes" >&2
	exit 1
fi
if [ -n "$(ls -A "$out" 2> /dev/null)" ] && [ ! -e "$out/SHA256SUMS" ]; then
	echo "dist: $out does not hold a release: name another directory" >&2
	exit 1
fi
rm -rf "$out"
mkdir -p "$out"
commit=$(git rev-parse HEAD)
version=$(scripts/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build builds the commands for SYSTEM/PROCESSOR into a directory. Everything in the environment that
# could change their bytes is set.
build() {
	CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} GOAMD64=v1 GOARM64=v8.0 GOFLAGS= GOEXPERIMENT= GOWORK=off GOFIPS140=off \
		"$go" build -trimpath -buildvcs=false -tags urfave_cli_no_docs \
		-ldflags "-s -w -buildid= -X reprise/internal/command.version=$version -X reprise/internal/command.commit=$commit" -o "$2/" ./cmd/...
}

# Manual pages and completion are the same on all platforms; the commands write them.
build "$("$go" env GOHOSTOS)/$("$go" env GOHOSTARCH)" "$work/own"
scripts/share.sh "$work/own" "$work/share"
umask 022
for platform in "$@"; do
	top=reprise-$version-${platform/\//-}
	mkdir "$work/$top"
	build "$platform" "$work/$top/bin"
	cp -r "$work/share" "$work/$top/share"
	git archive HEAD docs README.md CHANGELOG.md LICENSE THIRD_PARTY_LICENSES.txt | tar -x -C "$work/$top"
	find "$work/$top" -type f -exec chmod 644 {} +
	chmod 755 "$work/$top"/bin/*
	(cd "$work" && find "$top" -type f | LC_ALL=C sort | tar -c --format=ustar --mtime="@$(git -C "$OLDPWD" show -s --format=%ct HEAD)" \
		--owner=0 --group=0 --numeric-owner --no-recursion -T -) | gzip -n > "$out/$top.tar.gz"
	rm -rf "${work:?}/$top"
done
(cd "$out" && sha256sum -- *.tar.gz > SHA256SUMS)
