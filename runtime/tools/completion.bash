# SPDX-License-Identifier: MIT
# Completion of tutti and tuttic for bash. Commands and options are taken from --help, so that they are never out of date.

_tutti_options() { # COMMAND...: the long options its --help lists
	"$@" --help 2>/dev/null | grep -oE -- '(^|[ ,[])--?[a-zA-Z][a-z-]*' | grep -oE -- '--?[a-zA-Z][a-z-]*' | sort -u
}

_tutti() {
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] && [ "${program##*/}" != tuttic ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')" -- "$word")
	elif [[ $word == -* ]]; then
		if [ "${program##*/}" = tuttic ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_tutti_options "$program")" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -W "$(_tutti_options "$program" "$command")" -- "$word")
		fi
	elif [ "$command" = run ] && [ "$COMP_CWORD" -eq 3 ] && [ -r "$before" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" run "$before" --list 2>/dev/null | cut -d' ' -f1)" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -o filenames -F _tutti tutti tuttic
