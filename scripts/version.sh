#!/bin/sh
# Prints the version of the program: the nearest tag, else day and hash of the commit; with --dirty whether files are
# changed: scripts/version.sh [--dirty]
git describe --tags --abbrev=12 "$@" 2> /dev/null ||
	echo "$(git log -1 --format=%cd --date=format:%Y%m%d 2> /dev/null || echo unknown)$(git describe --always --exclude '*' --abbrev=12 "$@" 2> /dev/null | sed 's/^/-/')"
