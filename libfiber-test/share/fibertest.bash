# bash completion for fibertest
# SPDX-License-Identifier: MIT

# _fibertest_list WORD...: complete the last part of a list with commas
_fibertest_list()
{
	local before=
	[[ $cur != *,* ]] || before=${cur%,*},
	COMPREPLY=($(compgen -P "$before" -W "$*" -- "${cur##*,}"))
	compopt -o nospace 2>/dev/null
}

_fibertest()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option= word i
	COMPREPLY=()
	[[ $cur != = ]] || cur=
	# bash makes three words of --seed=3.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		=) continue ;;
		--replay | --schedules | --seed | --strategy | --steps | --preemptions | --faults | --fault-limit | --slack | --time | --hang | \
			--jobs | -j | --at-failure | --timeline | --format | -o | --progress)
			option=$word
			[[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
			((i++))
			;;
		--trace)
			[[ ${COMP_WORDS[i + 1]} != = ]] || { option=$word && ((i += 2)); }
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
	--strategy) _fibertest_list random pct pct: pos urw surw bound exhaustive each-fault portfolio ;;
	--faults) _fibertest_list memory short reset descriptors cancel spurious disk spawn all none ;;
	--at-failure) COMPREPLY=($(compgen -W "report abort stop" -- "$cur")) ;;
	--format) COMPREPLY=($(compgen -W "text tap junit json" -- "$cur")) ;;
	--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")) ;;
	--slack | --time | --hang) COMPREPLY=($(compgen -W "none" -- "$cur")) ;;
	-o | --timeline | --trace)
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	-*) ;;
	*)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "--replay --schedules --seed --strategy --steps --preemptions --faults --fault-limit --slack --time
				--hang --jobs --trace --at-failure --timeline --no-minimize --keep-going --format --progress --help --version -j -o" -- "$cur"))
		else
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -c -- "$cur") $(compgen -f -- "$cur"))
		fi
		;;
	esac
}
complete -F _fibertest fibertest
