# Written by "NAME --generate bash".

_NAME() {
	local IFS=$'\n' list
	list=$(NAME --generate words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
	COMPREPLY=(${list%/})
	if [[ $list == */ ]]; then
		local cur=${COMP_WORDS[COMP_CWORD]}
		COMPREPLY+=($(compgen -f -- "${cur#=}"))
	fi
}

complete -o filenames -F _NAME NAME
