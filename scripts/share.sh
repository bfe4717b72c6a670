#!/bin/sh
# Writes the manual pages and the completion for shells of the commands, where systems
# look for them: scripts/share.sh DIRECTORY WITH THE COMMANDS, DIRECTORY (as /usr/local/share)
set -eu
bin=$1
share=$2
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
for command in $(ls "$(dirname "$0")/../cmd"); do
	"$bin/$command" --generate man > "$share/man/man1/$command.1"
	"$bin/$command" --generate bash > "$share/bash-completion/completions/$command"
	"$bin/$command" --generate zsh > "$share/zsh/site-functions/_$command"
	"$bin/$command" --generate fish > "$share/fish/vendor_completions.d/$command.fish"
done
