# bash completion for fiberize
# SPDX-License-Identifier: MIT

_fiberize()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option= word i
	COMPREPLY=()
	[[ $cur != = ]] || cur=
	# bash makes three words of --carriers=3.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		=) continue ;;
		--carriers | --carriers-max | --stack | --trim | --watchdog)
			option=$word
			[[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
			((i++))
			;;
		-*) option= ;;
		*)
			# The program, and words of its own.
			if declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			else
				compopt -o filenames 2>/dev/null
				COMPREPLY=($(compgen -f -- "$cur"))
			fi
			return
			;;
		esac
		((i < COMP_CWORD)) && option=
	done
	# The word that is being typed belongs to an option if the loop has stepped over it.
	((i > COMP_CWORD)) || option=
	case $option in
	--carriers | --carriers-max) COMPREPLY=($(compgen -W "1 2 4 8" -- "$cur")) ;;
	--stack) COMPREPLY=($(compgen -W "256k 1m 8m" -- "$cur")) ;;
	--trim) COMPREPLY=($(compgen -W "1s 5s 1m off" -- "$cur")) ;;
	--watchdog) COMPREPLY=($(compgen -W "20ms 100ms 1s" -- "$cur")) ;;
	*)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "--carriers --carriers-max --stack --trim --watchdog --help --version -h -V" -- "$cur"))
		else
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -c -- "$cur") $(compgen -f -- "$cur"))
		fi
		;;
	esac
}
complete -F _fiberize fiberize
