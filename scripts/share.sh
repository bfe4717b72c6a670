#!/bin/sh
# Writes the manual pages and the completion for shells of the commands, where systems
# look for them: scripts/share.sh DIRECTORY WITH THE COMMANDS, DIRECTORY (as /usr/local/share)
# With --remove as the first directory it removes them.
set -eu
bin=$1
share=$2
[ "$bin" = --remove ] || mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
for command in calibrate replay study trace tracegen; do
	while read -r kind file; do
		if [ "$bin" = --remove ]; then
			rm -f "$share/$file"
		else
			"$bin/$command" --generate "$kind" > "$share/$file"
		fi
	done <<- END
		man man/man1/$command.1
		bash bash-completion/completions/$command
		zsh zsh/site-functions/_$command
		fish fish/vendor_completions.d/$command.fish
	END
done
