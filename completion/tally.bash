# bash completion for tally.  The words come from `tally --completions`, which prints them from the
# same tables as the options are parsed with, so they are never out of date.

_tally_words()
{
	"${COMP_WORDS[0]}" --completions "$@" 2>/dev/null
}

# The words that an option's argument is made of; none when it may be anything.
_tally_values()
{
	local word values
	while read -r word values; do
		[[ ${word%=} == "$2" ]] && printf '%s\n' "$values"
	done < <(_tally_words "$1")
}

_tally()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command='' option='' values list i

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} != -* && ${COMP_WORDS[i - 1]} != = ]]; then
			command=${COMP_WORDS[i]}
			break
		fi
	done
	if [[ -z $command ]]; then
		COMPREPLY=($(compgen -W "$(_tally_words | cut -d ' ' -f 1)" -- "$current"))
	else
		# readline splits at "=": --state=F is three words.
		if [[ $current == = ]]; then
			option=$previous current=
		elif [[ $previous == = && COMP_CWORD -gt 1 ]]; then
			option=${COMP_WORDS[COMP_CWORD - 2]}
		elif [[ $previous == -* ]]; then
			option=$previous
		fi
		values=
		[[ -n $option ]] && values=$(_tally_values "$command" "$option")
		if [[ -n $values ]]; then
			# A list: what stands before the last comma stays.
			list=
			[[ $current == *,* ]] && list=${current%,*},
			COMPREPLY=($(compgen -P "$list" -W "$values" -- "${current##*,}"))
			compopt -o nospace
		elif [[ $current == -* ]]; then
			COMPREPLY=($(compgen -W "$(_tally_words "$command" | cut -d ' ' -f 1)" \
				-- "$current"))
		fi
	fi
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

complete -o default -F _tally tally
