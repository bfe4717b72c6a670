# Written by "NAME --generate fish".

function __NAME_words
	set -l list (NAME --generate words (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
	if test "$list[-1]" = /
		set -e list[-1]
		__fish_complete_path (commandline -ct)
	end
	printf '%s\n' $list
end

complete -c NAME -f -a '(__NAME_words)'
