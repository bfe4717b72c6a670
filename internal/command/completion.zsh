#compdef NAME
# Written by "NAME --generate zsh".

_NAME() {
	local -a list
	list=("${(@f)$(NAME --generate words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ $list[-1] == / ]]; then
		list[-1]=()
		_files
	fi
	list=("${(@)list//:/\\:}")
	list=("${(@)list/$'\t'/:}")
	_describe NAME list
}

# Where it is loaded by its first use, that wants an answer; where it is sourced, not.
if [[ $funcstack[1] == _NAME ]]; then
	_NAME "$@"
else
	compdef _NAME NAME
fi
